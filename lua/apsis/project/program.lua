-- program: reads program.md, the project's instructions in prose, with optional YAML front matter between two lines of
-- `---`, also below HTML comments. Judges neither. Called by the commands and by autoloop.lua.
local fs = require "apsis.fs"
local manifest = require "apsis.project.manifest"
local yaml = require "apsis.yaml"

local program = {}

program.max_bytes = 16 * 1024 * 1024
local LONGEST_CRON = 200 -- bytes of a line that could be a schedule

local function newlines(text)
  local _, count = text:gsub("\n", "")
  return count
end

-- Where the text after leading HTML comments and empty lines begins.
local function behind_comments(bytes)
  local position, at = 1, 1
  while true do
    local open = bytes:match("^[ \t\r\n]*<!%-%-()", position)
    local close = open and select(2, bytes:find("-->", open, true))
    if not close then return at end
    position = bytes:match("^[ \t]*\r?\n()", close + 1)
    if position then at = bytes:match("^[ \t\r\n]*\n()", position) or position
    elseif not bytes:find("^[ \t]*<!%-%-", close + 1) then return at end -- text after a comment is prose
    position = position or close + 1
  end
end

-- The front matter's text, where it begins, where the prose begins, and where the first `---` is; without front matter
-- nil, and the place of an unclosed `---`, if any.
local function split(bytes)
  local start = behind_comments(bytes)
  local at = bytes:match("^%-%-%-[ \t]*\r?\n()", start)
  if not at then return nil end
  local position = at
  while position <= #bytes do
    local line, after = bytes:match("^([^\n]*)\n?()", position)
    if line:find("^%-%-%-[ \t\r]*$") or line:find("^%.%.%.[ \t\r]*$") then
      return bytes:sub(at, position - 1), at, after, start
    end
    position = after
  end
  return nil, start
end

local function line_of(text, wanted)
  local number = 0
  for line in text:gmatch("[^\n]*") do
    number = number + 1
    if number == wanted then return line end
  end
end

-- A hint if YAML stumbled over a schedule (a cron expression's * begins an alias), else "".
local function remedy(message, label, head)
  local number = message:sub(#label + 1):match("^:(%d+):")
  local line = line_of(head, tonumber(number)) or ""
  local text = #line < LONGEST_CRON and line:gsub("%s+#.*", ""):match("^schedule[ \t]*:[ \t]*(.-)%s*$")
  if not text or text:find("^[\"'%[{]") or text == "" then return "" end
  return ('; put it in quotes: schedule: "%s"'):format((text:gsub('[%c"\\]', "")))
end

-- Text and front matter of a program already read; label names it in errors. Like program.load.
function program.parse(bytes, label)
  bytes = bytes:gsub("^\u{FEFF}", "")
  if not utf8.len(bytes) then
    local _, bad = utf8.len(bytes)
    return nil, { ("%s:%d: program: is not UTF-8; save it as UTF-8"):format(label, newlines(bytes:sub(1, bad)) + 1) },
      "EUTF8"
  end
  local head, at, after, start = split(bytes)
  if not head then
    return { text = bytes, whole = bytes, front = {}, lines = {}, line = 1, unclosed = at
      and newlines(bytes:sub(1, at - 1)) + 1 }
  end
  local before = newlines(bytes:sub(1, at - 1))
  head = ("\n"):rep(before) .. head -- keeps the line numbers
  local front, lines = manifest.decode(head, label)
  if front == nil then return nil, { lines .. remedy(lines, label, head) }, "EYAML" end
  if front == yaml.null then front, lines = {}, {} end
  if type(front) ~= "table" or #front > 0 then
    local message = "%s:%d: front matter: must be a mapping (KEY: VALUE) between two lines of ---; where it is prose, "
      .. "begin the file with an empty line"
    return nil, { message:format(label, before + 1) }, "EYAML"
  end
  after = bytes:match("^[\r\n]*()", after)
  local line = newlines(bytes:sub(1, after - 1)) + 1
  return { text = bytes:sub(after), whole = bytes:sub(start), front = front, lines = lines, line = line }
end

-- {text, whole, front, lines, line, unclosed, path}: whole is text with its front matter, lines are those of its keys
-- as yaml.decode returns them, line is where text begins, unclosed the line of a `---` without a second. Or nil, a list
-- of errors, and a code: "ENOENT" if there is no such file.
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
