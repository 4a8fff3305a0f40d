-- columns: what an exported row has: every field of a journal line, in the order of core/line.lua's list, and `value`.
local csv = require "apsis.cli.csv"
local json = require "apsis.json"
local lines = require "apsis.core.line"

local columns = {}

-- The one column that is no field: later experiments may measure a candidate again.
local value = { name = "value", type = "number",
  about = "the value as it is now: the median of all samples, also of those that later experiments measured" }

-- The columns in order: name, type, unit, about; map: a number for each name, which CSV gives columns of their own;
-- joined: a list of words or numbers, which CSV joins by spaces.
function columns.list()
  local list = {}
  for _, field in ipairs(lines.every) do
    local kind = type(field.kind) == "table" and field.kind or {}
    list[#list + 1] = { name = field.name, type = field.type, unit = field.unit, about = field.about,
      map = kind.map == "number", joined = kind.list == "string" or kind.list == "number" }
    if field.name == "primary_metric" then list[#list + 1] = value end
  end
  return list
end

-- ---- rows of CSV ----

local function joined(list)
  local words = {}
  for index, item in ipairs(list) do words[index] = type(item) == "string" and item or json.encode(item) end
  return table.concat(words, " ")
end

-- The cells of CSV: { name, of(record) } each; names: of a column with a map, the names in it, in order.
function columns.cells(list, names)
  local cells = {}
  for _, column in ipairs(list) do
    local key = column.name
    for _, name in ipairs(column.map and names[key] or {}) do
      cells[#cells + 1] = { name = key .. "." .. name, of = function(record) return (record[key] or {})[name] end }
    end
    if not column.map then
      cells[#cells + 1] = { name = key, of = function(record)
        local given = record[key]
        return column.joined and given and joined(given) or given
      end }
    end
  end
  return cells
end

-- The first row.
function columns.head(cells)
  local texts = {}
  for index, cell in ipairs(cells) do texts[index] = csv.cell(cell.name) end
  return table.concat(texts, ",")
end

function columns.row(cells, record)
  local texts = {}
  for index, cell in ipairs(cells) do texts[index] = csv.cell(cell.of(record)) end
  return table.concat(texts, ",")
end

-- ---- rows of JSON ----

-- One object with every column, null if there is nothing.
function columns.object(list, record)
  local members = {}
  for index, column in ipairs(list) do
    local given = record[column.name]
    if given == nil then given = json.null end
    members[index] = ("%s:%s"):format(json.encode(column.name), json.encode(given, { sorted = true }))
  end
  return "{" .. table.concat(members, ",") .. "}"
end

return columns
