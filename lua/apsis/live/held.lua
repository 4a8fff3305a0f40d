-- held: what waits for an answer from outside the loop: .apsis/held/c0007.json has what the candidate's line will hold,
-- written before anybody is asked; .apsis/held/c0007.answer is the answer, for the loop to take up. Both go when the
-- line is written. A file counts if its plan is still there and its line is not. Called by world, rooms and commands.
local direction = require "apsis.direction"
local fs = require "apsis.fs"
local hold = require "apsis.core.hold"
local json = require "apsis.json"
local kind = require "apsis.core.kind"
local line = require "apsis.core.line"
local links = require "apsis.project.links"
local state = require "apsis.state"

local held = {}

local FOLDER <const>, LONGEST <const> = ".apsis/held", 4096 -- bytes of an answer that are read

local shape = { keys = { experiment = "whole", now = "number", text = "string", since = "number", started = "number",
  run = "whole", count = "whole", current = "string", line = "table" },
  needs = { "experiment", "now", "text", "since", "started", "run", "count", "current", "line" } }

local function path_of(home, number, ending) return ("%s/%s/%s.%s"):format(home, FOLDER, line.id(number), ending) end

-- What is kept of an experiment, planned at `now`; nil if there is nothing of use.
function held.read(home, number, now)
  local text = fs.read(path_of(home, number, "json"))
  local value = text and json.decode(text, true)
  if type(value) ~= "table" or kind.problem(value, shape, "") or value.experiment ~= number or value.now ~= now
    or line.problem(value.line) or value.line.experiment ~= number or value.line.outcome ~= "kept" then
    return nil
  end
  return value
end

-- What waits: a list of what is kept, in the order of the experiments. Without a history, one that has just got its
-- line may be among them.
function held.waiting(home, history)
  local list = {}
  for _, name in ipairs(fs.list(home .. "/" .. FOLDER) or {}) do
    local number = math.tointeger(tonumber(name:match "^c(%d%d%d%d+)%.json$"))
    local plan = number and not (history and history:line_of(number))
      and json.decode(fs.read(("%s/runs/%04d/proposal.json"):format(home, number)) or "", true)
    list[#list + 1] = type(plan) == "table" and held.read(home, number, plan.now) or nil
  end
  table.sort(list, function(a, b) return a.experiment < b.experiment end)
  return list
end

-- The gain of what waits over the best of a reader: "+18 %", "-2 %, no longer better"; nil if there is none.
function held.gain_text(reader, one)
  local value, bar = one.line.primary_metric, reader.history.bar
  if hold.overtaken(reader.history, one) then return nil end
  local share = direction.percent_text(value, bar)
  return share and share .. (reader.metric:better(value, bar) and "" or ", no longer better")
end

-- Removes what a killed process left: of experiments that have their lines, and temporary files. For who holds the
-- lock.
function held.sweep(home, history)
  local dir = home .. "/" .. FOLDER
  if not links.none(home, FOLDER) then return end
  for _, name in ipairs(fs.list(dir) or {}) do
    local number = math.tointeger(tonumber(name:match "^c(%d%d%d%d+)%.%l+$"))
    if number and history:line_of(number) or name:find "%.tmp%-%d+%-%d+$" then fs.remove(dir .. "/" .. name) end
  end
end

-- What waits of a request that was handed in, by its id, or of an experiment, by its number; nil if nothing does.
function held.of(home, what, history)
  for _, one in ipairs(held.waiting(home, history)) do
    if one.experiment == what or (one.line.proposal or {}).handed == what then return one end
  end
end

-- The text of an answer; nil if there is none.
function held.answer(home, number) return fs.read(path_of(home, number, "answer"), LONGEST) end

-- Answers, for whoever runs the loop to find. true | nil, message, code.
function held.give(home, number, text)
  local plain, message, code = links.none(home, FOLDER)
  if not plain then return nil, message, code end
  local ok
  ok, message = state.replace(path_of(home, number, "answer"), text, { sync = true })
  return ok, message, 3
end

-- ---- methods of the world ----

local methods = {}
held.methods = methods

function methods:save_held(slot)
  self:need(links.none(self.home, FOLDER))
  self:need(fs.mkdir(self.home .. "/" .. FOLDER))
  fs.remove(path_of(self.home, slot.number, "answer")) -- to another question
  local kept = { experiment = slot.number, now = slot.now }
  for name, value in pairs(slot.held) do kept[name] = value end
  self:need(self.runs:save_proposal(slot, slot.held.run, true))
  self:need(state.replace(path_of(self.home, slot.number, "json"), json.encode(kept) .. "\n", { sync = true }))
end

function methods:open_held(slot)
  slot.dir, slot.kept_answers = self.runs:dir(slot.number), {}
end

-- Its line is written.
function methods:forget_held(number)
  fs.remove(path_of(self.home, number, "answer"))
  fs.remove(path_of(self.home, number, "json"))
end

return held
