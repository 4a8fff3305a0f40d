-- place: a scratch folder in which the built program runs, with nothing of the user's configuration; it goes with the
-- test's Lua state.
local fs = require "apsis.fs"
local json = require "apsis.json"

local place = {}

local APSIS = assert(os.getenv "APSIS", "APSIS names the program")
local base

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local function write(path, text)
  assert(fs.mkdir(path:match "^(.*)/"))
  assert(fs.write(path, text))
end

-- The folder in which all places are.
function place.base()
  if not base then
    base = assert(fs.realpath(assert(fs.tempdir "apsis-peers-")))
    write(base .. "/home/.gitconfig", "[user]\nname = tester\nemail = tester@localhost\n[init]\ndefaultBranch = main\n")
    write(base .. "/config/apsis/config.yaml", "sandbox: {allow: ['" .. base .. ":rw']}\n")
  end
  return base
end

-- What a shell script says in a folder (below the base): { code, out, err }. `apsis` is the program.
function place.sh(dir, script)
  local home = place.base()
  local set = ("export HOME=%s/home XDG_CONFIG_HOME=%s/config XDG_CACHE_HOME=%s/cache GIT_CONFIG_NOSYSTEM=1 LC_ALL=C "
    .. "APSIS=%s; unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE APSIS_METRICS\napsis() { timeout 60 \"$APSIS\" \"$@\"; }\n")
    :format(home, home, home, quote(APSIS))
  assert(fs.write(home .. "/script", set .. script))
  local command = ("cd %s && bash %s/script >%s/out 2>%s/err </dev/null"):format(quote(dir), home, home, home)
  local _, how, code = os.execute(command)
  return { code = how == "exit" and code or -1, out = assert(fs.read(home .. "/out")),
    err = assert(fs.read(home .. "/err")) }
end

-- A fresh folder with these files ({ [path] = text }); a git repository with one commit unless plain.
function place.new(name, files, plain)
  local dir = place.base() .. "/" .. name
  assert(not fs.stat(dir), name .. " is there already")
  assert(fs.mkdir(dir))
  for path, text in pairs(files) do write(dir .. "/" .. path, text) end
  if not plain then assert(place.sh(dir, "git init -q && git add -A && git commit -qm start").code == 0) end
  return dir
end

-- The journal's lines, or those of another file.
function place.lines(dir, path)
  local list = {}
  for line in (fs.read(dir .. "/" .. (path or "logs/results.jsonl")) or ""):gmatch "[^\n]+" do
    list[#list + 1] = assert(json.decode(line, true))
  end
  return list
end

-- A JSON file's value; nil if there is none.
function place.json(path)
  local text = fs.read(path)
  return text and json.decode(text, true)
end

return setmetatable(place, { __gc = function()
  if base then os.execute("chmod -R u+rwX " .. base .. " && rm -rf " .. base) end
end })
