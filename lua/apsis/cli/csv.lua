-- csv: a value as a cell of comma-separated values (RFC 4180).
local json = require "apsis.json"

local csv = {}

-- nil is an empty cell, an empty text a quoted one. No CSV reader takes a NUL: it becomes U+FFFD.
function csv.cell(value)
  if value == nil then return "" end
  local text = type(value) == "string" and value:gsub("%z", "\u{FFFD}") or json.encode(value, { sorted = true })
  return (text == "" or text:find '[",\r\n]') and '"' .. text:gsub('"', '""') .. '"' or text
end

return csv
