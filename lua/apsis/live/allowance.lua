-- allowance: .apsis/run: which run is under way and a digest of its budget, so that a budget that somebody changes in
-- logs/state.json beside apsis is found out, also by removing that file; then it is shown as a warning, until somebody
-- removes .apsis/run. Written after the state file has a run, and removed before that has another, so that a kill
-- leaves nothing that looks like a change. Called by running, reader, baseline.
local fs = require "apsis.fs"
local note = require "apsis.live.note"
local state = require "apsis.state"

local allowance = {}

local Allowance = {}
Allowance.__index = Allowance

local FILE <const> = "/.apsis/run"
local REMEDY <const> = "; its budget may be another one than it began with: restore the file from a backup, or, if the "
  .. "change is meant, remove .apsis/run"

local function digest_of(run, limits, driven)
  local parts = { driven and "driven" or nil }
  for kind, amount in pairs(limits) do parts[#parts + 1] = ("%s=%.17g"):format(kind, amount) end
  table.sort(parts)
  return state.digest(("%d %s"):format(run, table.concat(parts, " ")))
end

-- The run's number, its digest, and "goes_on" or "ended"; nil if there is none.
local function read(home)
  local run, digest, word = (fs.read(home .. FILE) or ""):match "^(%d+) (%x+) ([%l_]+)\n$"
  return math.tointeger(tonumber(run)), digest, word
end

local function difference(home, last)
  local run, digest, word = read(home)
  if not run or not last.run and word == "ended" then return nil end
  if last.run ~= run then
    return ("logs/state.json: apsis wrote run %d there, and it has %s: somebody changed or removed it, or the power "
      .. "failed%s"):format(run, last.run and "run " .. last.run or "none", REMEDY)
  elseif digest_of(run, last.limits or {}, last.driven) ~= digest then
    return ("logs/state.json: run %d has another budget or driver there than apsis wrote%s"):format(run, REMEDY)
  end
end

-- What somebody did to the run's state, for people; nil if nothing. last: what logs/state.json had.
function allowance.problem(home, last)
  return difference(home, last) and difference(home, (note.read(home))) -- a run may have begun in between
end

-- The number of the last run if it has ended.
function allowance.ended(home)
  local run, _, word = read(home)
  return word == "ended" and run or nil
end

-- The project has another journal, or none.
function allowance.forget(home) fs.remove(home .. FILE) end

-- For who holds the lock. Once there is a problem, nothing is written: it is to be seen.
function allowance.open(home, last)
  return setmetatable({ home = home, problem = allowance.problem(home, last) }, Allowance)
end

-- The state file is about to have another run or budget.
function Allowance:begin()
  if not self.problem then allowance.forget(self.home) end
end

-- The state file has the run, and whether an agent drives it; word: "goes_on" or "ended".
function Allowance:note(run, limits, driven, word)
  if self.problem then return end
  if not state.replace(self.home .. FILE, ("%d %s %s\n"):format(run, digest_of(run, limits, driven), word)) then
    allowance.forget(self.home)
  end
end

return allowance
