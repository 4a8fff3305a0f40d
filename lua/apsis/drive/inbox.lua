-- inbox: what waits for the loop: a file for each request in .apsis/inbox, and in .apsis/inbox/done what became of the
-- newest ones. A request is durable before anybody waits for it. Anybody may add one; only who holds the run's lock
-- closes one. Knows no git and no engine.
local fs = require "apsis.fs"
local json = require "apsis.json"
local kind = require "apsis.core.kind"
local links = require "apsis.project.links"
local state = require "apsis.state"
local wait = require "apsis.wait"

local inbox = {}

local Inbox = {}
Inbox.__index = Inbox

local KEPT = 1000 -- closed requests that are remembered
local LOCK_TRIES <const>, PAUSE_S <const> = 1000, 0.01

-- What a request has. tree: what is submitted; parent: the candidate that it was made from; experiment: the number that
-- `next` gave, or that it got; from: where in the journal its line may begin; new_run: a person lets another run begin
-- for it; over, refused: why nothing became of it.
local fields = { keys = { id = "string", kind = "string", parent = "string", tree = "hash", title = "string",
  asi = { map = "string" }, from = "whole", pid = "whole", expires_s = "number", experiment = "whole",
  new_run = "boolean",
  over = "string", refused = "string" }, needs = { "id", "kind" } }

function inbox.new(home)
  return setmetatable({ home = home, dir = home .. "/.apsis/inbox" }, Inbox)
end

local function decoded(text, id)
  local value = text and json.decode(text, true)
  if type(value) == "table" and not kind.problem(value, fields, "") and value.id == id then return value end
end

-- A request that waits, by its id; nil if there is none.
function Inbox:read(id)
  return decoded(fs.read(("%s/%s.json"):format(self.dir, id)), id)
end

-- What became of a closed request: { experiment }, { over } or { refused }; nil if it is not closed, or forgotten.
function Inbox:closed(id)
  return decoded(fs.read(("%s/done/%s.json"):format(self.dir, id)), id)
end

-- The requests that wait, oldest first.
function Inbox:waiting()
  local list = {}
  for _, name in ipairs(fs.list(self.dir) or {}) do
    local id = name:match "^(%l%d%d%d%d+)%.json$"
    list[#list + 1] = id and self:read(id) or nil
  end
  table.sort(list, function(a, b)
    if #a.id ~= #b.id then return #a.id < #b.id end
    return a.id < b.id
  end)
  return list
end

-- Whether an answer to an experiment waits.
function Inbox:answers(number)
  for _, request in ipairs(self:waiting()) do
    if request.kind == "answer" and request.experiment == number then return true end
  end
  return false
end

local function write(folder, request)
  return state.replace(("%s/%s.json"):format(folder, request.id), json.encode(request) .. "\n", { sync = true })
end

-- Holds the lock of the numbers; the caller closes it.
local function locked(self)
  local lock, message, code
  for _ = 1, LOCK_TRIES do
    lock, message, code = state.lock(self.dir .. "/lock")
    if lock or code ~= "LOCKED" then break end
    wait.sleep(PAUSE_S)
  end
  return lock, message
end

-- Forgets the oldest closed requests.
local function forget(self)
  local names = fs.list(self.dir .. "/done") or {}
  for index = 1, #names - KEPT do fs.remove(self.dir .. "/done/" .. names[index]) end
end

-- Calls body while no request is added. What it returns | nil, message.
function Inbox:alone(body)
  local lock <close>, message = locked(self)
  if not lock then return nil, message end
  return body()
end

-- Adds a request under the next number, after prepare(id) if that succeeds. Its id | nil, message, 3.
function Inbox:add(request, prepare)
  local plain, refused, code = links.none(self.home, ".apsis/inbox/done")
  if not plain then return nil, refused, code end
  local ok, message = fs.mkdir(self.dir .. "/done")
  if not ok then return nil, message, 3 end
  local lock <close>, held = locked(self)
  if not lock then return nil, held, 3 end
  local number = (tonumber(fs.read(self.dir .. "/last", 20) or "") or 0) + 1
  request.id = ("s%04d"):format(number)
  ok, message = state.replace(self.dir .. "/last", ("%d\n"):format(number), { sync = true })
  if ok and prepare then ok, message = prepare(request.id) end
  if ok then ok, message = write(self.dir, request) end
  forget(self)
  if not ok then return nil, message, 3 end
  return request.id
end

-- Closes a request: became = { experiment }, { over } or { refused }, with the reason.
function Inbox:close(id, became)
  became.id, became.kind = id, "closed"
  local ok, message = write(self.dir .. "/done", became)
  if ok then fs.remove(("%s/%s.json"):format(self.dir, id)) end
  return ok, message
end

return inbox
