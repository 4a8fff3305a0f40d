-- layout: the lab's tables in the terminal's width. If a row is too wide, its name gets a separate line above it; if
-- that is still too wide, columns are left out, and a line below names them. Called by lab_table and lab_notes.
local show = require "apsis.cli.table"

local layout = {}

local WIDTH = 80 -- of prose if there is no terminal
local INDENT = "  "
local MOST_SPARE = 3

-- Prose, broken between words.
function layout.say(text, indent)
  indent = indent or INDENT
  print(indent .. show.wrap(text, (show.width() or WIDTH) - #indent, indent))
end

local function lines_of(columns, rows)
  local head, right, cells = {}, {}, {}
  for index, column in ipairs(columns) do head[index], right[index] = column[1], not column.left end
  for place, row in ipairs(rows) do
    cells[place] = {}
    for index, column in ipairs(columns) do cells[place][index] = column[2](row) end
  end
  return show.columns(head, cells, right)
end

local function widest(lines)
  local width = 0
  for _, line in ipairs(lines) do width = math.max(width, utf8.len(line) or #line) end
  return width
end

local function fits(lines, room)
  return not room or widest(lines) + #INDENT <= room
end

-- Whether whole lines have room.
function layout.fits(columns, rows)
  return fits(lines_of(columns, rows), show.width())
end

-- The columns that name who a line is about, and the others.
local function divided(columns)
  local names, values = {}, {}
  for _, column in ipairs(columns) do
    local list = column.name and names or values
    list[#list + 1] = column
  end
  return names, values
end

-- Lines of the values, each under its name; a name that the line before had too is not repeated.
local function stacked(columns, rows, room)
  local names, values = divided(columns)
  local lines, list, last = lines_of(values, rows), {}, nil
  list[1] = INDENT .. lines[1]
  for place, row in ipairs(rows) do
    local parts = {}
    for index, column in ipairs(names) do parts[index] = column[2](row) end
    local name = table.concat(parts, " against ")
    for line in (name ~= last and show.wrap(name, room - #INDENT, "") or ""):gmatch "[^\n]+" do
      list[#list + 1] = line
    end
    list[#list + 1], last = INDENT .. lines[place + 1], name
  end
  return list
end

-- Columns without those of a place in the order of what can be spared, and the names of these.
local function spared(columns, place, gone)
  local left = {}
  for _, column in ipairs(columns) do
    if column.spare == place then gone[#gone + 1] = column[1] else left[#left + 1] = column end
  end
  return left
end

-- Prints a table. columns: { {head, function(row) -> cell, left = true if it is at the left, name = true if it shows
-- who the line is about, spare = which is left out first} }. The heads that were left out are marked in the set
-- `missing`.
function layout.print(columns, rows, missing)
  local room, gone = show.width(), {}
  local lines = lines_of(columns, rows)
  if not fits(lines, room) then
    lines = stacked(columns, rows, room)
    for place = 1, MOST_SPARE do
      if fits(lines, room) then break end
      columns = spared(columns, place, gone)
      lines = stacked(columns, rows, room)
    end
  end
  for _, line in ipairs(lines) do print(INDENT .. line) end
  for _, head in ipairs(gone) do missing[head] = true end
  if #gone > 0 then layout.say(("(left out, too narrow: %s)"):format(table.concat(gone, ", ")), "    ") end
end

return layout
