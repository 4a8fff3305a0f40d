-- prose: Markdown as far as a program's sections need it: lines, headings, fenced blocks, HTML comments (ignored). A
-- fenced line is no heading; a commented line is neither. Only reads text.
local prose = {}

prose.longest = 8192 -- bytes of a line outside of fenced blocks

local Document = {}
Document.__index = Document

-- Removes comments from a line; open: the line of a comment that is still open.
local function without_comments(line, number, open)
  local kept, position = {}, 1
  while position <= #line do
    if open then
      local _, last = line:find("-->", position, true)
      if not last then return table.concat(kept), open end
      open, position = nil, last + 1
    else
      local first = line:find("<!--", position, true)
      kept[#kept + 1] = line:sub(position, (first or 0) - 1)
      if not first then break end
      open, position = number, first + 4
    end
  end
  return table.concat(kept), open
end

local function opening(line)
  local indent, marks, info = line:match("^(%s*)(```+)%s*([^`]*)$")
  if not marks then indent, marks, info = line:match("^(%s*)(~~~+)%s*(.*)$") end
  if not marks then return nil end
  return { mark = marks:sub(1, 1), count = #marks, indent = #indent, language = info:lower():match("^[{.]*([%w_+#-]*)"),
    body = {} }
end

local function closes(fence, line)
  local marks = line:match("^%s*([`~]+)%s*$")
  return marks and #marks >= fence.count and marks == fence.mark:rep(#marks)
end

local function inside(fence, line)
  local blanks = #line:match("^[ \t]*")
  return line:sub(math.min(blanks, fence.indent) + 1)
end

-- Parses text; first: the number of its first line. document.lines: { text, number, rank, title (of a heading), fence
-- (the block that the line opens), code (it is in a block or closes one) }. document.unclosed, document.what: the line
-- of an unclosed "comment" or "fence"; document.long: the first line that is too long.
function prose.scan(text, first)
  local self = setmetatable({ lines = {} }, Document)
  local number, fence, comment = (first or 1) - 1, nil, nil
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do
    number = number + 1
    line = line:gsub("\r$", "")
    local record = { number = number, text = "" }
    if fence then
      record.code = true
      if closes(fence, line) then fence = nil else fence.body[#fence.body + 1] = inside(fence, line) end
    else
      record.text, comment = without_comments(line, number, comment)
      if #record.text > prose.longest then self.long, record.text = self.long or number, "" end
      fence = opening(record.text)
      if fence then fence.number, record.fence, record.text = number, fence, "" end
      local marks, title = record.text:match("^ ? ? ?(#+)%s+(.*)$")
      if marks and #marks <= 6 then record.rank, record.title = #marks, title:match(".*[^%s#]") or "" end
    end
    self.lines[#self.lines + 1] = record
  end
  if fence then self.unclosed, self.what = fence.number, "fence"
  elseif comment then self.unclosed, self.what = comment, "comment" end
  return self
end

local function plain(title)
  return (title:lower():gsub("[*_`]", ""):gsub("[:.]$", ""))
end

-- The section below the heading of that name, to the next of its rank or higher: { number = the heading's, lines, again
-- = the number of another such heading }; or nil.
function Document:section(name)
  local wanted, found, rank = name:lower(), nil, nil
  for _, line in ipairs(self.lines) do
    local named = line.title and plain(line.title) == wanted
    if rank and line.rank and line.rank <= rank then rank = nil end
    if named and not found then
      found, rank = setmetatable({ number = line.number, lines = {} }, Document), line.rank
    elseif named and not rank then
      found.again = found.again or line.number
    elseif rank then
      found.lines[#found.lines + 1] = line
    end
  end
  return found
end

-- The fenced blocks: { number, language, text }.
function Document:fences()
  local list = {}
  for _, line in ipairs(self.lines) do
    local fence = line.fence
    if fence then
      list[#list + 1] = { number = fence.number, language = fence.language, text = table.concat(fence.body, "\n") }
    end
  end
  return list
end

-- The text outside of fenced blocks.
function Document:text()
  local parts = {}
  for index, line in ipairs(self.lines) do parts[index] = line.text end
  return table.concat(parts, "\n")
end

local function phrase(word)
  return "%f[%a]" .. word .. "%f[%A]"
end

-- What precedes "is better" or "are better", by direction.
local words = { lower = { "lower", "smaller", "less", "fewer" }, higher = { "higher", "larger", "greater", "bigger" } }
local said = {}
for way, list in pairs(words) do
  for _, word in ipairs(list) do
    said[#said + 1] = { way = way, pattern = phrase(word .. " is better") }
    said[#said + 1] = { way = way, pattern = phrase(word .. " %a+ are better") }
  end
end

-- The better direction in the text, "higher" or "lower", and the number of its line; nil if it names neither or both.
function Document:direction()
  local way, number
  local text, starts = {}, {}
  local length = 0
  for _, line in ipairs(self.lines) do
    local clean = line.text:lower():gsub("[*_`]", ""):gsub("^%s+", ""):gsub("%s+", " ")
    starts[#starts + 1] = { at = length + 1, number = line.number }
    text[#text + 1] = clean
    length = length + #clean + 1
  end
  local joined = table.concat(text, " ")
  if not joined:find(" better", 1, true) then return nil end
  for _, one in ipairs(said) do
    local at = joined:find(one.pattern)
    if at and joined:sub(at - 1, at - 1) ~= "/" then -- "Lower/Higher is better" names both
      if way and way ~= one.way then return nil end
      way = one.way
      for _, start in ipairs(starts) do
        if start.at <= at then number = start.number end
      end
    end
  end
  return way, number
end

return prose
