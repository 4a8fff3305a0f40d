-- Compares the figures of all faces of a project, as they were printed: status and status --json, log and log --json,
-- watch --plain, the data in the report's page, and the live line as a terminal showed it last.
-- apsis exec faces.lua FOLDER [live kept]; prints what differs. The journal's lines are the reference.
local json = require "apsis.json"

local folder, asked = arg[1], table.concat(arg, " ", 2)

local function read(name)
  local file <close> = assert(io.open(folder .. "/" .. name, "rb"))
  return file:read "a"
end

local function differ(face, what, got, want)
  if got == json.null then got = nil end
  if want == json.null then want = nil end
  if type(got) == "number" and type(want) == "number" and math.abs(got - want) <= 1e-9 * math.abs(want) then return end
  if got ~= want then print(("%s: %s: %s, not %s"):format(face, what, tostring(got), tostring(want))) end
end

-- ---- the journal ----

local lines, outcomes, by_id, experiments, tokens, cost, again = {}, {}, {}, 0, 0, 0, {}
for text in read "log.jsonl":gmatch "[^\n]+" do
  local line = json.decode(text, true)
  lines[#lines + 1] = line
  outcomes[line.outcome] = (outcomes[line.outcome] or 0) + 1
  if line.outcome ~= "baseline" then experiments = experiments + 1 end
  if line.candidate then by_id[line.candidate] = line end
  tokens, cost = tokens + (line.tokens or 0), cost + (line.cost or 0)
  for _, entry in ipairs(line.trace or {}) do again[entry.id] = true end
end

-- "kept 3, skipped_no_change 1" as a table.
local function counts(text)
  local found = {}
  for name, count in text:gmatch "([%a_]+) (%d+)" do found[name] = math.tointeger(tonumber(count)) end
  return found
end

local function same_outcomes(face, found)
  for name, count in pairs(outcomes) do differ(face, name, found[name], count) end
  for name in pairs(found) do differ(face, name .. " occurs", outcomes[name] ~= nil, true) end
end

-- ---- status --json: the figures that the others must have ----

local facts = json.decode(read "status.json", true)
differ("status --json", "experiments", facts.experiments, experiments)
same_outcomes("status --json", facts.outcomes)
if facts.tokens then differ("status --json", "tokens", facts.tokens, tokens) end
if facts.cost then differ("status --json", "cost", facts.cost, cost) end
local best, baseline = facts.best, facts.baseline
if best and not again[best.candidate] then
  differ("status --json", "the best's value", best.value, by_id[best.candidate].primary_metric)
end
differ("the journal", "what was printed has a best", best ~= nil, lines[#lines].best ~= nil)

local function candidate(face, name, text, want)
  local id, value = (text or ""):match "^(c%d+) = (%S+)"
  differ(face, name, id, want and want.candidate)
  differ(face, name .. "'s value", tonumber((value or ""):match "^[^,]*"), want and want.value)
end

-- ---- status, watch --plain ----

local function row(text, label) return ("\n" .. text):match("\n" .. label .. ": *([^\n]*)") end

local status, watch = read "status.txt", read "watch.txt"
for face, text in pairs { status = status, watch = watch } do
  candidate(face, "best", row(text, "best"), best)
  candidate(face, "baseline", row(text, "baseline"), baseline)
  differ(face, "budget", row(text, "budget"), row(status, "budget"))
  differ(face, "best, with its gain", row(text, "best"), row(status, "best"))
  differ(face, "gained", row(text, "gained"), row(status, "gained"))
end
differ("status", "experiments", tonumber(row(status, "experiments")), experiments)
same_outcomes("status", counts(row(status, "outcomes")))
local done, ended = row(watch, "done"):match "^(%d+) experiments?: ([^;]*)"
differ("watch", "experiments", tonumber(done), experiments)
local shown_there = counts(ended)
differ("watch", "baselines among the experiments", shown_there.baseline, nil)
shown_there.baseline = outcomes.baseline
same_outcomes("watch", shown_there)
if facts.tokens and tokens > 0 then
  differ("status", "tokens", tonumber(row(status, "tokens")), tokens)
  differ("watch", "tokens", tonumber(row(watch, "cost"):match "^(%d+) tokens"), tokens)
  differ("watch", "cost", tonumber(row(watch, "cost"):match "([%d.]+) USD" or 0), tonumber(("%.4g"):format(cost)))
end

-- ---- log ----

local rows, shown = {}, 0
for number, id, outcome, value in ("\n" .. read "log.txt"):gmatch "\n *(%d+)  +(%S+)  +(%S+)  +(%S+)" do
  shown = shown + 1
  rows[id] = { number = tonumber(number), outcome = outcome, value = tonumber(value) }
end
differ("log", "rows", shown, #lines)
for id, line in pairs(by_id) do
  differ("log", id, rows[id] and rows[id].outcome, line.outcome)
  differ("log", id .. "'s value", rows[id] and rows[id].value, line.primary_metric and
    tonumber(("%.10g"):format(line.primary_metric)))
end

-- ---- the report ----

local page = json.decode(read "page.html":match '<script[^>]*type="application/json"[^>]*>(.-)</script>', true)
differ("report", "best", page.best and page.best.id, best and best.value and best.candidate)
differ("report", "best's value", page.best and page.best.value, best and best.value)
differ("report", "baseline", page.baseline and page.baseline.id, baseline and baseline.value and baseline.candidate)
differ("report", "experiments", page.experiments, experiments)
differ("report", "kept", page.kept, outcomes.kept or 0)
differ("report", "tokens", page.totals.tokens, tokens)
differ("report", "cost", page.totals.usd, cost)
differ("report", "gain", page.gain and page.gain.gain, facts.gain and facts.gain.gain)
local found = {}
for _, one in ipairs(page.outcomes) do found[one.name] = one.count end
same_outcomes("report", found)
for _, fact in ipairs(page.trust) do
  differ("report", "trust, " .. fact.label, fact.text, row(watch, ("trust, %s"):format(fact.label))
    or row(watch, ("trust, %s, doubtful"):format(fact.label)))
end
local share = 0
for _, step in ipairs(page.path and page.path.steps or {}) do share = share + step.share end
if page.path and page.path.left_out == 0 then differ("report", "the shares' sum", share, 1) end

-- ---- runs side by side ----

local beside = json.decode(read "beside.json", true)
local run = beside.runs[#beside.runs]
differ("report --beside", "best", run.id, best and best.candidate)
differ("report --beside", "best's value", run.best, best and best.value)
differ("report --beside", "baseline", run.baseline, baseline and baseline.value)
differ("report --beside", "experiments", run.experiments, experiments)
differ("report --beside", "kept", run.kept, outcomes.kept or 0)
differ("report --beside", "median", beside.results[1].median, run.best)
local curve = beside.curves[1].median
differ("report --beside", "the curve's end", curve[#curve], lines[#lines].best)

-- The time by phase, of lines that have it: those that ran here.
local phases, timed = {}, 0
for _, line in ipairs(lines) do
  if line.phases then timed = timed + 1 end
  for phase, seconds in pairs(line.phases or {}) do phases[phase] = (phases[phase] or 0) + seconds end
end
for phase, seconds in pairs(phases) do differ("report", phase, (page.health.phases or {})[phase], seconds) end
if asked:find "live" then
  differ("the journal", "lines with phases", timed, #lines)
  differ("the journal", "what was measured took time", phases.VERIFY ~= nil, true)
end

-- The search's health, counted again.
local crashed, kept, of, duplicates = 0, {}, {}, 0
local failures = { skipped_verification_crash = true, skipped_provider_failure = true, skipped_executor_failure = true,
  skipped_strategy_error = true, reverted_gate_failure = true, reverted_stage_failure = true }
for _, line in ipairs(lines) do
  if failures[line.outcome] then crashed = crashed + 1 end
  if line.candidate and line.outcome ~= "baseline" then
    if line.outcome == "skipped_duplicate" then duplicates = duplicates + 1 end
    if line.operator then
      of[line.operator] = (of[line.operator] or 0) + 1
      kept[line.operator] = (kept[line.operator] or 0) + (line.outcome == "kept" and 1 or 0)
    end
  end
end
differ("report", "failures", page.health.failed, crashed)
differ("report", "duplicates", page.health.duplicates, duplicates)
for _, one in ipairs(page.health.shares[1].names) do
  differ("report", "proposed by " .. one.name, one.count, of[one.name])
  differ("report", "kept of " .. one.name, one.kept, kept[one.name])
  local all, good = 0, 0
  for _, part in ipairs(one.parts) do all, good = all + part[1], good + part[2] end
  differ("report", "parts of " .. one.name, all * 1000 + good, one.count * 1000 + one.kept)
end

-- ---- the live line ----

if asked:find "live" then
  local last
  for drawn in read "live.txt":gmatch "[^\r\n\27]+" do
    if drawn:find "best %S+ .*%(c%d+" then last = drawn end
  end
  local value, id, gain = (last or ""):match "best (%S+).- %((c%d+),? ?([^)]*)%)"
  differ("live line", "best", id, best.candidate)
  differ("live line", "best's value", value, (math.abs(best.value) >= 1e5 and "%.0f" or "%.6g"):format(best.value))
  if asked:find "kept" then differ("live line", "kept", tonumber((last or ""):match "(%d+) kept"), outcomes.kept or 0) end
  local percent = (row(status, "best") or ""):match "[%+%-][%d.]+ %%"
  if percent then differ("live line", "gain", gain, percent) end
end
