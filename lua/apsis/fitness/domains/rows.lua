-- rows: predictions.csv of one component as it grows: each item's row is appended when it is measured, so that a
-- crash loses no measured rows. All writers go through it. Called by the domains.
local direction = require "apsis.direction"
local fitness = require "apsis.fitness"
local fs = require "apsis.fs"
local json = require "apsis.json"

local rows = {}

local Rows = {}
Rows.__index = Rows

local first = { "question_id", "prediction", "score" }

-- open(output_dir, more): the existing rows; more: columns in addition to question_id, prediction and score. Drops a
-- torn last line, and a file with other columns.
function rows.open(output_dir, more)
  local columns = table.move(more or {}, 1, #(more or {}), #first + 1, table.move(first, 1, #first, 1, {}))
  local self = setmetatable({ path = output_dir .. "/predictions.csv", columns = columns, by_id = {}, list = {} }, Rows)
  local text = fs.read(self.path)
  local found, _, names = nil, nil, nil
  if text then found, _, names = fitness.csv_read(text) end
  if found and names and table.concat(names, ",") == table.concat(columns, ",") then
    for _, row in ipairs(found) do
      if not self.by_id[row.question_id] then self.list[#self.list + 1], self.by_id[row.question_id] = row, row end
    end
  end
  local ok, message = self:write()
  if not ok then return nil, message end
  return self
end

-- The input of a report: { list, by_id } of the rows of a folder, from any writer; writes nothing. nil, message.
function rows.finished(output_dir)
  local list, by_id = rows.read(output_dir), {}
  for _, row in ipairs(list) do
    if by_id[row.question_id] then return nil, ("predictions.csv has two rows %s"):format(row.question_id) end
    by_id[row.question_id] = row
  end
  return { list = list, by_id = by_id }
end

-- The same with an expected number of items (nil: not known): a harness that left some out gives no score.
function rows.of_all(output_dir, count)
  local found, message = rows.finished(output_dir)
  if found and count and #found.list < count then
    return nil, ("predictions.csv has %d rows for %d items"):format(#found.list, count)
  end
  return found, message
end

-- The rows of a folder, from any writer: { question_id, prediction, ... }...; none if there is no table.
function rows.read(output_dir)
  local text, found = fs.read(output_dir .. "/predictions.csv"), nil
  if text then found = fitness.csv_read(text, { whole = true }) end
  local list = {}
  for _, row in ipairs(found or {}) do
    if row.question_id then list[#list + 1] = row end
  end
  return list
end

function Rows:get(id) return self.by_id[id] end

-- The rows of a run that starts from scratch: none.
function Rows:clear()
  self.list, self.by_id = {}, {}
end

local function texts(row)
  local made = {}
  for name, value in pairs(row) do made[name] = direction.finite(value) and json.encode(value) or value end
  return made
end

function Rows:write()
  return fs.write(self.path, fitness.csv_write(self.list, self.columns))
end

-- Adds a row to the file. true | nil, message.
function Rows:add(row)
  row = texts(row)
  self.list[#self.list + 1], self.by_id[row.question_id] = row, row
  return fs.append(self.path, fitness.csv_write({ row }, self.columns, { header = false }))
end

-- Adds many and writes them at once.
function Rows:add_all(list)
  for _, row in ipairs(list) do
    row = texts(row)
    self.list[#self.list + 1], self.by_id[row.question_id] = row, row
  end
  return self:write()
end

-- Sorts the rows, appended as they came, into the order of the tasks.
function Rows:sort(tasks)
  local place = {}
  for index, id in ipairs(tasks) do place[id] = index end
  table.sort(self.list, function(a, b)
    local one, other = place[a.question_id] or math.huge, place[b.question_id] or math.huge
    if one ~= other then return one < other end
    return a.question_id < b.question_id
  end)
  return self:write()
end

return rows
