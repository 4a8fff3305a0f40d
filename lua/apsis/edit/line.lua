-- edit/line: texts as lines: split and joined with each line's own end, searched, shown in a message. Every function
-- is linear in its texts. Knows nothing of blocks, fences or regions. Called by edit and the files beside.
local editline = {}

-- Lines without their ends, and the ends: "\n", "\r\n", or "" for an unterminated last line.
function editline.split(text)
  local lines, ends, position = {}, {}, 1
  while position <= #text do
    local stop = text:find("\n", position, true)
    local last = stop and stop - 1 or #text
    local ending = stop and "\n" or ""
    if stop and last >= position and text:byte(last) == 13 then last, ending = last - 1, "\r\n" end
    lines[#lines + 1], ends[#ends + 1] = text:sub(position, last), ending
    position = (stop or #text) + 1
  end
  return lines, ends
end

function editline.join(lines, ends)
  local parts = {}
  for index = 1, #lines do parts[2 * index - 1], parts[2 * index] = lines[index], ends[index] end
  return table.concat(parts)
end

-- Without the blanks at its end. ("%s+$" would be quadratic for many blanks before a letter.)
function editline.strip(line)
  return line:match("^.*[^ \t\r]") or ""
end

-- Without the blanks at both ends, line ends too. ("^%s*(.-)%s*$" would be quadratic, as "%s+$" is.)
function editline.trim(line)
  local from = line:find("%S")
  return from and line:match("^.*%S", from) or ""
end

-- Without the blanks and line ends at its end.
function editline.trim_end(text)
  return text:match("^.*%S") or ""
end

-- The last line with more than blanks.
function editline.last(text)
  text = editline.trim_end(text)
  return text:match("^.*\n(.*)$") or text
end

local LONGEST_SHOWN = 80

-- In backticks, for a message: one line, no control characters, not long.
function editline.quote(line)
  local text = line:sub(1, LONGEST_SHOWN + 1):gsub("%c", function(char) return char == "\t" and "\\t" or "?" end)
  if #text > LONGEST_SHOWN then
    local cut = LONGEST_SHOWN
    while cut > 0 and (text:byte(cut + 1) or 0) & 0xC0 == 0x80 do cut = cut - 1 end
    text = text:sub(1, cut) .. "..."
  end
  return "`" .. text .. "`"
end

-- For each prefix of wanted: how long the longest shorter prefix is that also ends it (Knuth, Morris, Pratt).
local function borders(wanted)
  local border, k = { 0 }, 0
  for index = 2, #wanted do
    while k > 0 and wanted[k + 1] ~= wanted[index] do k = border[k] end
    if wanted[k + 1] == wanted[index] then k = k + 1 end
    border[index] = k
  end
  return border
end

-- Where wanted (one line or more) occurs in lines: the indices of its first line; and the most of its first lines
-- found together, and the index of the last of them.
function editline.find(lines, wanted)
  local places, border, k, longest, at = {}, borders(wanted), 0, 0, 0
  for index = 1, #lines do
    local line = lines[index]
    while k > 0 and wanted[k + 1] ~= line do k = border[k] end
    if wanted[k + 1] == line then k = k + 1 end
    if k > longest then longest, at = k, index end
    if k == #wanted then
      places[#places + 1] = index - k + 1
      k = border[k]
    end
  end
  return places, longest, at
end

local LONGEST_COMPARED = 200

-- How many bytes two texts share at their beginnings and ends.
local function shared(a, b)
  local most, first, last = math.min(#a, #b, LONGEST_COMPARED), 0, 0
  while first < most and a:byte(first + 1) == b:byte(first + 1) do first = first + 1 end
  while last < most - first and a:byte(-last - 1) == b:byte(-last - 1) do last = last + 1 end
  return first + last
end

-- The index of the line most similar to a missing one; nil if none shares a third of it.
function editline.nearest(lines, wanted)
  local text = editline.trim(wanted)
  local found, most = nil, math.max(1, math.min(#text, LONGEST_COMPARED) // 3)
  for index = 1, #lines do
    local other = editline.trim(lines[index])
    if other == text then return index end
    local score = shared(other, text) - math.abs(#other - #text) // 8
    if score > most then found, most = index, score end
  end
  return found
end

return editline
