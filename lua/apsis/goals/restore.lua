-- restore: a goal's journal is also on the branch of its state file. Copies it from there into a fresh clone, or if
-- another clone measured meanwhile; read-only commands read it there.
local fs = require "apsis.fs"
local journal = require "apsis.core.journal"
local seal = require "apsis.live.seal"
local upkeep = require "apsis.goals.upkeep"

local restore = {}

-- Before the journal is opened: fetches the lines that only the branch has. true | nil, message, code.
function restore.session(self, repo)
  local held, message, code = upkeep.store(repo, self.manifest, self:logger())
  if not held then return nil, message, code end
  local ok
  ok, message, code = held:ready()
  if not ok then return nil, message, code end
  local path = self.home .. "/logs/results.jsonl"
  if not fs.stat(path) then seal.forget(self.home) end -- the branch may have another one
  local done
  done, message, code = held:restore_journal(path, function() seal.forget(self.home) end)
  if not done then return nil, message, code end
  if done == "restored" then self:log("info", "restored the journal from the branch of the state file") end
  return true
end

-- The journal on the branch of the state file, read-only; nil if there is none. Warns if the branch is unreadable.
function restore.stored(reader)
  local manifest = reader.manifest
  if manifest.memory.kind ~= "branch" then return nil end
  local repo <close>, wrong = reader:repository()
  local held, read
  if repo then held, wrong = upkeep.store(repo, manifest) end
  if held then read, wrong = held:read() end
  if not read then reader.session:say(manifest.program_name .. ": its journal could not be read: " .. wrong) end
  if not read or not read.journal then return nil end
  return journal.of_bytes(("%s:%s.jsonl"):format(manifest.memory.branch, manifest.program_name), read.journal)
end

return restore
