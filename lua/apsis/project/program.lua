-- program: reads program.md, the project's instructions in prose, which may begin with YAML front matter between two
-- lines of `---`. Gives both as they are and judges neither. Called by the commands.
local fs = require "apsis.fs"
local manifest = require "apsis.project.manifest"
local yaml = require "apsis.yaml"

local program = {}

program.max_bytes = 16 * 1024 * 1024

-- The text of the front matter and where the prose begins, or nil where there is none.
local function split(bytes)
  local at = bytes:match("^%-%-%-[ \t]*\r?\n()")
  if not at then return nil end
  local position = at
  while position <= #bytes do
    local line, after = bytes:match("^([^\n]*)\n?()", position)
    if line:find("^%-%-%-[ \t\r]*$") or line:find("^%.%.%.[ \t\r]*$") then
      return bytes:sub(at, position - 1), after
    end
    position = after
  end
end

-- Text and front matter of a program already read; label names it in errors. As program.load.
function program.parse(bytes, label)
  bytes = bytes:gsub("^\u{FEFF}", "")
  if not utf8.len(bytes) then
    local _, bad = utf8.len(bytes)
    local _, lines = bytes:sub(1, bad):gsub("\n", "")
    return nil, { ("%s:%d: program: is not UTF-8; save it as UTF-8"):format(label, lines + 1) }, "EUTF8"
  end
  local head, after = split(bytes)
  if not head then return { text = bytes, front = {} } end
  local front, lines = manifest.decode("\n" .. head, label) -- the empty line stands for the first `---`
  if front == nil then return nil, { lines }, "EYAML" end
  if front == yaml.null then front = {} end
  if type(front) ~= "table" or #front > 0 then
    local message = "%s:2: front matter: must be a mapping (KEY: VALUE) between two lines of ---; where it is prose, "
      .. "begin the file with an empty line"
    return nil, { message:format(label) }, "EYAML"
  end
  return { text = (bytes:sub(after):gsub("^[\r\n]+", "")), front = front }
end

-- {text, front, path}; or nil, a list of errors, and a code: "ENOENT" where there is no such file.
function program.load(path)
  local label = manifest.display(path)
  local bytes, message, code = fs.read(path, program.max_bytes + 1)
  if not bytes then return nil, { ("%s: cannot be read: %s"):format(label, message) }, code end
  if #bytes > program.max_bytes then
    return nil, { ("%s: is larger than %d MB"):format(label, program.max_bytes // 2 ^ 20) }, "ETOOBIG"
  end
  local made, errors
  made, errors, code = program.parse(bytes, label)
  if not made then return nil, errors, code end
  made.path = fs.realpath(path) or path
  return made
end

return program
