-- markdown: a page as Markdown, for docs/reference.
local show = require "apsis.cli.table"

local WIDTH <const> = 120

local write = {}

function write.heading(lines, text, level) lines[#lines + 1] = ("#"):rep(level + 1) .. " " .. text end

function write.text(lines, text) lines[#lines + 1] = show.wrap(text, WIDTH, "") end

function write.code(lines, text) lines[#lines + 1] = "    " .. text:gsub("\n", "\n    ") end

function write.terms(lines, list)
  local items = {}
  for index, term in ipairs(list) do
    items[index] = show.wrap(("- `%s`%s"):format(term[1], term[2] ~= "" and " " .. term[2] or ""), WIDTH, "  ")
  end
  lines[#lines + 1] = table.concat(items, "\n")
end

return function(page)
  local summary = page.summary:sub(1, 1):upper() .. page.summary:sub(2) .. "."
  local lines = { "# " .. page.name, show.wrap(summary, WIDTH, "") }
  for _, block in ipairs(page.blocks) do write[block.kind](lines, block.value, block.more) end
  return table.concat(lines, "\n\n") .. "\n"
end
