-- kept: measurements of versions of candidates, in .apsis/explained, so that a call that was interrupted, or had too
-- few measurements, goes on where it stopped. They count only as long as nothing that measures has changed. Called by
-- the command explain.
local evaluator = require "apsis.live.evaluator"
local fs = require "apsis.fs"
local json = require "apsis.json"
local links = require "apsis.project.links"
local sha256 = require "apsis.project.sha256"

local kept = {}

local Kept = {}
Kept.__index = Kept

-- of(world, home, record, parent) -> kept | nil, message, 3.
function kept.of(world, home, record, parent)
  local plain, message, code = links.none(home, ".apsis/explained")
  if not plain then return nil, message, code end
  local setting = json.encode({ evaluator.digest(world), world.seed, record.experiment, parent }, { sorted = true })
  local self = setmetatable({ path = home .. "/.apsis/explained", setting = sha256.hex(setting), found = {} }, Kept)
  for line in (fs.read(self.path) or ""):gmatch "[^\n]+" do
    local ok, entry = pcall(json.decode, line)
    local answers = ok and type(entry) == "table" and type(entry.answers) == "table" and entry.answers
    if answers and type(entry.key) == "string" then self.found[entry.key] = answers end
  end
  return self
end

function Kept:key(trees, turn)
  return sha256.hex(self.setting .. turn .. " " .. table.concat(trees, " "))
end

local function plain(answer)
  if type(answer) ~= "table" then return nil end
  local value, reason = answer.value, answer.reason
  if type(value) ~= "number" then value = nil end
  if not value and type(reason) ~= "string" then return nil end
  return { value = value, reason = not value and reason or nil }
end

-- The answers for some trees in a turn, or nil.
function Kept:get(trees, turn)
  local answers, list = self.found[self:key(trees, turn)], {}
  if not answers or #answers ~= #trees then return nil end
  for index, answer in ipairs(answers) do
    list[index] = plain(answer)
    if not list[index] then return nil end
  end
  return list
end

-- Adds the answers; a file that cannot be written is no obstacle.
function Kept:add(trees, turn, answers)
  local key = self:key(trees, turn)
  self.found[key] = answers
  fs.append(self.path, json.encode { key = key, answers = json.array(answers) } .. "\n")
end

return kept
