-- now: the first screen: where the run stands, its curve, its workers, and what there is to doubt.
local columns = require "apsis.cli.columns"
local json = require "apsis.json"
local plot = require "apsis.watch.plot"
local progress = require "apsis.cli.progress"
local rooms = require "apsis.core.rooms"
local show = require "apsis.cli.table"
local terminal = require "apsis.cli.terminal"
local wait = require "apsis.wait"
local words = require "apsis.cli.words"

local now = { name = "now" }

local LABEL <const> = 10
local spare <const> = { gained = true, baseline = true, cost = true } -- rows that are left out for others
local LEAST_CURVE <const>, MOST_WORKERS <const>, FEWER_WORKERS <const> = 5, 8, 4 -- fewer where there is no room

local function given(what) return what ~= nil and what ~= json.null and what or nil end

local function labelled(label, text, colour)
  return { { ("%-" .. LABEL .. "s"):format(label), "dim" }, { show.line(text, 1000), colour } }
end

local function done_text(view)
  local rate, outcomes = view:pace(), {}
  for name, count in pairs(view.facts.outcomes) do outcomes[name] = name ~= "baseline" and count or nil end
  return ("%s: %s%s"):format(words.experiments(view.facts.experiments), words.outcomes(outcomes) or "none",
    rate and view.facts.running and "; " .. progress.rate(rate) or "")
end

local function budget_text(view)
  local _, left = view:pace()
  local text = words.budget(view.facts.budget, view.facts.run)
  return text and text .. (left and view.facts.running and ("; about %s left"):format(progress.clock(left)) or "")
end

local function taken_text(view)
  local facts, parts = view.facts, {}
  parts[1] = words.taken(facts, facts.tokens, "%.0f tokens")
  local cost = words.taken(facts, facts.cost, "%.4g USD")
  if cost ~= parts[1] then parts[#parts + 1] = cost end -- both unknown
  return #parts > 0 and table.concat(parts, ", ") or nil
end

local MORE_S <const> = 2

-- The rows that rooms add to status, looked up now and then.
local function more_rows(view, rows)
  if view.more_at and wait.now() - view.more_at < MORE_S then return view.more end
  local own, all, more = {}, {}, {}
  for index, row in ipairs(rows) do
    all[index] = { row[1], row[2] }
    own[all[index]] = true
  end
  for _, change in rooms.each "status_rows" do change(view.reader, view.facts, all) end
  for _, row in ipairs(all) do
    if not own[row] and row[2] then more[#more + 1] = row end
  end
  view.more_at, view.more = wait.now(), more
  return more
end

-- What is known of the run, each in a row: { label, text, colour }; and from which row on rooms added to it. --plain
-- prints the same.
function now.facts(view)
  local facts, unit = view.facts, view.reader.manifest.metric.unit
  local rows = {
    { "loop", words.loop(facts, show.at(view.dir)), facts.running and "green" or nil },
    { "best", words.best(view.reader, facts), "bold" },
    { "gained", given(facts.gain) and show.gain(facts.gain, facts.best.candidate) },
    { "baseline", words.candidate(facts.baseline, unit) },
    { "done", done_text(view) }, { "budget", budget_text(view) }, { "cost", taken_text(view) },
  }
  local list = {}
  for index = 1, 7 do
    if rows[index][2] then list[#list + 1] = rows[index] end
  end
  local more = more_rows(view, list)
  local own = #list
  return table.move(more, 1, #more, own + 1, list), own + 1
end

-- What one experiment in flight does, for how long, and where if that is elsewhere, in a line.
function now.worker(slot)
  local doing, place = progress.words(show.line(slot.phase), slot.where and show.line(slot.where, 40))
  local since = slot.where and slot.since or slot.started
  local seconds = type(since) == "number" and wait.time() - since or nil
  local parents = type(slot.parents) == "table" and table.concat(slot.parents, " ") or ""
  return ("%6s  %-10s %8s  %s%s%s%s"):format(slot.experiment or "?", doing,
    seconds and progress.clock(math.max(0, seconds)) or "", show.line(slot.operator or "", 20),
    parents ~= "" and " of " .. show.line(parents, 40) or "", place and " " .. place or "",
    slot.about and ": " .. show.line(slot.about, 300) or "")
end

function now.title(view)
  return ("%s: %s, %s"):format(view.facts.project, view.reader.metric.name, view.reader.metric:words())
end

-- What those from an index on do: "3 measuring, 9 queued".
local function in_short(slots, from)
  local counts, order = {}, {}
  for index = from, #slots do
    local slot = slots[index]
    local doing = progress.words(show.line(slot.phase), slot.where and show.line(slot.where, 40))
    if not counts[doing] then order[#order + 1] = doing end
    counts[doing] = (counts[doing] or 0) + 1
  end
  for index, doing in ipairs(order) do order[index] = ("%d %s"):format(counts[doing], doing) end
  return table.concat(order, ", ")
end

local function worker_rows(view, room)
  local slots, rows = view.facts.in_flight, {}
  for index, slot in ipairs(slots) do
    if index == math.min(room, MOST_WORKERS) and #slots > index then
      rows[index] = { { "        and more: " .. in_short(slots, index), "dim" } }
      break
    end
    rows[index] = now.worker(slot)
  end
  return rows
end

local function trust_rows(view)
  local rows = {}
  for index, fact in ipairs(view:trust()) do
    rows[index] = labelled(fact[1], fact[2], fact[3] and "yellow" or nil)
  end
  return rows
end

local function rule(text, width)
  local line = terminal.utf8() and "─" or "-"
  return { { ("%s %s "):format(line:rep(2), text) .. line:rep(math.max(0, width - 4 - columns.of(text))),
    "dim" } }
end

-- As many of the facts as fit: what can be read elsewhere goes first.
local function fitting(facts, most)
  local kept, over = {}, #facts - most
  for _, fact in ipairs(facts) do
    if over > 0 and spare[fact[1]] then over = over - 1 else kept[#kept + 1] = fact end
  end
  return kept
end

function now.rows(_, app, width, height)
  local view = app.view
  local rows = {}
  local function add(list) table.move(list, 1, #list, #rows + 1, rows) end
  local trust = trust_rows(view)
  local most = math.max(3, height - #trust - math.min(#view.facts.in_flight, FEWER_WORKERS) - LEAST_CURVE - 3)
  local all = now.facts(view)
  local facts = fitting(all, most)
  for place, fact in ipairs(facts) do
    if place == most and #facts > most then
      rows[place] = labelled("  ...", ("%d more rows, which `apsis status` shows"):format(#all - most + 1), "dim")
      break
    end
    rows[place] = labelled(fact[1], fact[2], fact[3])
  end
  local workers = worker_rows(view, math.max(1, height - #rows - #trust - LEAST_CURVE - 3))
  local room = height - #rows - #trust - #workers - (#workers > 0 and 1 or 0) - 2
  if room >= LEAST_CURVE then
    rows[#rows + 1] = rule(("%d experiments, best so far%s"):format(view.facts.experiments,
      app.more and " (reading...)" or ""), width)
    local curve = plot.rows(view.fold.curve, width, room, terminal.utf8())
    for at = #curve + 1, room do curve[at] = at == 1 and "          nothing is measured yet" or "" end
    add(curve)
  end
  if #workers > 0 then
    rows[#rows + 1] = rule("in flight", width)
    add(workers)
  end
  rows[#rows + 1] = rule("trust", width)
  add(trust)
  return rows
end

function now.key() return false end

return now
