-- man: a page as the source of a manual page (man(7)).
local host = require "apsis.host"

local function escaped(text)
  return (text:gsub("\\", "\\e"):gsub("-", "\\-"):gsub("^([.'])", "\\&%1"):gsub("\n([.'])", "\n\\&%1"))
end

-- Code in bold.
local function roff(text)
  local parts, code = {}, false
  for part in (text .. "`"):gmatch "([^`]*)`" do
    parts[#parts + 1] = part ~= "" and code and "\\fB" .. escaped(part) .. "\\fR" or escaped(part)
    code = not code
  end
  return table.concat(parts)
end

local write = {}

function write.heading(lines, text, level)
  lines[#lines + 1] = (level == 1 and ".SH " or ".SS ") .. roff(level == 1 and text:upper() or text)
end

function write.text(lines, text)
  lines[#lines + 1] = ".PP"
  lines[#lines + 1] = roff(text)
end

function write.code(lines, text)
  table.move({ ".PP", ".EX", escaped(text), ".EE" }, 1, 4, #lines + 1, lines)
end

function write.terms(lines, list)
  for _, term in ipairs(list) do
    table.move({ ".TP", "\\fB" .. escaped(term[1]) .. "\\fR", roff(term[2]) }, 1, 3, #lines + 1, lines)
  end
end

return function(page)
  local lines = { '.\\" Made by lua/apsis/manual/write.lua.',
    (".TH %s %d \"\" \"apsis %s\""):format(page.name:upper(), page.section, host.version), ".SH NAME",
    ("%s \\- %s"):format(escaped(page.name), roff(page.summary)) }
  for _, block in ipairs(page.blocks) do write[block.kind](lines, block.value, block.more) end
  return table.concat(lines, "\n") .. "\n"
end
