-- texts: turns any text into one line of Markdown, and formats numbers and dates.
local editline = require "apsis.edit.line"

local texts = {}

local ELLIPSIS = "..."

texts.trim = editline.trim

-- A line's end: "
-- ", "\r
-- " or none.
function texts.ending(line)
  return line:match "\r?\n$" or ""
end

function texts.width(text)
  return utf8.len(text) or #text
end

-- One line without control characters or an opening comment; invalid UTF-8 becomes "?".
function texts.line(text)
  text = tostring(text):gsub("[%c%s\127]+", " "):gsub("\xC2[\x80-\x9F]", "?")
  if not utf8.len(text) then text = text:gsub("[\x80-\xFF]", "?") end
  return (text:gsub("^ ", ""):gsub(" $", ""):gsub("<!%-%-", "<\\!--"))
end

-- At most width characters of a line, cut at a blank if one is near.
function texts.short(text, width)
  if texts.width(text) <= width then return text end
  local cut = text:sub(1, (utf8.offset(text, width - #ELLIPSIS + 1) or width - #ELLIPSIS + 1) - 1)
  local word = cut:match("^(.*%S)%s+%S*$")
  if word and #word >= #cut / 2 then cut = word end
  return (cut:gsub("[%s,;:.-]+$", "")) .. ELLIPSIS
end

-- The table's numbers can be read back exactly; those of entries are for people.
function texts.number(value)
  return value and ("%.15g"):format(value) or nil
end

function texts.brief(value)
  return ("%.10g"):format(value)
end

local minus = "−" -- U+2212

-- The finite decimal number in a text; nil if it is not one.
function texts.to_number(text)
  text = text:gsub(minus, "-"):gsub("^%+", "")
  local number = text:find "^[-.%d][-+.%deE]*$" and tonumber(text)
  return number and number - number == 0 and number or nil
end

-- "2026-11-22 10:00 UTC" from "2026-11-22T10:00:00Z"; other texts unchanged.
function texts.date(timestamp)
  local day, minute = tostring(timestamp or ""):match("^(%d+%-%d+%-%d+)T(%d+:%d+)")
  return day and ("%s %s UTC"):format(day, minute) or texts.line(timestamp or "at an unknown time")
end

return texts
