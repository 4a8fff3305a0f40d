-- restore: a standing goal's journal is on the branch of its state file too: in a fresh clone, or if another clone measured
-- meanwhile, it is brought here before it is read or written.
local fs = require "apsis.fs"
local reader = require "apsis.live.reader"
local upkeep = require "apsis.goals.upkeep"

local restore = {}

-- Before the journal is opened: where the branch of the state file has more of it than this clone, it is brought here. true | nil,
-- message, code.
function restore.session(self, repo)
  local held, message, code = upkeep.store(repo, self.manifest, function(level, text) self:log(level, text) end)
  if not held then return nil, message, code end
  local ok
  ok, message, code = held:ready()
  if not ok then return nil, message, code end
  local done
  done, message, code = held:restore_journal(self.home .. "/logs/results.jsonl")
  if not done then return nil, message, code end
  if done == "restored" then self:log("info", "the journal was brought here from the branch of the state file") end
  return true
end

-- The same before a command that only reads. true if there was nothing to do; nil and a message if it failed.
local function bring(self)
  local repo <close>, wrong = self:repository()
  if not repo then return nil, wrong end
  local store, message = upkeep.store(repo, self.manifest)
  local read
  if store then read, message = store:read() end
  if not read then return nil, message end
  if not read.journal or reader.holder(self.home) then return true end
  local session = self.session
  local locked, why = session:lock()
  if not locked then return nil, why end
  local ok
  ok, message = restore.session(session, repo)
  session:unlock()
  return ok, message
end

-- Only if this clone has no journal yet. While somebody works on the goal, they bring it; if it fails, the user is warned and sees
-- what is here.
function restore.reader(self)
  local manifest = self.manifest
  if not manifest.program_name or manifest.memory.kind ~= "branch" or fs.stat(self.home .. "/logs/results.jsonl") then return end
  local ok, message = bring(self)
  if not ok then self.session:say(manifest.program_name .. ": its journal could not be brought here: " .. message) end
end

return restore
