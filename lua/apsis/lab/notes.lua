-- lab_notes: what is worth knowing of the runs beside their numbers, a sentence each: who ended early, what failed and
-- why, which operators the world does not have; and what the columns mean. Orders nothing.
local layout = require "apsis.lab.layout"
local runtimes = require "apsis.lab.runtimes"
local show = require "apsis.cli.table"
local standings = require "apsis.lab.standings"
local steps = require "apsis.lab.steps"
local suggest = require "apsis.suggest"

local notes = {}

local LEVEL = 0.05
local REASON = 200 -- characters shown of a reason

local operators = { "exploitation", "exploration", "crossover", "migration", "restart" }

function notes.percent(share)
  if not share then return "-" end
  local text = ("%.0f%%"):format(100 * share)
  if share > 0 and text == "0%" then return "<1%" end -- none is none, and all is all
  return share < 1 and text == "100%" and ">99%" or text
end

local function early_ends(entry, evaluations)
  local ended = standings.early_ends(entry, evaluations)
  return ended and ("%d of %d ended early, %s unspent (%s)%s"):format(ended.count, ended.runs,
    notes.percent(ended.unspent), show.line(ended.reason, REASON),
    runtimes.is_answered(entry) and "" or ": not compared with others")
end

local function copies(entry)
  return steps.are_copies(entry.records) and "every seed gave the same run, so they count as one" or nil
end

local function raised(entry)
  local count, runs = 0, 0
  for _, record in ipairs(entry.records) do
    local failed = record.outcomes and record.outcomes.skipped_strategy_error or 0
    count, runs = count + failed, runs + (failed > 0 and 1 or 0)
  end
  if count > 0 then return ("raised in %d experiments of %d runs (skipped_strategy_error)"):format(count, runs) end
end

-- The failures of a kind in all runs, and the first reason.
local function failures(entry, kind)
  local count, reason = 0, nil
  for _, record in ipairs(entry.records) do
    local found = record.failures and record.failures[kind]
    if found then count, reason = count + (found.count or 0), reason or found.reason end
  end
  return count, reason and (" (%s)"):format(show.line(reason, REASON)) or ""
end

local function experiments_of(entry)
  local sum = 0
  for _, record in ipairs(entry.records) do sum = sum + record.experiments end
  return sum
end

local function unanswered(entry, least)
  local total, count, reason = experiments_of(entry), failures(entry, "answer")
  if count > 0 and count >= least * total then
    return ("%d of %d proposals without an answer%s"):format(count, total, reason)
  end
end

local function crashed(entry, least)
  local total, count, reason = experiments_of(entry) - failures(entry, "answer"), failures(entry, "crash")
  if count > 0 and count >= least * total then return ("%d of %d crashed%s"):format(count, total, reason) end
end

local skips = { { "not_selected", "no answer was selected" }, { "duplicate", "duplicates" },
  { "no_change", "no change" }, { "executor", "failed" } }

-- Experiments that were not evaluated though there was an answer, and why.
local function skipped(entry)
  local total, list = experiments_of(entry), {}
  for _, kind in ipairs(skips) do
    local count, reason = failures(entry, kind[1])
    if count > 0 then list[#list + 1] = ("%d of %d skipped: %s%s"):format(count, total, kind[2], reason) end
  end
  return #list > 0 and table.concat(list, "; ") or nil
end

-- Operators that the world does not have.
local function unknown(entry)
  local sums, list = {}, {}
  for _, record in ipairs(entry.records) do
    for name, count in pairs(record.unknown_operators or {}) do sums[name] = (sums[name] or 0) + count end
  end
  for _, name in ipairs(show.sorted(sums)) do
    local what = name:find " " and "" or "no such operator here, " -- "crossover with one parent" is one that is here
    local hint = suggest.sentence(name, operators)
    if hint:find(('"%s"'):format(name), 1, true) then hint = "" end -- another world's
    list[#list + 1] = ("%s: %staken as exploitation in %d proposals%s"):format(show.line(name), what, sums[name], hint)
  end
  return #list > 0 and table.concat(list, "; ") or nil
end

-- of(entry, evaluations, least) -> the notes on an entry, texts; without failures of less than a share of its
-- experiments.
function notes.of(entry, evaluations, least)
  local list = {}
  for _, text in ipairs { copies(entry) or false, early_ends(entry, evaluations) or false, raised(entry) or false,
    skipped(entry) or false, unanswered(entry, least or 0) or false, crashed(entry, least or 0) or false,
    unknown(entry) or false } do
    if text then list[#list + 1] = text end
  end
  return list
end

-- What a race dropped and saved, in words; nil if there was none.
function notes.race(found)
  if not found.race then return nil end
  local list = {}
  for index, one in ipairs(found.race.dropped) do
    list[index] = ("%s after %d seeds"):format(one.strategy, one.seeds)
  end
  return ("Race: %s dropped%s; %s of the trials saved."):format(#list == 0 and "none" or ("%d"):format(#list),
    #list > 0 and " (" .. table.concat(list, ", ") .. ")" or "", notes.percent(found.race.saved))
end

-- The entries of a matrix, in one for each strategy, over all worlds.
local function by_strategy(matrix)
  local list, found = {}, {}
  for _, entry in ipairs(matrix) do
    local merged = found[entry.strategy]
    if not merged then
      merged = { strategy = entry.strategy, records = {} }
      found[entry.strategy], list[#list + 1] = merged, merged
    end
    table.move(entry.records, 1, #entry.records, #merged.records + 1, merged.records)
  end
  return list
end

-- Prints the notes on a world's entries.
function notes.print(found, world, plan)
  for _, entry in ipairs(found.matrix) do
    if entry.world == world.label then
      for _, text in ipairs(notes.of(entry, plan.evaluations)) do layout.say(entry.strategy .. ": " .. text, "    ") end
    end
  end
end

-- Prints the notes that matter when all worlds share one table: who ended early, and who failed most of the time.
function notes.overview(found, plan)
  for _, entry in ipairs(by_strategy(found.matrix)) do
    for _, text in ipairs { early_ends(entry, plan.evaluations) or false, raised(entry) or false,
      skipped(entry) or false, unknown(entry) or false } do
      if text then layout.say(entry.strategy .. ": " .. text, "    ") end
    end
  end
  for _, entry in ipairs(found.matrix) do
    for _, text in ipairs { unanswered(entry, 0.5) or false, crashed(entry, 0.5) or false } do
      if text then layout.say(("%s on %s: %s"):format(entry.strategy, entry.world, text), "    ") end
    end
  end
end

-- How many seeds any p takes to become small enough, if there are fewer; or nil.
local function lacking(found)
  if #found.comparisons == 0 then return nil end
  local needed = math.ceil(1 + math.log(#found.comparisons / LEVEL, 2)) -- all differences alike: p is 2 / 2^seeds
  return found.seeds < needed and needed or nil
end

-- A warning if there are too few seeds, or nil.
function notes.too_few(found)
  local needed = lacking(found)
  return needed and ("With fewer than %d seeds nothing can be shown for this number of tests."):format(needed)
end

local function any(rows, name)
  for _, row in ipairs(rows) do
    if row[name] ~= nil then return true end
  end
end

local function any_early(found, evaluations)
  for _, entry in ipairs(found.matrix) do
    if standings.early_ends(entry, evaluations) then return true end
  end
end

-- What the way leads to on a world without a target.
local function whole_way(rows)
  for _, row in ipairs(rows) do
    if row.success_rate == nil then
      return " (without one: to the best value that any strategy found with that seed)"
    end
  end
  return ""
end

-- What the table over all worlds means.
function notes.overall(plan, found)
  local needed = lacking(found)
  return ("Over all worlds: the %s of the first over those of the other, to 50%%, 90%% and all of the way from the "
    .. "baseline to the target; the geometric mean of all worlds, with an interval that speaks of other worlds like "
    .. "these. faster, slower: on how many worlds the first is shown to be%s."):format(runtimes.axes[plan.axis].words,
    needed and ("; with fewer than %d seeds that is none, as the tests of all worlds are corrected together"):format(
      needed) or "")
end

-- What a run that never came to a target counts as, in words.
local function counts_as(plan)
  local words = runtimes.axes[plan.axis].words
  if plan.axis == "evaluations" then return ("%d"):format(plan.evaluations) end
  return plan.budget and ("%.10g %s"):format(plan.budget, words) or "what the longest run on the world took"
end

-- What the columns mean, once, at the end. missing: the heads that the terminal had no room for.
function notes.legend(plan, found, missing)
  local text, words = {}, runtimes.axes[plan.axis].words
  local function add(sentence, head)
    if not (head and missing[head]) then text[#text + 1] = sentence end
  end
  add "best: the true value of a run's final best, the median over the seeds."
  if any(found.rows, "success_rate") then
    add("ERT: " .. words .. " spent by all runs for each that was solved, with an interval.", "ERT [95%]")
  end
  add(("AOCC: the mean share of 51 targets reached, over all %s; 1 is best."):format(words), "AOCC")
  add("kept: of the experiments.", "kept")
  if any(found.rows, "false_keeps") then
    add "false: new bests that were truly no better than the one before, the mean of the runs."
  end
  if any_early(found, plan.evaluations) then add "ended early: by the strategy's own halt or a limit." end
  if #found.comparisons > 0 then
    add("gain of best: how much better the first is, the mean of the differences seed by seed, not counting what is "
      .. "beyond the target. time 90%: " .. words .. " to come 90% of the way from the baseline to the target"
      .. whole_way(found.rows) .. "; x0.8: the first needs 0.8 times those of the other; a run that never gets "
      .. ("there counts as %s. The intervals are for that pair only."):format(counts_as(plan)))
    add("p: signed-rank test, corrected for the pairs compared (Holm): it may be large beside an interval without 0.",
      "p")
    add "better: interval and test both show it. not shown: there may be a difference or none."
    if #found.overall > 0 then add(notes.overall(plan, found)) end
    if plan.against then
      add(("Each is compared with the first strategy, %s; --all-pairs compares all."):format(plan.against))
    end
  end
  text[#text + 1] = notes.too_few(found)
  layout.say(table.concat(text, " "), "")
end

return notes
