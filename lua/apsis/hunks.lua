-- hunks: takes a git patch apart into files and hunks, and applies or reverts single hunks at exactly their lines,
-- without searching or guessing context. Pure. Called by the command show and by strategies.
local hunks = {}

local escapes = { a = "\a", b = "\b", t = "\t", n = "\n", v = "\v", f = "\f", r = "\r", ['"'] = '"', ["\\"] = "\\" }

-- A name in double quotes, as C writes a string; the rest of the text after it.
local function unquote(text)
  local parts, at = {}, 2
  while true do
    local stop = text:find('["\\]', at)
    if not stop then return nil end
    parts[#parts + 1] = text:sub(at, stop - 1)
    if text:sub(stop, stop) == '"' then return table.concat(parts), text:sub(stop + 1) end
    local octal = text:match("^[0-3][0-7][0-7]", stop + 1)
    local letter = text:sub(stop + 1, stop + 1)
    if not octal and not escapes[letter] then return nil end
    parts[#parts + 1] = octal and string.char(tonumber(octal, 8)) or escapes[letter]
    at = stop + (octal and 4 or 2)
  end
end

-- The name in a header line; prefix: "a/" or "b/", or "" for a rename. nil: /dev/null, or no name.
local function name_in(text, prefix)
  local name = text:sub(1, 1) == '"' and unquote(text) or text:gsub("\t$", "")
  if name == "/dev/null" or name:sub(1, #prefix) ~= prefix then return nil end
  return name:sub(#prefix + 1)
end

-- The name of a file that only "diff --git" gives: the same on both sides.
local function name_of_both(text)
  if text:sub(1, 1) == '"' then
    local name = unquote(text)
    return name and name:sub(3)
  end
  local length = (#text - 5) // 2 -- "a/NAME b/NAME"
  local name = text:sub(3, 2 + length)
  if length > 0 and text == ("a/%s b/%s"):format(name, name) then return name end
end

-- The keywords of a file's header.
local headers = {
  { "^old mode (%d+)$", function(file, mode) file.old_mode = mode end },
  { "^new mode (%d+)$", function(file, mode) file.mode = mode end },
  { "^new file mode (%d+)$", function(file, mode) file.status, file.mode = "added", mode end },
  { "^deleted file mode (%d+)$", function(file, mode) file.status, file.old_mode = "deleted", mode end },
  { "^rename from (.+)$", function(file, name) file.status, file.old_path = "renamed", name_in(name, "") end },
  { "^rename to (.+)$", function(file, name) file.path = name_in(name, "") end },
  { "^copy from (.+)$", function(file, name) file.status, file.old_path = "copied", name_in(name, "") end },
  { "^copy to (.+)$", function(file, name) file.path = name_in(name, "") end },
  { "^index %x+%.%.%x+ (%d+)$", function(file, mode) file.old_mode, file.mode = mode, mode end },
  { "^%-%-%- (.+)$", function(file, name) file.path = name_in(name, "a/") or file.path end },
  { "^%+%+%+ (.+)$", function(file, name) file.path = name_in(name, "b/") or file.path end },
  { "^Binary files ", function(file) file.binary = true end },
  { "^GIT binary patch$", function(file) file.binary = true end },
}

local Reader = {}
Reader.__index = Reader

-- The next line without its "\n"; nil at the end.
function Reader:peek()
  if self.at > #self.text then return nil end
  self.stop = self.text:find("\n", self.at, true) or #self.text + 1
  return self.text:sub(self.at, self.stop - 1)
end

function Reader:take()
  local line = self:peek()
  self.at, self.number = self.stop + 1, self.number + 1
  return line
end

function Reader:fail(what)
  error({ message = ("line %d: %s"):format(self.number, what) }, 0)
end

-- The last line, of each side that has it, without the line end that was assumed.
local function without_end(reader, hunk, sign)
  for _, side in ipairs(sign == " " and { "old", "new" } or { sign == "-" and "old" or "new" }) do
    local list = hunk[side]
    if list[#list] == "\n" then reader:fail "an empty line without a line end is no line" end
    list[#list] = list[#list]:sub(1, -2)
  end
end

-- A line of one side. An unterminated line is a text's last.
local function add_line(reader, list, content)
  local last = list[#list]
  if last and last:sub(-1) ~= "\n" then reader:fail "a line follows one that has no line end" end
  list[#list + 1] = content
end

local function take_body(reader, hunk)
  local sign
  while true do
    local line = reader:peek()
    local mark = line and line:sub(1, 1)
    if mark == "\\" and sign then
      without_end(reader, hunk, sign)
      sign = nil -- a second sign would take a character of the line
    elseif #hunk.old == hunk.old_count and #hunk.new == hunk.new_count then return
    elseif mark == " " or mark == "-" or mark == "+" then
      local content = line:sub(2) .. "\n"
      if mark ~= "+" then add_line(reader, hunk.old, content) end
      if mark ~= "-" then add_line(reader, hunk.new, content) end
      if mark == "+" then hunk.added = hunk.added + 1 elseif mark == "-" then hunk.deleted = hunk.deleted + 1 end
      sign = mark
    else
      reader:fail("a hunk ends before its last line")
    end
    if #hunk.old > hunk.old_count or #hunk.new > hunk.new_count then
      reader:fail "a hunk has more lines than it says"
    end
    reader:take()
  end
end

local FURTHEST = 1e15 -- no text has a line beyond it; more digits may overflow

-- A number of a hunk's header, where "" means 1.
local function number_in(reader, text)
  local number = text == "" and 1 or tonumber(text)
  if number > FURTHEST then reader:fail("no line of a text: " .. text:sub(1, 60)) end
  return number
end

local function take_hunk(reader)
  local from = reader.at
  local line = reader:take()
  local old_start, old_count, new_start, new_count, section = line:match("^@@ %-(%d+),?(%d*) %+(%d+),?(%d*) @@ ?(.*)$")
  if not old_start then reader:fail("no hunk's head: " .. line:sub(1, 60)) end
  local hunk = { old_start = number_in(reader, old_start), old_count = number_in(reader, old_count), section = section,
    new_start = number_in(reader, new_start), new_count = number_in(reader, new_count), old = {}, new = {}, added = 0,
      deleted = 0 }
  take_body(reader, hunk)
  hunk.text = reader.text:sub(from, reader.at - 1)
  return hunk
end

local function take_file(reader)
  local from = reader.at
  local names = reader:take():match("^diff %-%-git (.+)$")
  if not names then reader:fail "not the beginning of a file (diff --git)" end
  local file = { path = name_of_both(names), status = "modified", binary = false, hunks = {} }
  local line = reader:peek()
  while line and not line:find "^diff %-%-git " and not line:find "^@@ " do
    for _, header in ipairs(headers) do
      local found = line:match(header[1])
      if found then header[2](file, found) end
    end
    reader:take()
    line = reader:peek()
  end
  file.head = reader.text:sub(from, reader.at - 1)
  while line and line:find "^@@ " do
    file.hunks[#file.hunks + 1] = take_hunk(reader)
    line = reader:peek()
  end
  if not file.path then reader:fail "a file without a name" end
  return file
end

-- parse(patch) -> files | nil, message, "EMALFORMED".
function hunks.parse(patch)
  if type(patch) ~= "string" then error("a patch must be a string, not a " .. type(patch), 2) end
  local reader = setmetatable({ text = patch, at = 1, number = 0 }, Reader)
  local files = {}
  local ok, problem = pcall(function()
    while reader:peek() do files[#files + 1] = take_file(reader) end
  end)
  if ok then return files end
  if type(problem) ~= "table" then error(problem, 0) end
  return nil, problem.message, "EMALFORMED"
end

local function lines_of(text)
  local lines = {}
  for line in text:gmatch("[^\n]*\n") do lines[#lines + 1] = line end
  local rest = text:match("^.*\n([^\n]+)$") or text:match("^[^\n]+$")
  if rest then lines[#lines + 1] = rest end
  return lines
end

-- Where a side of a hunk begins: one without lines comes after the line it names.
local function start_of(hunk, side)
  return hunk[side .. "_start"] + (hunk[side .. "_count"] == 0 and 1 or 0)
end

-- Which of two hunks comes first. At the same line, one that only adds does.
local function comes_before(a, b, from, to)
  local one, other = start_of(a, from), start_of(b, from)
  if one ~= other then return one < other end
  if #a[from] ~= #b[from] then return #a[from] < #b[from] end
  return start_of(a, to) < start_of(b, to)
end

-- The text with the lines of one side of the hunks replaced by the other's.
local function swap(text, list, from, to)
  local lines, made, at = lines_of(text), {}, 1
  local order = table.move(list, 1, #list, 1, {})
  table.sort(order, function(a, b) return comes_before(a, b, from, to) end)
  for _, hunk in ipairs(order) do
    local start = start_of(hunk, from)
    if start < at then return nil, ("line %d: two hunks overlap"):format(start), "ENOMATCH" end
    if start > #lines + 1 then return nil, ("line %d: the text has %d lines"):format(start, #lines), "ENOMATCH" end
    table.move(lines, at, start - 1, #made + 1, made)
    for index, line in ipairs(hunk[from]) do
      if lines[start + index - 1] ~= line then
        return nil, ("line %d: not the line of the hunk"):format(start + index - 1), "ENOMATCH"
      end
    end
    table.move(hunk[to], 1, #hunk[to], #made + 1, made)
    at = start + #hunk[from]
  end
  table.move(lines, at, #lines, #made + 1, made)
  return table.concat(made)
end

-- apply(old, list) -> the text with some hunks of its patch | nil, message, "ENOMATCH".
function hunks.apply(text, list)
  return swap(text, list, "old", "new")
end

-- revert(new, list) -> the text without some of the hunks it was made by | nil, message, "ENOMATCH".
function hunks.revert(text, list)
  return swap(text, list, "new", "old")
end

return hunks
