-- plot: a curve as rows of a screen: the best so far as a line, candidates as dots, in braille's dots or in ASCII.
local progress = require "apsis.cli.progress"

local plot = {}

local LABEL <const> = 10 -- columns of the values at the left
local bits = { { 0x01, 0x02, 0x04, 0x40 }, { 0x08, 0x10, 0x20, 0x80 } } -- of a braille character, by x and y
local colours = { kept = "green", best = "cyan", other = "dim" }
local letters = { kept = "*", best = "-", other = "." }

local Canvas = {}
Canvas.__index = Canvas

local function canvas(columns, rows, fine)
  return setmetatable({ columns = columns, rows = rows, fine = fine, width = columns * (fine and 2 or 1),
    height = rows * (fine and 4 or 1), cells = {} }, Canvas)
end

local rank = { other = 1, best = 2, kept = 3 }

-- Sets a dot, from the top left; what is of a higher rank gives the cell its colour.
function Canvas:dot(x, y, what)
  local row, column, bit = y, x, 1
  if self.fine then row, column, bit = y // 4, x // 2, bits[x % 2 + 1][y % 4 + 1] end
  local cells = self.cells[row]
  if not cells then
    cells = { mask = {}, what = {}, filled = {} }
    self.cells[row] = cells
  end
  local before = cells.what[column]
  if not before then cells.filled[#cells.filled + 1] = column end
  if not before or rank[what] > rank[before] then cells.what[column] = what end
  cells.mask[column] = (cells.mask[column] or 0) | bit
end

-- The spans of a row.
function Canvas:row(at)
  local spans, cells, column = {}, self.cells[at], 0
  if not cells then return spans end
  table.sort(cells.filled)
  for _, filled in ipairs(cells.filled) do
    local what, last = cells.what[filled], spans[#spans]
    local text = self.fine and utf8.char(0x2800 + cells.mask[filled]) or letters[what]
    local gap = (" "):rep(filled - column)
    if last and last[2] == colours[what] then last[1] = last[1] .. gap .. text
    else spans[#spans + 1] = { gap .. text, colours[what] } end
    column = filled + 1
  end
  return spans
end

-- The best so far: steps from point to point.
local function draw_best(drawn, points, x, y)
  local from_x, from_y
  for index, point in ipairs(points) do
    if point.best then
      local to_x, to_y = x(index), y(point.best)
      for column = from_x or to_x, to_x do drawn:dot(column, from_y or to_y, "best") end
      for row = math.min(from_y or to_y, to_y), math.max(from_y or to_y, to_y) do drawn:dot(to_x, row, "best") end
      from_x, from_y = to_x, to_y
    end
  end
end

local function draw_candidates(drawn, points, x, y)
  for index, point in ipairs(points) do
    local column = x(index)
    local function mark(number, what)
      local row = number and y(number)
      if row and row >= 0 and row < drawn.height then drawn:dot(column, row, what) end
    end
    mark(point.last, "other")
    if point.low ~= point.high then
      mark(point.low, "other")
      mark(point.high, "other")
    end
    mark(point.kept, "kept")
  end
end

local function label(at, rows, low, high)
  local middle = at == (rows - 1) // 2 and (low + high) / 2
  local number = low == high and middle or low < high and (at == 0 and high or at == rows - 1 and low or rows > 6
    and middle)
  return ("%" .. LABEL .. "s "):format(number and progress.number(number):sub(1, LABEL) or "")
end

local function draw(curve, width, rows, fine)
  local range, points = curve:range(), curve:points()
  if not range or rows < 2 or width <= LABEL + 4 then return {} end
  local drawn, count = canvas(width - LABEL - 1, rows, fine), #points
  local low, high = range.low, range.high
  local function x(index) return (index - 1) * (drawn.width - 1) // math.max(count - 1, 1) end
  local function y(number)
    if high == low then return drawn.height // 2 end
    return math.floor((high - number) / (high - low) * (drawn.height - 1) + 0.5)
  end
  draw_candidates(drawn, points, x, y)
  draw_best(drawn, points, x, y)
  local list = {}
  for at = 0, rows - 1 do
    local spans = drawn:row(at)
    table.insert(spans, 1, { label(at, rows, low, high), "dim" })
    list[at + 1] = spans
  end
  return list
end

-- The rows of a curve, `rows` of them. fine: the terminal has braille. They are drawn again where there is a new point
-- or a new best: in a long run not for each line.
function plot.rows(curve, width, rows, fine)
  local points = curve:points()
  local last = points[#points] or {}
  local key = ("%d %d %d %s %s %s"):format(#points, width, rows, fine, last.best, last.kept)
  if key ~= curve.key then curve.key, curve.rows = key, draw(curve, width, rows, fine) end
  return table.move(curve.rows, 1, #curve.rows, 1, {})
end

return plot
