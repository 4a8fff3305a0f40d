-- edit/elision: lines that stand for text which an answer leaves out, such as "# ... rest of the file unchanged ...":
-- taken for the text itself they would delete what they stand for. Pure. Called by edit.
local editline = require "apsis.edit.line"

local elision = {}

local signs = { "^#+", "^//+", "^/%*+", "^%-%-+", "^;+", "^%%+", "^<!%-%-+", "^%*+" }

local words = { "%f[%w]rest%f[%W]", "unchanged", "as before", "existing", "omitted", "more bytes",
  "%f[%w]remain", "other code", "other function", "other method", "previous code", "code here" }

local stays = { "unchanged", "the same", "as before", "omitted", "%f[%w]stays", "left out" }

local LONGEST = 300 -- bytes of such a line

local function any(text, patterns)
  for _, pattern in ipairs(patterns) do
    if text:find(pattern) then return true end
  end
  return false
end

-- The text of a line that is nothing but a comment, in small letters; nil of any other.
local function comment_of(line)
  for _, sign in ipairs(signs) do
    local _, stop = line:find(sign)
    if stop then return (editline.trim(line:sub(stop + 1)):gsub("%s*%*+/$", ""):gsub("%s*%-%->$", ""):lower()) end
  end
end

-- Whether a line is only that. The second form is the one in which a prompt says that it has cut a text.
function elision.is(line)
  if not line:find("...", 1, true) and not line:find("\u{2026}", 1, true) and not line:find("[Rr]est of")
    and not line:find(" bytes", 1, true) then
    return false
  end
  line = editline.trim(line)
  if #line > LONGEST then return false end
  if line:find("^%(%d+ more bytes%)$") then return true end
  local text = comment_of(line)
  if not text then return false end
  text = text:gsub("\u{2026}", "..."):gsub("^[%[({<]+%s*", ""):gsub("%s*[%])}>]+$", "")
  if text:find("^%d+ more bytes$") then return true end
  if text:find("^%.%.%.") or text:find("%.%.%.$") then return any(text, words) end
  return text:find("^t?h?e? ?rest of ") ~= nil and any(text, stays)
end

-- The first of the lines that is one and that none of the old lines equals; nil if there is none.
function elision.find(lines, old)
  local known
  for _, line in ipairs(lines) do
    if elision.is(line) then
      if not known then
        known = {}
        for _, before in ipairs(old) do known[editline.trim(before)] = true end
      end
      if not known[editline.trim(line)] then return editline.trim(line) end
    end
  end
end

return elision
