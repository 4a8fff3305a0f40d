-- target: the files that a prose section lets a program change: the paths in backquotes at the beginning of an item, or
-- its first word. A list after "Do NOT modify", or an "except", is read_only, but not an "except" in such a list; later
-- words of an item do not count.
-- Reads text and checks whether paths exist. Called by readers of programs in prose and by the importers.
local fs = require "apsis.fs"

local target = {}

local function exists(dir, path)
  return fs.stat(dir .. "/" .. path)
end

local denials = { "except", "excluding", "but not", "other than", "apart from", "besides", "not", "never", "don't",
  "read%-only",
  "off[ -]limits", "cannot" }
local grants = { "modify", "change", "edit", "optimi[sz]e", "rewrite", "improve", "evolve" }

local function says(text, words)
  for _, word in ipairs(words) do
    local at = text:find("%f[%a]" .. word)
    if at then return at end
  end
end

-- A path of the project for a rule; or nil, and a reason if the word looks like a path.
local function path_of(word, dir)
  local path = word:gsub("^%./", ""):gsub("[,;:]+$", "")
  if path:sub(1, 1) == "/" then return nil, "is absolute" end
  if ("/" .. path .. "/"):find("/../", 1, true) then return nil, "leaves it ('..')" end
  if path == "" or path:sub(1, 1) == "-" or path:find("[%c`]") then return nil end
  if path:find("[%s<>|&;$(){}\"'!]") and not exists(dir, path) then return nil end
  return path
end

-- The words in backquotes from position on with only commas and "and" between them; and where they end.
local function run_of(text, position, denied, into)
  while true do
    local word, after = text:match("^`([^`]+)`()", position)
    if not word then return position end
    into[#into + 1] = { word = word, denied = denied, quoted = true }
    local between = text:match("^[%s,;&+/*_]*()", after)
    local joined = text:match("^and[%s*_]+()", between) or text:match("^or[%s*_]+()", between) or between
    if text:sub(joined, joined) ~= "`" then return after end
    position = joined
  end
end

-- The files that an item or a line names.
local function words_of(text, is_item)
  local found = {}
  local first = text:find("`", 1, true)
  if not first then
    local word = is_item and text:match("^%*?%*?(%S+)")
    return word and { { word = word } } or {}
  end
  local after = run_of(text, first, says(text:sub(1, first - 1):lower(), denials) ~= nil, found)
  local rest = text:sub(after)
  local exception = says(rest:lower(), denials)
  local again = exception and rest:find("`", exception, true)
  local count = #found
  if again then run_of(rest, again, true, found) end
  local excepted = table.move(found, count + 1, #found, 1, {})
  for index, said in ipairs(found) do said.exception, said.excepted = index > count, #found > count and excepted end
  return found
end

local Entries = {}
Entries.__index = Entries

-- The globs of a path in usual notation, where "**/" is any number of folders; in apsis's rules a single * crosses "/".
local function globs_of(path)
  local prefix, rest = path:match("^(.-)%*%*/(.*)$")
  if not prefix or prefix ~= "" and prefix:sub(-1) ~= "/" then return { path } end
  if rest:sub(1, 1) == "*" then return globs_of(prefix .. rest) end
  return { prefix .. rest, prefix .. "*/" .. rest }
end

function Entries:put(path, mode, number, excepted)
  local key = path .. "\0" .. mode
  if not self.seen[key] then
    self[#self + 1] = { path = path, mode = mode, number = number, excepted = excepted or nil }
  end
  self.seen[key] = true
end

function Entries:add(said, mode, number)
  if said.exception and mode == "read_only" then return end -- "do not modify A other than B" says nothing about B
  local path, reason = path_of(said.word, self.dir)
  if reason and (said.quoted or said.word:find("%w")) then
    self.refused[#self.refused + 1] = { word = said.word, number = number, reason = reason }
  end
  local stat = path and exists(self.dir, path)
  local fits = path and (stat or path:find("[/*]") or path:find("%.%w+$") or said.quoted and path:find("%.%w"))
  if not fits then
    if said.quoted and not reason then self.unread[#self.unread + 1] = { word = said.word, number = number } end
    return
  end
  if stat and stat.type == "directory" then path = path:gsub("/+$", "") .. "/**" end
  local glob = path:find("[*?]") ~= nil
  mode = said.denied and "read_only" or mode
  for _, rule in ipairs(glob and globs_of(path) or { (path:gsub("[%[]", "[%0]")) }) do
    self:put(rule, mode, number, mode == "read_only" and said.excepted)
  end
  self.writable = self.writable or mode == "writable"
  if mode == "writable" and not glob and not stat then
    self.missing[#self.missing + 1] = { path = path, number = number }
  end
end

local function starts_alike(one, other)
  local first, second = one:match("^[^*?%[]*"), other:match("^[^*?%[]*")
  return first:sub(1, #second) == second or second:sub(1, #first) == first
end

-- Whether a glob is all of a folder that one of the words names, by its whole path or by the end of it.
local function is_one_of(glob, words)
  for _, said in ipairs(words) do
    local folder = "/" .. said.word:gsub("^%./", ""):gsub("/?%**$", "") .. "/**"
    if ("/" .. glob):sub(-#folder) == folder then return true end
  end
end

-- "Do not modify A other than B" forbids nothing that no rule allows; a rule for A would forbid B, for in a scope what
-- is read_only comes first. It stays if a glob allows what might be in A and is not B.
function Entries:without_excepted()
  local function allowed(rule)
    for _, entry in ipairs(self) do
      local path = entry.path
      if entry.mode == "writable" and path:find("[*?]") and starts_alike(path, rule.path)
        and not is_one_of(path, rule.excepted) then return true end
    end
  end
  for index = #self, 1, -1 do
    local entry = self[index]
    if entry.excepted and not allowed(entry) then table.remove(self, index) end
    entry.excepted = nil
  end
  return self
end

-- Whether a line that is no item makes the following files writable or read_only.
local function mode_after(lower, mode)
  if says(lower, denials) then return "read_only" end
  return says(lower, grants) and "writable" or mode
end

-- The entries of a section's lines (from prose.lua), a list of { path, mode, number } with the fields writable (whether
-- one is), missing (plain paths that do not exist: { path, number }), refused (paths that lead out: { word, number,
-- reason }) and unread (backquoted words that are no path: { word, number }). dir: the paths' base.
function target.entries(lines, dir)
  local self = setmetatable({ dir = dir, seen = {}, missing = {}, refused = {}, unread = {} }, Entries)
  local mode = "writable"
  for _, line in ipairs(lines) do
    local text = line.text
    local item = text:match("^%s*[-*+]%s+(.+)$") or text:match("^%s*%d+[.)]%s+(.+)$")
    local lower = text:lower()
    if not item and lower:find("%S") then mode = mode_after(lower:gsub("`[^`]*`", ""), mode) end
    local told = item and item:gsub("^%[[ xX]%]%s+", "")
    local sentence = not item and (says(lower, grants) or lower:find("^%s*`[^`]+`%s*$")) and text
    for _, said in ipairs(words_of(told or sentence or "", item ~= nil)) do self:add(said, mode, line.number) end
    for index, path in ipairs(line.fence and line.fence.body or {}) do
      local word = path:match("^%s*[-*+]?%s*(%S+)%s*$")
      if word then self:add({ word = word }, mode, line.number + index) end
    end
  end
  return self:without_excepted()
end

return target
