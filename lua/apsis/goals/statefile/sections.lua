-- sections: the lines of a state file, and where its headings are. Lines keep their ends, so that unchanged ones are
-- written as read. Code fences and comments hide headings; an unclosed one hides nothing. Knows no row and no
-- experiment. Called by the other files here.
local texts = require "apsis.goals.statefile.texts"

local sections = {}

local LONGEST_TITLE = 200 -- of a heading that can be known

-- The known headings; other characters before and after the words are ignored.
sections.titles = {
  machine = "⚙️ Machine State", info = "📋 Program Info", priorities = "🎯 Current Priorities",
    lessons = "📚 Lessons Learned",
  foreclosed = "🚧 Foreclosed Avenues", directions = "🔭 Future Directions", population = "🧬 Population",
    history = "📊 Iteration History",
}

local key_of = {}

-- "Lessons Learned" of "📚 **Lessons  Learned** (so far):", in lower case.
local function words(title)
  if #title > LONGEST_TITLE then return "" end
  return (title:lower():gsub("%b()%W*$", ""):gsub("^%A+", ""):gsub("%A+$", ""):gsub("%s+", " "))
end

for key, title in pairs(sections.titles) do key_of[words(title)] = key end

-- The lines of a text with their ends; the last one may have none.
function sections.split(text)
  local lines, position = {}, 1
  while position <= #text do
    local stop = text:find("\n", position, true) or #text
    lines[#lines + 1] = text:sub(position, stop)
    position = stop + 1
  end
  return lines
end

function sections.is_blank(line)
  return not line:find "%S"
end

-- Whether a line is a rule: three or more of - * _.
function sections.is_rule(line)
  local bare = line:gsub("%s", "")
  return #bare >= 3 and (bare:find "^%-+$" or bare:find "^%*+$" or bare:find "^_+$") ~= nil
end

-- The line that closes the fence of line `at`, or nil. A failed search is not repeated for a longer fence.
local function fence_end(lines, at, mark, failed)
  local char = mark:sub(1, 1)
  if failed[char] and #mark >= failed[char] then return nil end
  for index = at + 1, #lines do
    local close = lines[index]:match("^ ? ? ?([`~]+)%s*$")
    if close and #close >= #mark and not close:find("[^" .. char .. "]") then return index end
  end
  failed[char] = #mark
end

local function comment_end(lines, at, failed)
  if failed.comment then return nil end
  local _, from = lines[at]:find("<!--", 1, true)
  if lines[at]:find("-->", from + 1, true) then return at end
  for index = at + 1, #lines do
    if lines[index]:find("-->", 1, true) then return index end
  end
  failed.comment = true
end

local function opened_fence(line)
  local mark, rest = line:match("^ ? ? ?(```+)([^\n]*)")
  if mark and not rest:find("`", 1, true) then return mark end
  return line:match("^ ? ? ?(~~~+)")
end

local function heading(line, at)
  local marks, title = line:match("^ ? ? ?(#+)[ \t]+([^\r\n]*)")
  if not marks or #marks > 6 then return nil end
  title = texts.trim(title)
  title = texts.trim(title:match "^(.*)[ \t]#+$" or title)
  return { at = at, level = #marks, title = title, key = key_of[words(title)] }
end

-- The last line of a fence or comment that begins at a line; nil if none does.
local function hidden_end(lines, line, at, found, failed)
  local fence = opened_fence(line)
  local last = fence and fence_end(lines, at, fence, failed)
  if last then
    for index = at, last do found.code[index] = true end
    return last
  end
  last = line:find("^ ? ? ?<!%-%-") and comment_end(lines, at, failed)
  if last and lines[last]:find("%-%->%s*%S") then last = last - 1 end -- what follows it is text
  return last and last >= at and last or nil
end

local marks = { [32] = true, [35] = true, [60] = true, [96] = true, [126] = true } -- blank # < ` ~

-- { headings = list of {at, level, title, key}, hidden = set of lines in fences and comments, code = of those in fences
-- }
function sections.scan(lines)
  local found = { headings = {}, hidden = {}, code = {} }
  local failed, index, count = {}, 1, #lines
  while index <= count do
    local line = lines[index]
    if index == 1 then line = line:gsub("^\u{FEFF}", "") end
    if marks[line:byte()] then
      local last = hidden_end(lines, line, index, found, failed)
      if not last then found.headings[#found.headings + 1] = heading(line, index) end
      for at = index, last or 0 do found.hidden[at] = true end
      index = last or index
    end
    index = index + 1
  end
  return found
end

-- The section of a key: { at, level, first, last, stop }: its heading, its first and last line, and the last line that
-- is neither blank nor a rule (first - 1 if none). nil if there is none; the first of two counts.
function sections.find(doc, key)
  local headings = doc:scan().headings
  for index, head in ipairs(headings) do
    if head.key == key then
      local last, after = #doc.lines, index + 1
      while headings[after] and headings[after].level > head.level and not headings[after].key do after = after + 1 end
      if headings[after] then last = headings[after].at - 1 end
      local stop = last
      while stop > head.at and (sections.is_blank(doc.lines[stop]) or sections.is_rule(doc.lines[stop])) do
        stop = stop - 1
      end
      return { at = head.at, level = head.level, first = head.at + 1, last = last, stop = stop }
    end
  end
end

-- Where a top section goes: the line after the title, or after front matter, or 1.
function sections.below_title(doc)
  local lines, first = doc.lines, doc:scan().headings[1]
  if first and first.level == 1 and not first.key then return first.at + 1 end
  if lines[1] and lines[1]:gsub("^\u{FEFF}", ""):find "^%-%-%-%s*$" and (lines[2] or ""):find "^[%w_-]+:" then
    for index = 2, #lines do
      if lines[index]:find "^%-%-%-%s*$" then return index + 1 end
    end
  end
  return 1
end

-- Adds a section of that key with those lines (without ends), before the section `before` or else at the end.
function sections.add(doc, key, content, before)
  local place = before and sections.find(doc, before)
  local at = place and place.at or #doc.lines + 1
  local made = { "## " .. sections.titles[key], "" }
  table.move(content, 1, #content, 3, made)
  if place then table.move({ "", "---", "" }, 1, 3, #made + 1, made)
  elseif #doc.lines > 0 and not sections.is_blank(doc.lines[#doc.lines]) then table.insert(made, 1, "") end
  doc:splice(at, at - 1, made)
end

-- Whether a line stands for an empty section: "*(none yet)*", "- _(No iterations yet.)_", "- none yet".
function sections.is_stand_in(line)
  if not line:find "^[%s*_+()-]*[Nn][Oo]" then return false end
  local text = texts.trim(line):gsub("^[-*+]%s+", "")
  local inner = text:match("^[*_]+%s*%((.-)%)%s*[*_]+$") or text:match("^%((.-)%)$") or text:match("^[*_](.-)[*_]$")
  local said = (inner or text):lower()
  return said:find "^none yet%W*$" ~= nil or inner ~= nil and (said:find "^none%W*$" or said:find "^no .*yet%W*$"
    or said:find "^no specific priorities") ~= nil
end

return sections
