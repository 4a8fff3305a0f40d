-- plain: a page as text for a terminal or a pipe.
local show = require "apsis.cli.table"

local WIDTH <const> = 80 -- of a pipe, and of a wider terminal

local write = {}

function write.heading(text) return text end

function write.text(text, _, width) return show.wrap(text, width, "") end

function write.code(text) return "    " .. text:gsub("\n", "\n    ") end

function write.terms(list, _, width)
  local items = {}
  for index, term in ipairs(list) do
    items[index] = show.wrap("  " .. term[1], width, "    ")
    if term[2] ~= "" then items[index] = items[index] .. "\n" .. show.wrap("      " .. term[2], width, "      ") end
  end
  return table.concat(items, "\n")
end

return function(page)
  local width = math.min(show.width() or WIDTH, WIDTH)
  local parts = { show.wrap(("%s: %s"):format(page.name, page.summary), width, "  ") }
  for _, block in ipairs(page.blocks) do
    parts[#parts + 1] = write[block.kind](block.value, block.more, width)
  end
  return table.concat(parts, "\n\n") .. "\n"
end
