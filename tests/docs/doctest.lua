-- doctest: runs what Markdown pages show. Each page gets an empty folder, in which its fences work from top to bottom:
--   sh               a script; it must end with 0, or with the code after `exit=`
--   output           what the sh fence before it prints; `...` stands for any lines, numbers may differ by 1 %
--   LANGUAGE file=F  is written to F
--   lua, json        must parse
--   yaml             must be keys of the manifest, unless the fence says `other`
--   text             is only shown
-- Words `no-run: REASON` after the language: the fence is not run. A comment <!-- doctest: SCRIPT --> prepares
-- something without showing it. Links must lead somewhere. `claude` is a stand-in, in tests/docs/bin.
--   apsis exec tests/docs/doctest.lua SOURCE PAGE...        run by `make doc-test`; VERBOSE=1: with what is printed
local fs = require "apsis.fs"
local json = require "apsis.json"
local process = require "apsis.process"
local schema = require "apsis.project.schema"
local shape = require "apsis.project.shape"
local yaml = require "apsis.yaml"

local TIMEOUT_S <const>, TOLERANCE <const> = 120, 0.01

local source = assert(arg[1], "usage: doctest.lua SOURCE PAGE...")

-- ---- reading a page ----

-- The page's fences and hidden scripts: { line, language, info, text }.
local function fences(text)
  local list, open, number = {}, nil, 0
  for line in (text .. "\n"):gmatch "(.-)\n" do
    number = number + 1
    local hidden = not open and line:match "^<!%-%- doctest: (.*) %-%->$"
    local mark, language, info = line:match "^%s*(```+)([%w]*)%s*(.-)%s*$"
    if hidden then
      list[#list + 1] = { line = number, language = "sh", info = "", lines = { hidden } }
    elseif open and mark == open.mark and language == "" then
      open = nil
    elseif not open and mark then
      open = { mark = mark, line = number, language = language, info = info, indent = line:match "^%s*", lines = {} }
      list[#list + 1] = open
    elseif open then
      table.insert(open.lines, (line:gsub("^" .. open.indent, "", 1)))
    end
  end
  for _, fence in ipairs(list) do fence.text = table.concat(fence.lines, "\n") .. "\n" end
  return list
end

-- ---- running it ----

local Page = {}
Page.__index = Page

function Page:wrong(line, message)
  table.insert(self.problems, ("%s:%d: %s"):format(self.path, line, message))
end

local function script_of(fence) return "set -e\n" .. fence.text end

function Page:run(fence)
  local result = assert(process.run { argv = { "bash", "-c", "exec 2>&1\n" .. script_of(fence) }, cwd = self.dir,
    env = self.env, timeout_s = TIMEOUT_S, head_bytes = 1000000 })
  local wanted = tonumber(fence.info:match "exit=(%d+)") or 0
  self.printed = result.stdout.head
  self.commands = self.commands + 1
  if os.getenv "VERBOSE" then print(fence.text .. "---- prints:\n" .. self.printed) end
  if result.code ~= wanted then
    self:wrong(fence.line, ("ended with %s, not %d:\n%s"):format(tostring(result.code or result.outcome), wanted,
      self.printed))
  end
end

local NUMBER <const> = "[-+]?%d+%.?%d*[eE]?[-+]?%d*"

-- Whether two lines are the same but for numbers that are close.
local function alike(wanted, got)
  local function plain(line) return (line:gsub("%s+", " "):gsub(" $", ""):gsub(NUMBER, "#")) end
  if plain(wanted) ~= plain(got) then return false end
  local numbers = got:gmatch(NUMBER)
  for text in wanted:gmatch(NUMBER) do
    local a, b = tonumber(text), tonumber(numbers())
    if a and b and math.abs(a - b) > TOLERANCE * math.max(math.abs(a), math.abs(b)) then return false end
  end
  return true
end

local function lines_of(text)
  local list = {}
  for line in text:gmatch "([^\n]*)\n" do list[#list + 1] = line end
  while list[#list] == "" do list[#list] = nil end
  return list
end

-- The first wanted line that the printed ones do not have in its place, or nil.
local function first_difference(wanted, got, from, at)
  for index = from, #wanted do
    if wanted[index]:find "^%s*%.%.%.$" then
      if index == #wanted then return nil end
      for start = at, #got do
        if not first_difference(wanted, got, index + 1, start) then return nil end
      end
      return wanted[index + 1]
    end
    if not got[at] or not alike(wanted[index], got[at]) then return wanted[index], got[at] end
    at = at + 1
  end
  if got[at] then return "nothing more", got[at] end
end

function Page:compare(fence)
  self.outputs = self.outputs + 1
  local wanted, got = first_difference(lines_of(fence.text), lines_of(self.printed or ""), 1, 1)
  if wanted then
    self:wrong(fence.line, ("is not what is printed: %q, where the page has %q; all of it:\n%s"):format(got or "nothing",
      wanted, self.printed))
  end
end

local parsers = {
  lua = function(text) return load(text, "=fence", "t") end,
  yaml = function(text, info)
    local value, lines = yaml.decode(text)
    if value == nil then return false, lines end
    local layer = shape.layer { label = "fence", lines = lines }
    if info ~= "other" then shape.check(layer, schema.manifest, value, "", 1) end
    return #layer.errors == 0, layer.errors[1] and layer.errors[1].text
  end,
  json = json.decode,
}

function Page:fence(fence)
  local file, reason = fence.info:match "file=(%S+)", fence.info:match "no%-run: *(.+)"
  if fence.language == "" then return self:wrong(fence.line, "a fence needs a language: sh, output, text, lua, yaml ...") end
  if reason then
    table.insert(self.left, reason)
  elseif file then
    assert(fs.mkdir((self.dir .. "/" .. file):match "^(.*)/"))
    assert(fs.write(self.dir .. "/" .. file, fence.text))
  elseif fence.language == "sh" then
    self:run(fence)
  elseif fence.language == "output" then
    self:compare(fence)
  end
  if parsers[fence.language] then
    local ok, message = parsers[fence.language](fence.text, fence.info)
    if not ok then self:wrong(fence.line, tostring(message)) end
  end
end

-- ---- links ----

local function anchor(heading)
  return (heading:lower():gsub("`", ""):gsub("[^%w%s_-]", ""):gsub("%s", "-"))
end

local function has_anchor(text, name)
  for heading in ("\n" .. text):gmatch "\n#+%s+([^\n]+)" do
    if anchor(heading) == name then return true end
  end
  return false
end

-- Links to files and headings of this repository; addresses on the web are not asked.
function Page:links(text)
  local folder = self.path:match "^(.*/)" or ""
  local plain = text:gsub("\n```.-\n```", "")
  for target in plain:gmatch "%]%(([^)%s]+)%)" do
    local path, name = target:match "^([^#]*)#?(.*)$"
    if not target:find "^%a+:" then
      local file = path == "" and text or fs.read(source .. "/" .. folder .. path)
      if not file and not fs.stat(source .. "/" .. folder .. path) then
        self:wrong(1, "no such file: " .. target)
      elseif name ~= "" and not has_anchor(file, name) then
        self:wrong(1, "no such heading: " .. target)
      end
    end
  end
end

-- ---- all pages ----

local function environment(home)
  return { HOME = home, XDG_CONFIG_HOME = home .. "/.config", XDG_CACHE_HOME = home .. "/.cache", LC_ALL = "C.UTF-8",
    PATH = ("%s/build:%s/tests/docs/bin:%s"):format(source, source, os.getenv "PATH"), APSIS_SOURCE = source, GIT_CONFIG_NOSYSTEM = "1" }
end

local function check(path)
  local root = assert(process.run { argv = { "mktemp", "-d" } }).stdout.head:gsub("\n$", "")
  local self = setmetatable({ path = path, problems = {}, left = {}, commands = 0, outputs = 0, dir = root .. "/project",
    env = environment(root .. "/home") }, Page)
  assert(fs.mkdir(self.dir) and fs.mkdir(root .. "/home"))
  assert(fs.write(root .. "/home/.gitconfig", "[user]\n\tname = reader\n\temail = reader@localhost\n"
    .. "[init]\n\tdefaultBranch = main\n"))
  local text = assert(fs.read(source .. "/" .. path))
  for _, fence in ipairs(fences(text)) do self:fence(fence) end
  self:links(text)
  assert(fs.remove_tree(root))
  local left = #self.left > 0 and (", %d not run (%s)"):format(#self.left, table.concat(self.left, "; ")) or ""
  print(("%s - %s: %d scripts, %d outputs%s"):format(#self.problems == 0 and "ok" or "not ok", path, self.commands,
    self.outputs, left))
  for _, problem in ipairs(self.problems) do print("    " .. problem:gsub("\n", "\n    ")) end
  return #self.problems == 0
end

local passed, failed = 0, 0
for index = 2, #arg do
  if check(arg[index]) then passed = passed + 1 else failed = failed + 1 end
end
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and passed > 0 and 0 or 1, true)
