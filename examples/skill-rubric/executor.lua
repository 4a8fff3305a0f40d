-- executor: lets a model follow SKILL.md on the case named by the argument, and prints its answer. The model sees
-- only the instructions and the notes. Called by evaluate.sh.
local ask = require "ask"
local fs = require "apsis.fs"

local skill = assert(fs.read "SKILL.md"):gsub("^%-%-%-\n.-\n%-%-%-\n", "") -- the front matter is not for the model
local text, message = ask("executor", {
  { role = "system", content = skill },
  { role = "user", content = "The notes:\n\n" .. assert(fs.read(arg[1])) },
})
if not text then
  io.stderr:write("executor: ", message, "\n")
  os.exit(1)
end
print(text)
