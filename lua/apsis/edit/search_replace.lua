-- edit/search_replace: SEARCH/REPLACE blocks: reads them, and whole files in fences, from a model's answer, once and
-- line by line, and applies a block to a text. Guesses nothing; knows which file is meant only by name. Called by edit.
local editline = require "apsis.edit.line"
local editpath = require "apsis.edit.path"
local thoughts = require "apsis.edit.thoughts"

local search_replace = {}

local Reader = {}
Reader.__index = Reader

function Reader:next()
  local from = self.position
  if from > #self.text then return nil end
  local stop = self.text:find("\n", from, true) or #self.text + 1
  self.position, self.number = stop + 1, self.number + 1
  local last = stop - 1
  if last >= from and self.text:byte(last) == 13 then last = last - 1 end
  return self.text:sub(from, last)
end

function Reader:back_to(position, number)
  self.position, self.number = position, number
end

-- A reader that starts after the model's written thoughts, if any: drafts of blocks in them do not count. nil, message.
local function reader_of(answer)
  local start, tag = thoughts.stop(answer)
  if not start then return nil, "the answer is cut off: it ends inside its " .. tag end
  local _, passed = answer:sub(1, start - 1):gsub("\n", "")
  return setmetatable({ text = answer, start = start, position = start, number = passed }, Reader)
end

-- What a line is among blocks: "opening" (and the text after SEARCH), "divider" or "ending"; the number of its signs,
-- its indentation.
local function mark_of(line)
  local indent, signs, rest = line:match("^([ \t]*)([<=>]+)(.*)$")
  if not signs or #signs < 5 or #signs > 9 or signs ~= signs:sub(1, 1):rep(#signs) then return nil end
  local sign, word = signs:sub(1, 1), editline.trim(rest)
  if sign == "=" and word == "" then return "divider", #signs, indent end
  if sign == ">" and (word == "REPLACE" or word == "REPLACE:") then return "ending", #signs, indent end
  local after = sign == "<" and word:match("^SEARCH%f[^%w_](.*)$")
  if after then return "opening", #signs, indent, editline.trim(after):match("^:?%s*(.*)$") end
end

-- A fence's line: its sign, the number of signs, and the info after them.
local function fence_of(line)
  local signs, info = line:match("^ ? ? ?(```+)([^`]*)$")
  if not signs then signs, info = line:match("^ ? ? ?(~~~+)(.*)$") end
  if signs then return { sign = signs:sub(1, 1), length = #signs, info = editline.trim(info) } end
end

local function closes(fence, other)
  return other and other.sign == fence.sign and other.length >= fence.length and other.info == ""
end

local function cut_off(number, length)
  return nil, ("the block of line %d of the answer is cut off: no %s REPLACE line follows"):format(number,
    (">"):rep(length))
end

-- The lines from an opening to its ending, and the dividers among them. An ending (or the next opening) of the same
-- length counts first, so a block with longer markers may contain shorter ones; nil, message.
local function block_lines(reader, number, length)
  local lines, dividers, other = {}, {}, nil
  while true do
    local line = reader:next()
    local kind, signs, indent = mark_of(line or "")
    if kind == "ending" and signs >= length then return lines, dividers, #lines end
    if kind == "ending" and not other then
      other = { count = #lines, position = reader.position, number = reader.number }
    end
    if not line or kind == "opening" and signs == length then
      if not other then return cut_off(number, length) end
      reader:back_to(other.position, other.number)
      return lines, dividers, other.count
    end
    lines[#lines + 1] = line
    if kind == "divider" then
      dividers[#dividers + 1] = { at = #lines, length = signs, indent = indent, number = reader.number }
    end
  end
end

-- The one divider among the first `count` lines: those as long as the opening count first.
local function divider_of(dividers, count, number, length, indent)
  local exact, others = {}, {}
  for _, divider in ipairs(dividers) do
    if divider.at <= count and divider.indent == indent then
      local list = divider.length == length and exact or others
      list[#list + 1] = divider
    end
  end
  local list = #exact > 0 and exact or others
  if #list == 1 then return list[1] end
  if #list == 0 then
    return nil, ("the block of line %d of the answer has no ======= line between SEARCH and REPLACE"):format(number)
  end
  return nil, ("the block of line %d of the answer has two dividers, at lines %d and %d: around a text that holds "
    .. "such lines, use longer "
    .. "markers (9 signs)"):format(number, list[1].number, list[2].number)
end

-- The block whose opening was just read: { kind, line, search, replace }, or nil, message.
local function read_block(reader, length, indent)
  local number = reader.number
  local lines, dividers, count = block_lines(reader, number, length)
  if not lines then return nil, dividers end
  local divider, message = divider_of(dividers, count, number, length, indent)
  if not divider then return nil, message end
  return { kind = "block", line = number, search = table.move(lines, 1, divider.at - 1, 1, {}),
    replace = table.move(lines, divider.at + 1, count, 1, {}) }
end

-- The body of the fence just opened, and whether it was closed; nil if it contains blocks, which are read instead. A
-- fence with an info inside it opens another one, with its own end.
local function fence_body(reader, fence, holds_markers)
  local lines, nested, blank = {}, 0, true
  local position, number = reader.position, reader.number
  while true do
    local line = reader:next()
    if not line then return lines, false end
    if mark_of(line) == "opening" and (blank or not holds_markers) then
      reader:back_to(position, number)
      return nil
    end
    local inner = fence_of(line)
    if closes(fence, inner) then
      if nested == 0 then return lines, true end
      nested = nested - 1
    elseif inner and inner.sign == fence.sign and inner.length >= fence.length then
      nested = nested + 1
    end
    blank = blank and not line:find("%S")
    lines[#lines + 1] = line
  end
end

local function has_opening(text)
  return text:find("^[ \t]*<<<<<+ ?SEARCH") ~= nil or text:find("\n[ \t]*<<<<<+ ?SEARCH") ~= nil
end

-- The state so far. before: the previous line with its number, if it may give a path; container: the fence around the
-- current blocks; last_path: the path of the last block, if only fences have followed.
local Reading = {}
Reading.__index = Reading

-- The path in the line before, if it is close.
function Reading:path_before()
  if self.before and self.reader.number - self.before_number <= 3 then
    return editpath.of_line(self.before, self.known)
  end
end

local MOST_PIECES = 1000

local function add(list, piece)
  if #list >= MOST_PIECES then return nil, ("the answer has more than %d edits"):format(MOST_PIECES) end
  list[#list + 1] = piece
  return true
end

function Reading:block(length, indent, said)
  local path = said ~= "" and editpath.of_line(said, self.known) or self:path_before()
    or self.container and self.container.path or self.last_path
  local block, message = read_block(self.reader, length, indent)
  if not block then return nil, message end
  block.path, self.last_path, self.before = path, path, nil
  return add(self.pieces, block)
end

-- Whether the file itself has lines that open a block: then its whole text has them too.
function Reading:holds_markers(path)
  local text = path and self.files[path]
  if not text then return false end
  if self.marked[path] == nil then self.marked[path] = has_opening(text) end
  return self.marked[path]
end

function Reading:fence(fence)
  local line = self.reader.number
  local path = editpath.of_info(fence.info, self.known) or self:path_before()
  local lines, closed = fence_body(self.reader, fence, self:holds_markers(path))
  self.before = nil
  if not lines then
    fence.path, self.container = path, fence
    return true
  end
  self.last_path = nil
  local piece = { kind = "whole", line = line, path = path, info = fence.info, lines = lines, closed = closed }
  if path and editpath.fits(fence.info, path) then
    self.last_whole, self.last_fence = piece, fence
    return add(self.pieces, piece)
  end
  if self.last_whole and fence.info == "" and fence.length >= self.last_fence.length
    and fence.sign == self.last_fence.sign then
    self.last_whole.bare_after = self.last_whole.bare_after or line
  end
  return add(self.loose, piece)
end

function Reading:prose(line)
  if line:find("%S") then self.before, self.before_number, self.last_path = line, self.reader.number, nil end
  return true
end

-- One line and what belongs to it. true, or nil, message.
function Reading:take(line)
  if line == "" then return true end
  if not line:find("^[ \t]*[<=>`~]") then return self:prose(line) end
  local kind, length, indent, said = mark_of(line)
  if kind == "opening" then return self:block(length, indent, said) end
  if kind == "ending" then
    return nil, ("line %d of the answer has REPLACE without a SEARCH before it"):format(self.reader.number)
  end
  local fence = fence_of(line)
  if self.container then
    if closes(self.container, fence) then
      self.container, self.before = nil, nil
      return true
    end
  elseif fence then
    return self:fence(fence)
  end
  return self:prose(line)
end

-- read(answer, files) -> pieces, loose, first line read | nil, message. pieces, in order: { kind = "block", line,
-- path?, search, replace } and { kind = "whole", line, path, info, lines, closed, bare_after }; loose: fences like
-- the latter without a path, or with one that does not fit. bare_after: the line of a following fence without info,
-- which might have been inside.
function search_replace.read(answer, files)
  local reader, message = reader_of(answer)
  if not reader then return nil, message end
  local self = setmetatable({ reader = reader, files = files, known = editpath.known(files), marked = {}, pieces = {},
    loose = {} }, Reading)
  for line in reader.next, reader do
    local ok
    ok, message = self:take(line)
    if not ok then return nil, message end
  end
  return self.pieces, self.loose, reader.start
end

-- A fence longer than any in text, around it: how a file is shown in a prompt.
function search_replace.fence(text, info)
  local most = 2
  if text:find("```", 1, true) then
    for signs in text:gmatch("`+") do most = math.max(most, #signs) end
  end
  local signs = ("`"):rep(most + 1)
  return signs .. (info or "") .. "\n" .. text .. ((text == "" or text:sub(-1) == "\n") and "" or "\n") .. signs
end

-- ---- applying ----

function search_replace.is_blank(lines)
  for index = 1, #lines do
    if lines[index]:find("%S") then return false end
  end
  return true
end

local function stripped(lines)
  local result = {}
  for index = 1, #lines do result[index] = editline.strip(lines[index]) end
  return result
end

-- A text being edited, as lines: search_replace.text(text).
local Text = {}
Text.__index = Text

function search_replace.text(text)
  local lines, ends = editline.split(text)
  local self = setmetatable({ lines = lines, ends = ends, ending = ends[1] ~= "" and ends[1] or "\n" }, Text)
  if ends[#ends] == "" then -- put back by Text:whole
    self.unended, ends[#ends] = true, ends[#ends - 1] or "\n"
  end
  return self
end

function Text:whole()
  local last = #self.ends
  if self.unended and last > 0 then self.ends[last] = "" end
  local text = editline.join(self.lines, self.ends)
  if self.unended and last > 0 then self.ends[last] = self.ending end
  return text
end

-- The lines where search begins; if it does not match exactly, without blanks at the ends of lines. Also how much of
-- its beginning was found, and where that ended.
function Text:find(search)
  local places = editline.find(self.lines, search)
  if #places > 0 then return places end
  self.bare = self.bare or stripped(self.lines)
  return editline.find(self.bare, stripped(search))
end

-- Replaces search, found at `at`, by replace. Lines that both begin or end with keep the file's bytes.
function Text:put(at, search, replace)
  local first, last = 0, 0
  local most = math.min(#search, #replace)
  while first < most and search[first + 1] == replace[first + 1] do first = first + 1 end
  while last < most - first and search[#search - last] == replace[#replace - last] do last = last + 1 end
  local from, gone, come = at + first, #search - first - last, #replace - first - last
  local ending = self.ends[math.min(from, #self.ends)] or self.ending
  local count = #self.lines
  for _, list in ipairs { self.lines, self.ends } do
    table.move(list, from + gone, count, from + come)
    for index = count + come - gone + 1, count do list[index] = nil end
  end
  for index = 0, come - 1 do
    self.lines[from + index], self.ends[from + index] = replace[first + 1 + index], ending
  end
  self.bare = nil
end

-- Why search is not in the text: the first line that differs.
function Text:nearest(search, longest, at)
  local lines = self.lines
  if longest > 0 then
    local there = lines[at + 1] and ("line %d is %s"):format(at + 1, editline.quote(lines[at + 1]))
      or "the file ends there"
    return ("its first %d line(s) end at line %d, but then %s where SEARCH has %s"):format(longest, at, there,
      editline.quote(search[longest + 1]))
  end
  local first = 1
  while not search[first]:find("%S") do first = first + 1 end
  local index = editline.nearest(lines, search[first])
  if not index then return ("nothing is like its first line, %s"):format(editline.quote(search[first])) end
  local only_blanks = editline.trim(lines[index]) == editline.trim(search[first])
  return ("%s line %d, %s, where SEARCH has %s"):format(only_blanks and "the indentation differs at" or "nearest is",
    index, editline.quote(lines[index]), editline.quote(search[first]))
end

-- Applies one block. true, or nil, message, code; the message continues the file's name.
function Text:replace(search, replace)
  local places, longest, at = self:find(search)
  if #places == 1 then
    self:put(places[1], search, replace)
    return true
  elseif #places == 0 then
    return nil, "SEARCH is not in the file: " .. self:nearest(search, longest, at) .. "; copy the lines exactly",
      "ENOMATCH"
  end
  local shown = table.concat(places, ", ", 1, math.min(#places, 5)) .. (#places > 5 and ", ..." or "")
  local more = "SEARCH is in the file %d times, at lines %s: add lines around it until it is there once"
  return nil, more:format(#places, shown), "EAMBIGUOUS"
end

return search_replace
