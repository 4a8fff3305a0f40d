-- playbook: the whole loop with the shipped playbook over a world inside the process: programs of 2 kB as text, a proposer that
-- answers at once with a changed line, no git and no model. `apsis exec tests/bench/playbook.lua N [SELECTION [prompts]]` prints
-- experiments a second over the first CYCLES cycles of garbage collection and over the last, and of all; how many cycles there were; and
-- how much slower the slowest hundred is than the median one. With `prompts`, every prompt is written as for a model. A fourth argument
-- has it print more on stderr.
local contract = require "apsis.core.strategy"
local journal = require "apsis.core.journal"
local loop = require "apsis.core.loop"
local listed = require "apsis.core.listed"
local random = require "apsis.random"
local stats = require "apsis.stats"

local total, selection, prompts = tonumber(arg[1] or 10000), arg[2] or "playbook", arg[3] == "prompts"

-- A program is LINES lines of a fixed length, each a parameter; the metric is the sum of their squares, kept up to date by the
-- lines that change, so that measuring costs next to nothing.
local CYCLES <const> = 3
local LINES, LINE = 32, "local parameter_%02d = %+.9f -- what it stands for, in so many words\n"
local BYTES, FIRST, LAST = #LINE:format(1, 1), 22, 33

local function value_at(text, line)
  return tonumber(text:sub((line - 1) * BYTES + FIRST, (line - 1) * BYTES + LAST))
end

-- The program with one parameter given anew, and its sum.
local function with_value(text, sum, line, value)
  local changed = text:sub(1, (line - 1) * BYTES) .. LINE:format(line, value) .. text:sub(line * BYTES + 1)
  return changed, sum - value_at(text, line) ^ 2 + value ^ 2
end

local World = { wants_prompt = prompts }
World.__index = World

function World:now() return self.clock end
function World.context() end
function World.directions() return {} end
function World.paused() return false end
function World.phase() end
function World.save_proposal() end
function World.stages() return { 1 } end
function World.log() end
function World.publish() end
function World.diff() return "" end
function World.artifacts() return {} end

function World.progress(self, engine)
  if engine.history.count % 100 == 0 then self.marks[#self.marks + 1] = os.clock() end
end

function World:read(record) return self.texts[record.id] end
function World:sources(record) return { { path = "program.lua", text = self.texts[record.id] } } end

-- A parent's program with one line changed, and where there is another parent with one of its lines.
function World:propose(slot, prompt)
  self.prompt_bytes = self.prompt_bytes + (prompt and #prompt[2].content or 0)
  local parents, rng = slot.proposal.parents, self.rng
  local text, sum = self.texts[parents[1]], self.sums[parents[1]]
  if parents[2] then
    local line = rng:integer(1, LINES)
    text, sum = with_value(text, sum, line, value_at(self.texts[parents[2]], line))
  end
  local line = rng:integer(1, LINES)
  text, slot.sum = with_value(text, sum, line, value_at(text, line) + 0.1 * rng:normal())
  return { { edits = { ["program.lua"] = text }, text = "ASI learned=smaller steps", tokens = 700, cost = 0 } }
end

function World:commit(slot, answer)
  local id = journal.id(slot.number)
  self.texts[id], self.sums[id] = answer.edits["program.lua"], slot.sum
  return { commit = id, tree = id, changed_lines = 1 }
end

function World:commit_baseline()
  local lines = {}
  for line = 1, LINES do lines[line] = LINE:format(line, 1) end
  self.texts.c0000, self.sums.c0000 = table.concat(lines), LINES
  return { commit = "c0000", tree = "c0000", changed_lines = 0 }
end

function World:verify(_, record)
  self.clock = self.clock + 1
  local sum = self.sums[record.id]
  return { status = "ok", stage = 1, value = sum, samples = { sum }, metrics = { loss = sum }, near_misses = {}, near_miss_count = 0 }
end

local strategy = assert(contract.load { use = "openevolve", options = { selection = selection } })
local world = setmetatable({ texts = {}, sums = {}, rng = random.stream(1, "proposer"), clock = 0, marks = {}, prompt_bytes = 0 }, World)
local engine = loop.new { strategy = strategy, world = world,
  journal = listed.new(),
  metric = { name = "loss", direction = "lower" },
  tie_breaker = "changed_loc", seed = 1, name = "playbook", workers = 1, budget = { iterations = total },
  project = { name = "playbook", provider = "chat", reads_answers = true, files = { writable = { "program.lua" } } } }
world.history = engine.history
assert(engine:fold())

local cycles = {} -- { count, clock } at the end of each cycle from the hundredth experiment on

local function watch()
  setmetatable({}, { __gc = function()
    if engine.history.count > 100 then cycles[#cycles + 1] = { count = engine.history.count, clock = os.clock() } end
    watch()
  end })
end

collectgarbage()
watch()
local began = os.clock()
assert(engine:baseline(0))
local ended = assert(engine:run { run_number = 1 })
local took, marks = os.clock() - began, world.marks

-- Experiments a second from one end of a cycle to another.
local function rate(from, to)
  return (cycles[to].count - cycles[from].count) / (cycles[to].clock - cycles[from].clock)
end

local hundreds = {}
for index = 2, #marks do hundreds[index - 1] = marks[index] - marks[index - 1] end
assert(engine.history.count == total + 1, ended.reason)
if arg[4] then
  io.stderr:write(("best %.6f; %d bytes a prompt; %.0f MB\n"):format(engine.history.best.value, world.prompt_bytes // total,
    collectgarbage "count" / 1024))
end
assert(#cycles > 2 * CYCLES, "too few cycles of garbage collection")
print(("%.0f %.0f %.0f %d %.1f"):format(rate(1, 1 + CYCLES), rate(#cycles - CYCLES, #cycles), total / took, #cycles,
  stats.max(hundreds) / stats.median(hundreds)))
