-- markdown: what prompts are put together from: sections, lists, and texts cut to a length, never within a character.
local markdown = {}

-- Adds "## title" with its body to parts, nothing if the body is empty.
function markdown.section(parts, title, body)
  if body and body ~= "" then parts[#parts + 1] = "## " .. title .. "\n\n" .. body .. "\n" end
end

-- A list, of at most `limit` lines and one that counts the rest.
function markdown.bullet(list, limit)
  if #list == 0 then return "" end
  local shown = math.min(#list, limit or #list)
  local text = "- " .. table.concat(list, "\n- ", 1, shown)
  return shown < #list and ("%s\n- and %d more"):format(text, #list - shown) or text
end

local function head(text, longest)
  return text:sub(1, (utf8.offset(text, 0, longest + 1) or longest + 1) - 1)
end

function markdown.one_line(text, longest)
  if text:find("%s%s") or text:find("[\t\r\n]") then text = text:gsub("%s+", " ") end
  return #text > longest and head(text, longest) or text
end

function markdown.cut(text, longest)
  if #text <= longest then return text end
  local first = head(text, longest)
  return first .. ("\n(%d more bytes)"):format(#text - #first)
end

-- The beginning and the end of a longer text: an error is at its end.
function markdown.ends_of(text, longest)
  if #text <= longest then return text end
  local first, last = head(text, longest // 2), text:sub(-(longest // 2)):gsub("^[\128-\191]+", "")
  return ("%s\n(%d bytes left out)\n%s"):format(first, #text - #first - #last, last)
end

return markdown
