-- edit/elision: lines that stand for text which an answer leaves out, such as "# ... rest of the file unchanged ...":
-- taken for the text itself they would delete what they stand for. Pure. Called by edit.
local editline = require "apsis.edit.line"

local elision = {}

local signs = { "^#+", "^//+", "^/%*+", "^%-%-+", "^;+", "^%%+", "^<!%-%-+", "^%*+" }

local words = { "%f[%w]rest%f[%W]", "unchanged", "as before", "existing", "omitted", "more bytes",
  "%f[%w]remain", "other code", "other function", "other method", "previous code", "code here" }

local stays = { "unchanged", "the same", "as before", "omitted", "%f[%w]stays", "left out" }

local function set(text)
  local found = {}
  for word in text:gmatch "%a+" do found[word] = true end
  return found
end

local leaves_out <const> = set [[rest remaining remainder unchanged unmodified untouched omitted snip snipped etc
  truncated]]

local beside <const> = set [[the of is are and as for it in here this that above below before brevity stays stay remains
  remain same original existing other previous left out code file program script module class classes function functions
  method methods helper helpers definition definitions implementation body logic section part parts lines content]]

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

-- Whether a comment has no word but those with which people say that something stays: "rest of the code",
-- "unchanged helpers", "etc.".
local function says_no_more(text)
  local left_out = false
  for word in text:gmatch "[^%s%p]+" do
    if leaves_out[word] then left_out = true elseif not beside[word] then return false end
  end
  return left_out
end

-- Whether a line is only that. "more bytes" is how a prompt says that it has cut a text.
function elision.is(line)
  if line:find "^%.%.%.%s*$" then return true end
  line = editline.trim(line)
  if #line > LONGEST then return false end
  if line:find("^%(%d[%d,]* more bytes%)$") then return true end
  local text = comment_of(line)
  if not text then return false end
  text = text:gsub("\u{2026}", "..."):gsub("^[%[({<]+%s*", ""):gsub("%s*[%])}>]+$", "")
  if text:find("^%d[%d,]* more bytes$") or says_no_more(text) then return true end
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
