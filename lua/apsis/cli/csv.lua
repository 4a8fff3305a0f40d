-- csv: a value as a cell of comma-separated values (RFC 4180).
local json = require "apsis.json"
local plain = require "apsis.project.plain"

local csv = {}

local function named(byte) return ("<U+%04X>"):format(byte:byte()) end

-- nil is an empty cell, an empty text a quoted one. No CSV reader takes a NUL: it becomes U+FFFD. Control characters,
-- and marks that would show the cells after them in another order, are named: <U+202E>.
function csv.cell(value)
  if value == nil then return "" end
  local text = type(value) == "string" and value:gsub("%z", "\u{FFFD}"):gsub("\r\n", "\n")
    :gsub("[\1-\8\11-\31\127]", named):gsub("\xC2([\x80-\x9F])", named) or json.encode(value, { sorted = true })
  text = plain.visible(text)
  return (text == "" or text:find '[",\r\n]') and '"' .. text:gsub('"', '""') .. '"' or text
end

return csv
