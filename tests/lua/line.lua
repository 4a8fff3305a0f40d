-- line: a record is the same live and folded, whatever its experiment came to; a new field needs one entry; and the fields of slot and
-- line are documented. `make check` runs it too.
local fake = require "fake"
local fs = require "apsis.fs"
local lines = require "apsis.core.line"
local listed = require "apsis.core.listed"
local slots = require "apsis.core.slot"
local tap = require "tap"

local test, equal = tap.test, tap.equal

-- A strategy, and beside it answers and measurements, that come to every outcome in turn.
local source = [[
local turns = { "kept", "worse", "threshold", "scope", "stage", "rejected", "again", "same", "twin", "unselected", "silent", "crash",
  "error", "measured", "asked", "gate", "lost", "refused" }
return {
  plan = function(run)
    local turn = turns[run.experiment]
    if turn == "measured" then return { measure = { run.best, run.baseline }, repeats = 2 } end
    if turn == "asked" then return { ask = "why?" } end
    if turn == "unplanned" then error "no plan" end
    return turn and { parents = { run.best }, operator = "exploration", title = turn, notes = { turn = turn } } or nil
  end,
  select = function(run, proposal, answers)
    if answers[1].error then return nil, answers[1].error end
    if proposal.notes.turn == "unselected" then return nil, "not this one", { learned = "nothing" } end
    return 1, nil, { notes = { chosen = true }, hypothesis = "because" }
  end,
  accept = function(run, candidate)
    local turn = candidate.proposal.notes.turn
    if turn == "error" then error "no decision" end
    if turn == "again" and #candidate.samples < 3 then return "measure", { ids = { candidate.id, "c0000" }, repeats = 1 } end
    if turn == "rejected" then return false, "on principle", { notes = { odd = { 1, 2 } }, next_action_hint = "try on" } end
    return run.metric:better(candidate, run.best), turn == "kept" and "the first" or nil, { learned = turn }
  end,
  halt = function() end,
}]]

local steps = { kept = 1, worse = -0.5, threshold = 1000, stage = -100, rejected = 2, gate = 3, same = 0, twin = -4.5, unselected = 7,
  crash = 8, error = 9, again = 4, lost = 11, refused = 12 }

local function answer(slot)
  local turn = slot.proposal.notes.turn
  if turn == "silent" then return { error = "no answer", tokens = 2, cost = 0 } end
  if turn == "scope" then return { violation = "secret.txt", edits = {}, tokens = 3, cost = 0.25 } end
  return { edits = { x = steps[turn] }, tokens = 10, cost = 0.5, model = "m", description = "a step" }
end

local function measure(x, _, slot)
  slot.energy = 2 * x
  if slot.number == 12 then return { status = "crash", reason = "division by zero" } end
  if slot.number == 17 then return { status = "unmeasured", reason = "no node" } end
  return { value = x, metrics = { ms = 3 - x }, items = { one = { score = x } } }
end

local function last_word(_, slot)
  return function()
    slot.gate = { status = slot.number == 16 and "exhausted" or "green" }
    if slot.number ~= 16 then return { outcome = "kept" } end
    return { outcome = "reverted_gate_failure", reason = "broken" }
  end
end

-- A person is asked about the last, and refuses it.
local hold = {}
function hold.asks(_, slot) return slot.number == 18 and "waits" or nil end
function hold.next(_, engine)
  local slot = engine.slots[18]
  if not slot or not slot.held or slot.held.answer then return nil end
  return { slot = slot, answer = { outcome = "reverted_not_approved", reason = "no", text = "no",
    noted = { answer = "reject", by = "person", reason = "no", asked = 1, answered = 2 } } }
end

local function run(journal)
  local world = { answers = answer, measure = measure, last_word = last_word }
  local spec = { world = world, metric = { name = "score", direction = "higher", max_pass = 100 }, thresholds = { -50 },
    budget = { iterations = 30 }, hold = hold, journal = journal, metrics = { ms = { direction = "lower" } } }
  local _, ended, engine = fake.run(source, spec)
  equal(ended.message, nil)
  return engine, spec
end

local function folded(spec, engine)
  spec.texts = engine.journal.texts
  return fake.engine(source, spec)
end

-- What a record has, as plain data: every field, and the short names.
local function contents(record)
  local all = {}
  for name in pairs(lines.by_name) do
    local value = record[name]
    all[name] = type(value) == "string" and value:gsub("/[^ ]*/lua_%w+", "STRATEGY") or value
  end
  for _, name in ipairs { "id", "value", "kept", "metrics", "retained" } do all[name] = record[name] end
  return all
end

test("every outcome gives the same record live, after a fold, and in a journal without a file", function()
  local live, spec = run()
  local again, unfiled = folded(spec, live), run(listed.new())
  local missing = {}
  for outcome in pairs(lines.status_of) do missing[outcome] = true end
  equal({ live.history.count, again.history.count, unfiled.history.count }, { 19, 19, 19 })
  for index = 1, live.history.count do
    local record = live.history:at(index)
    missing[record.outcome] = nil
    local mine = contents(record)
    equal(contents(again.history:at(index)), mine, record.outcome .. ", folded")
    equal(contents(unfiled.history:at(index)), mine, record.outcome .. ", without a file")
  end
  equal(missing, {})
end)

test("every field is in some line of these, but those of several workers, models, machines, noise or a real clock", function()
  local live, found = run(), {}
  for index = 1, live.history.count do
    for name in pairs(contents(live.history:at(index))) do found[name] = true end
  end
  local absent = {}
  for name in pairs(lines.by_name) do absent[#absent + 1] = not found[name] and name or nil end
  table.sort(absent)
  equal(absent, { "acceptance", "answers", "fix_attempts", "group", "machines", "phases", "plan" })
end)

test("one entry is a new field: it is written, checked, and there after a fold", function()
  lines.add { "energy", "number", "test", "what it took", unit = "J", of = "slot.energy", rare = true, strict = true }
  local live, spec = run()
  local again = folded(spec, live)
  equal({ live.history:get("c0001").energy, again.history:get("c0001").energy }, { 2, 2 })
  equal(again.history:at(5).energy, nil)
  equal(lines.problem { experiment = 1, outcome = "kept", energy = "much" }, "energy: not a number")
  lines.by_name.energy = nil
end)

-- ---- documents ----

local root = fs.stat "lua/apsis/core" and "" or "../../"

local function read(path)
  return assert(fs.read(root .. path))
end

local function table_of(fields)
  local rows = { "| field | type | written by | what it is |", "|---|---|---|---|" }
  for _, field in ipairs(fields) do
    local marks = {}
    if field.always then marks[#marks + 1] = "always" end
    if field.folded then marks[#marks + 1] = "folded" end
    if field.shown then marks[#marks + 1] = "shown" end
    rows[#rows + 1] = ("| `%s` | %s%s | %s | %s%s |"):format(field.name, field.type, field.unit and ", " .. field.unit or "", field.by,
      field.about, marks[1] and " (" .. table.concat(marks, ", ") .. ")" or "")
  end
  return table.concat(rows, "\n") .. "\n"
end

local document = [[
# The fields of an experiment

Written by `UPDATE=1 tests/run tests/lua/line.lua` from `slot.lua` and `line.lua`; change it there.

## The line in the journal

*always*: every line has the field, null if there is nothing to report. *folded*: a fold reads it of every line; the others are read when
somebody asks for them. *shown*: documented for strategies.

%s
## The slot in flight

*shown*: a candidate in accept has it, too.

%s]]

test("lua/apsis/core/FIELDS.md has the fields of slot.lua and line.lua", function()
  local wanted, path = document:format(table_of(lines.fields), table_of(slots.fields)), "lua/apsis/core/FIELDS.md"
  if os.getenv "UPDATE" then assert(fs.write(root .. path, wanted)) end
  if read(path) ~= wanted then error("FIELDS.md is not what UPDATE=1 writes", 0) end
end)

test("what is shown to strategies is documented in lua/meta/run.lua", function()
  local class, documented = read "lua/meta/run.lua":match "%-%-%-@class apsis%.Candidate\n(.-)\n\n", {}
  for name in class:gmatch "%-%-%-@field ([%w_]+)" do documented[name] = true end
  for _, name in ipairs { "id", "value", "retained", "metrics", "kept", "read", "sources", "diff", "artifacts" } do
    documented[name] = nil -- short names and methods of a record
  end
  for _, list in ipairs { lines.by_name, slots.by_name } do
    for name, field in pairs(list) do
      if field.shown then
        equal(documented[name], true, name .. " is shown and not documented")
        documented[name] = nil
      end
    end
  end
  equal(documented, {})
end)

test("whoever reads or writes a slot knows the field", function()
  local used, methods = {}, slots.methods({})
  local function look(dir)
    for _, name in ipairs(assert(fs.list(root .. dir))) do
      local path = dir .. "/" .. name
      if fs.stat(root .. path).type == "directory" then look(path)
      elseif name:find "%.lua$" and path ~= "lua/apsis/core/slot.lua" then
        for field in read(path):gmatch "slot%.([%a_]+)" do used[field] = path end
      end
    end
  end
  for _, room in ipairs { "core", "live", "lab" } do
    if fs.stat(root .. "lua/apsis/" .. room) then look("lua/apsis/" .. room) end -- the lab can be removed
  end
  for field, path in pairs(used) do
    if not slots.by_name[field] and not methods[field] then error(("%s: slot.%s stands in no list"):format(path, field), 0) end
  end
end)

tap.done()
