-- asi: actionable side information: what a provider reports about its change, in `ASI name=text` lines of its output or
-- in asi.json in its workspace. The journal keeps it even if the change is reverted.
local fs = require "apsis.fs"
local json = require "apsis.json"

local asi = {}

-- Those that are fields of the journal.
asi.names = { hypothesis = true, description = true, learned = true, rollback_reason = true, next_action_hint = true }
local LONGEST = 4000

local function tidy(text)
  return (tostring(text):gsub("[%z\1-\8\11-\31\127]", "?"):sub(1, LONGEST))
end

-- A name that is no journal field becomes a note of the answer: an island or a cell, say.
local function say(answer, name, text)
  if asi.names[name] then
    answer[name] = tidy(text)
  elseif name ~= "kept_because" then
    answer.notes = answer.notes or {}
    answer.notes[name] = tidy(text)
  end
end

-- Adds the `ASI name=text` lines of a text to answer.
function asi.read_text(answer, output)
  for name, text in ("\n" .. output):gmatch("\nASI[ \t]+([%w_]+)=([^\r\n]*)") do say(answer, name, text) end
end

-- Reads a command's output and asi.json in its workspace, which is then removed, so that it is no change; unless it is
-- the project's own file.
function asi.read(answer, output, dir, is_the_projects)
  asi.read_text(answer, output)
  if is_the_projects or fs.realpath(dir) ~= dir then return end -- it may have made the folder a link to the user's
  local path = dir .. "/asi.json"
  local stat = fs.stat(path, { follow = false })
  if not stat or stat.type ~= "file" then return end
  local said = json.decode(fs.read(path, 65536) or "")
  fs.remove(path)
  if type(said) ~= "table" then return end
  for name, text in pairs(said) do
    if type(name) == "string" and name:find("^[%w_]+$") and type(text) == "string" then say(answer, name, text) end
  end
end

return asi
