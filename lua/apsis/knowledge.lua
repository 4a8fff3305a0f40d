-- knowledge: a user's ideas to try, and which of them journal lines have used. Pure. For strategies.
local editline = require "apsis.edit.line"

local knowledge = {}

-- The given pieces, and the bullets under a heading "Domain knowledge" of a program's text (nil: none).
function knowledge.list(given, program)
  local list = table.move(given, 1, #given, 1, {})
  local section = ("\n" .. (program or "")):match("\n#+[ \t]*[Dd]omain [Kk]nowledge[^\n]*\n(.*)")
  for line in ((section or ""):gsub("\n#.*$", "")):gmatch("[^\n]+") do
    list[#list + 1] = editline.trim_end(line):match("^%s*[-*]%s+(.+)$")
  end
  return list
end

-- Marks in tried[index] the pieces that a line used: by the numbers in its notes.knowledge or by their words in its
-- texts.
function knowledge.mark(list, tried, line)
  if #list == 0 then return end
  for number in tostring((line.notes or {}).knowledge or ""):gmatch("%d+") do tried[tonumber(number)] = true end
  local text = ((line.hypothesis or "") .. "\n" .. (line.description or "")):lower()
  for index, piece in ipairs(list) do
    if text:find(piece:lower(), 1, true) then tried[index] = true end
  end
end

-- The unmarked pieces, each with how to report its use.
function knowledge.untried(list, tried)
  local left = {}
  for index, piece in ipairs(list) do
    if not tried[index] then left[#left + 1] = ("%s (say `ASI knowledge=%d` where you use it)"):format(piece, index) end
  end
  return left
end

-- Appends a text to a list, once; drops the oldest above `most`. Ignores "" and nil.
function knowledge.remember(list, text, most)
  if type(text) ~= "string" or text == "" then return end
  for _, known in ipairs(list) do if known == text then return end end
  list[#list + 1] = text
  if #list > most then table.remove(list, 1) end
end

return knowledge
