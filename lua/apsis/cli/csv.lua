-- csv: a value as a cell of comma-separated values (RFC 4180).
local json = require "apsis.json"
local plain = require "apsis.project.plain"

local csv = {}

-- nil is an empty cell, an empty text a quoted one. No CSV reader takes a NUL: it becomes U+FFFD. Marks that would show
-- the cells after them in another order are named: <U+202E>.
function csv.cell(value)
  if value == nil then return "" end
  local text = type(value) == "string" and plain.visible(value:gsub("%z", "\u{FFFD}"))
    or json.encode(value, { sorted = true })
  return (text == "" or text:find '[",\r\n]') and '"' .. text:gsub('"', '""') .. '"' or text
end

return csv
