-- screen: a terminal filled with rows. A row is a text or a list of { text, colour }. Whatever a text has in it, only
-- what is written here controls the terminal. Writes only the rows that have changed.
local columns = require "apsis.cli.columns"
local host = require "apsis.host"
local plain = require "apsis.project.plain"
local terminal = require "apsis.cli.terminal"
local raw = require "apsis.terminal"

local screen = {}

local Screen = {}
Screen.__index = Screen

-- A second screen, no cursor, and no line goes on in the next row.
local BEGIN <const>, END <const> = "\27[?1049h\27[?25l\27[?7l\27[2J", "\27[?7h\27[?25h\27[?1049l"

-- The screen, which is to be closed | nil, message.
function screen.open()
  local held, message = raw.raw(0)
  if not held then return nil, message end
  io.stdout:setvbuf "full"
  io.stdout:write(BEGIN)
  return setmetatable({ held = held, drawn = {} }, Screen)
end

-- The terminal as it was before.
function Screen:close()
  if not self.held then return end
  io.stdout:write(END)
  io.stdout:flush()
  self.held:close()
  self.held = nil
end

Screen.__close = Screen.close

-- Columns and rows.
function Screen:size()
  local width, height = host.columns(1)
  return width or 80, height and height > 0 and height or 24
end

-- Draws all rows again at the next time: something else may have written.
function Screen:forget() self.drawn, self.width = {}, nil end

local function safe(text)
  return plain.text(text:gsub("[\t\r\n]", " "))
end

-- A row as text of at most `width` columns.
function screen.compose(row, width)
  local parts, left = {}, width
  for _, span in ipairs(type(row) == "table" and row or { { row } }) do
    local text = columns.cut(safe(span[1]), left)
    left = left - columns.of(text)
    parts[#parts + 1] = terminal.paint(text, span[2])
    if left <= 0 then break end
  end
  return table.concat(parts)
end

function Screen:draw(rows)
  local width, height = self:size()
  local parts = {}
  if width ~= self.width or height ~= self.height then
    parts[1], self.drawn, self.width, self.height = "\27[2J", {}, width, height
  end
  for at = 1, height do
    local text = screen.compose(rows[at] or "", width)
    if text ~= (self.drawn[at] or "") then
      parts[#parts + 1] = ("\27[%d;1H\27[2K%s"):format(at, text)
      self.drawn[at] = text
    end
  end
  if #parts == 0 then return true end
  return io.stdout:write(table.concat(parts)) and io.stdout:flush()
end

return screen
