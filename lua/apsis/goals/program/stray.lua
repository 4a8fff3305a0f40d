-- stray: finds front matter that is not read, because it is below a heading or behind an invisible character, and
-- explains the fix: a program that silently lost its direction or schedule would do the wrong thing for days. Only
-- reads text. Called by file.lua.
local front = require "apsis.goals.program.front"

local stray = {}

local LONGEST = 40 -- lines between the two lines of ---

-- Invisible characters, and their replacements.
local invisible = { { "\u{FEFF}", "U+FEFF", "" }, { "\u{A0}", "U+00A0", " " }, { "\u{200B}", "U+200B", "" },
  { "\u{200C}", "U+200C", "" }, { "\u{200D}", "U+200D", "" }, { "\u{2060}", "U+2060", "" }, { "\u{AD}", "U+00AD", "" } }

local function seen(text)
  if not text:find("[\xC2\xE2\xEF]") then return text end
  for _, one in ipairs(invisible) do text = text:gsub(one[1], one[3]) end
  return text
end

local function hidden_in(text)
  for _, one in ipairs(invisible) do
    if text:find(one[1], 1, true) then return one[2] end
  end
end

local function is_rule(text)
  return text:find("^%s*%-%-%-[-%s]*$") or text:find("^%s*%-%-%-+%s+#")
end

local function key_of(text)
  return (text .. " "):match("^ ? ? ?[\"']?([%w_-]+)[\"']?[ \t]*:[ \t]")
end

-- Whether a line may be between keys: empty, a comment, or part of the key above.
local function continues(text)
  return text:find("^%s*$") or text:find("^#%f[^#]") or text:find("^[ \t]") or text:find("^[-%]}] ?")
end

-- The first known key of the block that the rule at index opens; nil if it opens none.
local function block_key(texts, index)
  local known
  for at = index + 1, math.min(index + LONGEST + 1, #texts) do
    local text = texts[at]
    if is_rule(text) or text:find("^%s*%.%.%.%s*$") then return known end
    local key = key_of(text)
    if key then known = known or front.knows(key) and key or nil
    elseif not continues(text) then return nil end
  end
end

-- The visible text of the lines; a line of a fence is "```", which is never part of a block.
local function texts_of(document)
  local texts = {}
  for index, line in ipairs(document.lines) do texts[index] = (line.code or line.fence) and "```" or seen(line.text) end
  return texts
end

-- Why the rule at index starts no front matter, and the fix.
local function cause(texts, raw, index, number, has_front)
  local above
  for at = 1, index - 1 do above = above or texts[at]:find("%S") and at end
  if above or has_front then return "move it to the top of the file; only HTML comments may be above it" end
  for at = 1, index do
    local what = hidden_in(raw[at])
    if what then return ("line %d has an invisible character (%s): remove it"):format(number - index + at, what) end
  end
  if not raw[index]:find("^%-%-%-[ \t]*$") then return "its first line must be exactly ---" end
  return "only HTML comments may be above it; remove the empty line"
end

local function raw_lines(text)
  local list = {}
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do list[#list + 1] = line:gsub("\r$", "") end
  return list
end

-- The line of front matter that is not read, and the message; nil if there is none. document: the program's text,
-- scanned; has_front: whether there is front matter at the top.
function stray.find(document, text, has_front)
  local texts = texts_of(document)
  for index, seen_text in ipairs(texts) do
    local number = document.lines[index].number
    local key = is_rule(seen_text) and block_key(texts, index)
    if key then
      return number, ("front matter: is not read here (%s); %s"):format(key,
        cause(texts, raw_lines(text), index, number, has_front))
    end
    key = key_of((seen_text:gsub("^%-%-%-+[ \t]+", "")))
    if key and front.matters(key) then
      return number, ("%s: is not read here, outside of front matter; put it between two lines of --- at the top of "
        .. "the file (or, if it is prose, in backquotes)"):format(key)
    end
  end
end

return stray
