-- plain: a text of somebody else's, safe for a terminal: what would control it becomes "?". Newlines and tabs stay.
local plain = {}

-- Marks that make a terminal show text in another order than it has, and that end a line, as UTF-8; replace(mark) ->
-- what stands instead.
function plain.without_marks(text, replace)
  return (text:gsub("\xE2[\x80\x81][\x80-\xBF]", function(character)
    local code = utf8.codepoint(character)
    local reorders = code == 0x200E or code == 0x200F or code >= 0x2028 and code <= 0x202E
      or code >= 0x2066 and code <= 0x2069
    return reorders and replace(code) or nil
  end):gsub("\xD8\x9C", function() return replace(0x61C) end))
end

local function escaped(code) return ("\\u%04x"):format(code) end

-- A JSON text with those marks, C1 controls and DEL, which stand in its strings only, written as escapes.
function plain.json(text)
  text = text:gsub("\xC2([\x80-\x9F])", function(byte) return escaped(byte:byte()) end):gsub("\127", "\\u007f")
  return plain.without_marks(text, escaped)
end

local function named(code) return ("<U+%04X>"):format(code) end

-- A text of UTF-8 with those marks named: <U+202E>.
function plain.visible(text)
  return plain.without_marks(text, named)
end

local function question() return "?" end

-- Also bytes that are not UTF-8, which some terminals take for control characters.
function plain.text(text)
  text = text:gsub("[%z\1-\8\11-\31\127]", "?")
  if utf8.len(text) == #text then return text end -- ASCII
  text = text:gsub("\xC2[\x80-\x9F]", "?")
  if not utf8.len(text) then return (text:gsub("[\x80-\xFF]", "?")) end
  return plain.without_marks(text, question)
end

return plain
