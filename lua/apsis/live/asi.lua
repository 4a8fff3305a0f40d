-- asi: actionable side information: what a provider says about its change, as `ASI name=text` lines of its output or in
-- asi.json in its workspace. It survives a revert: the journal keeps it. Called by provider/command.
local fs = require "apsis.fs"
local json = require "apsis.json"

local asi = {}

local names = { hypothesis = true, description = true, learned = true, rollback_reason = true, next_action_hint = true }
local LONGEST = 4000

local function tidy(text)
  return (tostring(text):gsub("[%z\1-\8\11-\31\127]", "?"):sub(1, LONGEST))
end

-- Puts what is said into answer. asi.json is read and removed, so that it is no change of the project; but where it is
-- the project's own file, it is left alone.
function asi.read(answer, output, dir, is_the_projects)
  for name, text in ("\n" .. output):gmatch("\nASI[ \t]+([%w_]+)=([^\r\n]*)") do
    if names[name] then answer[name] = tidy(text) end
  end
  if is_the_projects then return end
  local path = dir .. "/asi.json"
  local stat = fs.stat(path, { follow = false })
  if not stat or stat.type ~= "file" then return end
  local said = json.decode(fs.read(path, 65536) or "")
  fs.remove(path)
  if type(said) ~= "table" then return end
  for name in pairs(names) do
    if type(said[name]) == "string" then answer[name] = tidy(said[name]) end
  end
end

return asi
