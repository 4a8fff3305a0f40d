-- table: output of the reading commands: aligned columns, numbers, safe text. Text of providers and verifiers may hold
-- escape sequences, so none of it reaches a terminal unescaped. Prints nothing itself.
local columns = require "apsis.cli.columns"
local direction = require "apsis.direction"
local host = require "apsis.host"
local paths = require "apsis.project.path"
local plain = require "apsis.project.plain"
local rooms = require "apsis.core.rooms"
local suggest = require "apsis.suggest"

local show = {}

local TEXT_WIDTH = 72
local LONG_WIDTH = 200 -- longer text is cut on a terminal
local LEAST_WIDTH, GOOD_WIDTH = 10, 24 -- of a table's last column

-- The terminal's columns; nil if standard output is a file or a pipe.
function show.width()
  return (host.columns(1)) -- not the height too
end

-- A safe line cut to that many columns.
show.cut = columns.cut

-- Breaks a text's lines at spaces so that none is wider than width if words allow; indent precedes all lines but the
-- first.
function show.wrap(text, width, indent)
  if not width then return text end
  local leading = text:match "^ *"
  local parts, column = { leading }, #leading
  for word, space in text:gmatch("(%S+)(%s*)") do
    local long = columns.of(word)
    if column > #indent and column + long > width then
      parts[#parts] = parts[#parts]:gsub(" +$", "") .. "\n" .. indent
      column = #indent
    end
    parts[#parts + 1] = word .. space
    column = space:find("\n", 1, true) and #indent or column + long + #space
  end
  return table.concat(parts)
end

-- " DIR" from the command line, for a command in a message; "" for the project here.
-- A folder as the argument of a command that the user may type.
function show.at(dir) return show.escape(paths.argument(dir)) end

-- One line without control characters (C1 too), cut to width columns; "" for nil.
function show.line(text, width)
  if text == nil then return "" end
  return show.cut(plain.text(tostring(text):gsub("[%c\127]+", " ")):match "^ *(.-) *$", width or TEXT_WIDTH)
end

-- A reason's first line, with file names for absolute paths; dir is the project's.
function show.reason(text, dir)
  text = (text:match("[^\r\n]+") or ""):gsub("^/[^:]*/([^/:]+:)", "%1")
  local from, to = text:find(dir .. "/", 1, true)
  while from do
    text = text:sub(1, from - 1) .. text:sub(to + 1)
    from, to = text:find(dir .. "/", from, true)
  end
  return (text:gsub("%f[/%w]/[^%s:]*/([^/%s:]+%.lua:)", "%1"))
end

-- Outcomes whose reason is more useful than the hypothesis.
local unmeasured = { reverted_stage_failure = true, reverted_scope_violation = true }

-- The gain measured by a run's final comparison, in words, or nil; best: the id of the best now.
function show.gain(gain, best)
  return gain and rooms.first("gain_text", gain, best)
end

-- What a line is about: the hypothesis, or why it was never measured completely.
function show.what(line, dir)
  local reason = line.rollback_reason
  local gained = show.gain((line.acceptance or {}).gain)
  if gained then return show.line("gained " .. gained, LONG_WIDTH) end
  if reason and (line.outcome:find "^skipped_" or unmeasured[line.outcome]) then
    return show.line(show.reason(reason, dir), LONG_WIDTH)
  end
  if line.improved and (line.acceptance or {}).verdict == "rejected" then return show.line(reason, LONG_WIDTH) end
  return show.line(line.description or line.hypothesis or reason, LONG_WIDTH)
end

local function caret(character)
  local code = character:byte()
  return code == 127 and "^?" or "^" .. string.char(code + 64)
end

-- A text of several lines in which everything but newlines and tabs is visible: ESC is ^[.
function show.escape(text)
  text = text:gsub("[%z\1-\8\11-\31\127]", caret):gsub("\xC2([\x80-\x9F])", function(byte)
    return ("<U+%04X>"):format(byte:byte())
  end)
  if utf8.len(text) then return plain.visible(text) end
  return (text:gsub("[^\n]+", function(line) -- some terminals take such bytes for control characters
    if utf8.len(line) then return plain.visible(line) end
    return (line:gsub("[\x80-\xFF]", function(byte) return ("<%02X>"):format(byte:byte()) end))
  end))
end

-- Raw for a program, escaped for a terminal.
function show.raw(text)
  io.stdout:write(host.isatty(1) and show.escape(text) or text)
end

-- unit: of the metric, shown after the value.
function show.number(value, unit)
  return value and ("%.10g"):format(value) .. ((unit or "") ~= "" and " " .. show.line(unit, 20) or "") or "-"
end

function show.delta(delta)
  return delta and direction.delta_text(delta) or ""
end

-- A line's value against the best at its time in per cent; nil if it is equal, or if a share means nothing.
function show.share(line)
  if not line.delta or line.delta == 0 or not line.primary_metric then return nil end
  return direction.percent_text(line.primary_metric, line.primary_metric - line.delta)
end

-- A value against the best at its time, in a word, because the sign does not show which way is better. Under noise a
-- better-looking value may be unconfirmed.
function show.mark(line)
  if not line.delta or not line.primary_metric then return "" end
  local shown = line.acceptance and line.acceptance.verdict
  if shown == "kept" then return "better" end
  if line.improved then return shown and "not shown" or "better" end
  return line.measured_by:tied(line.primary_metric, line.primary_metric - line.delta) and "equal" or "worse"
end

-- The same with the share: "better -3.2 %".
function show.marked(line)
  local share = show.share(line)
  return show.mark(line) .. (share and " " .. share or "")
end

function show.lines(changed)
  return changed and ("%d"):format(changed) or ""
end

local width_of = columns.of

-- Which columns stay: all but as many of `spare`, in its order, as the width requires; last: what the last one needs.
local function chosen(widths, width, spare, last)
  local used, gone, left = 0, {}, {}
  for index = 1, #widths - 1 do used = used + widths[index] + 2 end
  for _, index in ipairs(width and spare or {}) do
    if used + last <= width then break end
    gone[index], used = true, used - widths[index] - 2
  end
  for index = 1, #widths do
    if not gone[index] then left[#left + 1] = index end
  end
  return left
end

-- Prints rows of cells as aligned lines below their head, with print(line, row). each(visit) calls visit(row) for every
-- row, twice the same: once for the widths, once for the lines; returned is what it returns. right[i]: column i is
-- right-aligned. width: columns of `spare` are dropped until the last column has `last` (default GOOD_WIDTH), then the
-- last column is cut.
function show.table(head, each, right, width, spare, last, print)
  local widths = {}
  local function measure(row)
    for index, cell in ipairs(row) do widths[index] = math.max(widths[index] or 0, width_of(cell)) end
  end
  measure(head)
  local ok, message = each(measure)
  if not ok then return nil, message end
  local places, room = chosen(widths, width, spare, last or GOOD_WIDTH), width
  if width then
    for place = 1, #places - 1 do room = room - widths[places[place]] - 2 end
    room = math.max(room, LEAST_WIDTH)
    widths[#head] = math.min(widths[#head], room)
  end
  local function line(row)
    local cells = {}
    for place, index in ipairs(places) do
      local cell = index == #head and show.cut(row[index], room) or row[index]
      local gap = (" "):rep(widths[index] - width_of(cell))
      cells[place] = right[index] and gap .. cell or cell .. gap
    end
    print(show.cut((table.concat(cells, "  "):gsub(" +$", "")), width), row)
  end
  line(head)
  return each(line)
end

-- The same of a list of rows, as a list of lines.
function show.columns(head, rows, right, width, spare, last)
  local lines = {}
  show.table(head, function(visit)
    for _, row in ipairs(rows) do visit(row) end
    return true
  end, right, width, spare, last, function(line) lines[#lines + 1] = line end)
  return lines
end

-- Aligned "name: value" lines; pairs with a nil value are left out. On a terminal long values are wrapped. A
-- line of a value never begins where a name does.
function show.facts(list)
  local width, screen = 0, show.width()
  for _, fact in ipairs(list) do
    if fact[2] ~= nil then width = math.max(width, #fact[1]) end
  end
  for _, fact in ipairs(list) do
    if fact[2] ~= nil then
      local indent = (" "):rep(width + 3)
      local text = fact[1] .. ":" .. indent:sub(#fact[1] + 2) .. tostring(fact[2]):gsub("[\r\n]+", "\n" .. indent)
      print(screen and show.wrap(text, screen, indent) or text)
    end
  end
end

-- What a command that takes the best is for; of several metrics the best is the newest of many.
function show.take(manifest, command)
  return (manifest.metric.names and "take the newest (apsis best has the others): " or "take the best: ") .. command
end

show.sorted = suggest.names

return show
