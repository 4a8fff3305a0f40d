-- answers: what the provider has answered to an experiment in flight: runs/NNNN/answers.jsonl, on the disk before
-- anything is done with it. After a crash the experiment takes its answers from there, so that nobody is asked, and
-- paid, twice. An answer is for what was asked: the proposal, the version that it starts from, the question; for
-- anything else it does not count. It is removed when the experiment has its line. Called by world and the providers.
local clock = require "apsis.core.clock"
local ended = require "apsis.live.ended"
local fs = require "apsis.fs"
local json = require "apsis.json"
local kind = require "apsis.core.kind"
local state = require "apsis.state"
local tasks = require "apsis.core.tasks"

local answers = {}

local FILE <const> = "/answers.jsonl"
local BYTES <const> = "\0bytes" -- the key of a text that is not UTF-8, which JSON would change

-- A value as JSON keeps it: other bytes as hexadecimal digits. Raises if a key cannot be kept.
local function plain(value)
  if type(value) == "string" and not utf8.len(value) then
    return { [BYTES] = value:gsub(".", function(byte) return ("%02x"):format(byte:byte()) end) }
  end
  if type(value) ~= "table" then return value end
  local copy = setmetatable({}, getmetatable(value))
  for key, one in next, value do
    if type(key) == "string" and not utf8.len(key) then error "a key is not UTF-8" end
    copy[key] = plain(one)
  end
  return copy
end

local function restored(value)
  if type(value) ~= "table" then return value end
  local digits = rawget(value, BYTES)
  if digits then return (digits:gsub("%x%x", function(pair) return string.char(tonumber(pair, 16)) end)) end
  for key, one in next, value do value[key] = restored(one) end
  return value
end

-- What a proposal in flight starts from: its parent's commit, and when that was journalled, which a parent of the same
-- name in another journal has not. nil if it is no candidate.
function answers.origin(world, proposal)
  local id = type(proposal.parents) == "table" and proposal.parents[1]
  local parent = type(id) == "string" and world:candidate(id)
  return parent and parent.commit and parent.commit .. " " .. tostring(parent.timestamp) or nil
end

-- What is asked, as text. In a proposal the keys that the budget sets do not count.
local function key_of(world, slot, what)
  local proposal = {}
  for key, value in pairs(slot.proposal) do proposal[key] = value end
  proposal.k, proposal.trajectory, proposal.experiment = nil, nil, nil
  local repair = slot.repair and { slot.repair.attempt, slot.repair.candidate.commit } or nil
  return json.encode({ experiment = slot.number, planned = slot.now, from = answers.origin(world, slot.proposal),
    proposal = json.decode(json.encode(plain(proposal))), repair = repair, what = what }, { sorted = true })
end

local shape = { keys = { of = "string", index = "whole", answer = "table", tokens = "number", cost = "number",
  asked = "whole", at = "number" }, needs = { "of", "index", "answer", "tokens", "cost", "at" } }

-- The answers in a folder, oldest first: { of, index, answer, tokens, cost (of the experiment with it), asked, at }.
function answers.read(dir)
  local list = {}
  for text in (fs.read(dir .. FILE) or ""):gmatch "([^\n]*)\n" do
    local entry = json.decode(text, true)
    if not kind.problem(entry, shape, "") then
      entry.answer = restored(entry.answer)
      list[#list + 1] = entry
    end
  end
  return list
end

-- An experiment begins, perhaps again. kept: what an earlier process had been answered.
function answers.open(slot)
  slot.kept_answers = slot.kept_answers or answers.read(slot.dir)
end

-- Where the answer of an index (nil: any) to a key stands; nil if there is none.
local function position(slot, key, index)
  for at, entry in ipairs(slot.kept_answers) do
    if entry.of == key and (index == nil or entry.index == index) then return at end
  end
end

local function take(slot, key, index)
  local entry = table.remove(slot.kept_answers, position(slot, key, index))
  slot.asked, slot.answered_at = entry.asked, math.max(slot.answered_at or 0, entry.at)
  entry.answer.paid = true
  return entry.answer
end

-- Whether there is an answer to the proposal of a plan that is done again, be it one that is still to be read.
function answers.has(world, plan)
  local key = key_of(world, plan)
  for _, entry in ipairs(ended.all(world.runs:dir(plan.number), world.here.pool.root)) do
    if entry.of == key and entry.code == 0 then return true end
  end
  return position(plan, key) ~= nil
end

-- What the experiment of a plan has taken by the answers that it has: tokens, US dollars.
function answers.taken(plan)
  local kept = plan.kept_answers or {}
  local last = kept[#kept]
  return last and last.tokens or 0, last and last.cost or 0
end

-- What the experiment has taken with an answer that take in core/experiment.lua has not counted yet.
local function add_up(slot, answer)
  local sum = slot.uncounted
  if not sum or sum.answered ~= slot.answered then sum = { answered = slot.answered, tokens = 0, cost = 0 } end
  sum.tokens, sum.cost = sum.tokens + (answer.tokens or 0), sum.cost + (answer.cost or 0)
  slot.uncounted = sum
  return (slot.tokens or 0) + sum.tokens, (slot.cost or 0) + sum.cost
end

-- Before anybody is asked: what the answer will belong to is on the disk, and so is the empty file, so that the answer
-- has to wait for one write only.
local function make_ready(world, slot)
  world:need(world.runs:save_proposal(slot, world.run_number, true))
  world:need(state.journal(world.runs:dir(slot.number) .. FILE)):close()
end

local function keep(world, slot, key, index, answer)
  local tokens, cost = add_up(slot, answer)
  local ok, text = pcall(function()
    return json.encode { of = key, index = index, answer = plain(answer), tokens = tokens, cost = cost,
      asked = slot.asked, at = slot.answered_at }
  end)
  if not ok then return end -- no text that JSON can hold: it would be asked for again
  local file <close> = world:need(state.journal(world.runs:dir(slot.number) .. FILE))
  world:need(file:append(text))
end

-- The answer of a number to what a slot asks. body(key) asks if there is none yet: the answer, and a function to call
-- once it is kept, or nil. what: the question, of a slot that asks more than for its proposal. An answer that is an
-- error is not kept: a redo asks again.
function answers.once(world, slot, index, body, what)
  local journalled = slot.kept_answers -- nil: no experiment of a journal
  local key = journalled and key_of(world, slot, what) or ""
  if journalled and position(slot, key, index) then return take(slot, key, index) end
  if journalled then make_ready(world, slot) end
  local answer, release = body(key)
  slot.answered_at = math.max(slot.answered_at or 0, clock.time())
  if journalled and not answer.error then keep(world, slot, key, index, answer) end
  if release then release() end
  return answer
end

-- All `count` answers to the proposal of a slot; nil if one is missing.
function answers.all(world, slot, count)
  if not next(slot.kept_answers or {}) then return nil end
  local key, list = key_of(world, slot), {}
  for index = 1, count do
    if not position(slot, key, index) then return nil end
  end
  for index = 1, count do list[index] = take(slot, key, index) end
  return list
end

-- The answers of several bodies side by side, each as once has it.
function answers.together(world, slot, bodies)
  local each = {}
  for index, body in ipairs(bodies) do
    each[index] = function() return answers.once(world, slot, index, body) end
  end
  return tasks.together(each)
end

-- The experiment has its line.
function answers.forget(slot)
  if not slot.dir then return end
  fs.remove(slot.dir .. FILE)
  ended.forget_all(slot.dir)
end

return answers
