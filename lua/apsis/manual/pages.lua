-- pages: every page of the manual, made from the tables that the program itself uses, so that none can be out of date.
local command = require "apsis.manual.command"
local declared = require "apsis.cli.declared"
local journal = require "apsis.manual.journal"
local manifest = require "apsis.manual.manifest"
local module = require "apsis.manual.module"
local overview = require "apsis.manual.overview"
local shipped = require "apsis.core.shipped"
local strategies = require "apsis.manual.strategies"
local strategy = require "apsis.manual.strategy"

local pages = {}

-- The pages that are no command's, by the topic under which `apsis help` shows them.
local others = { manifest = manifest, journal = journal, strategy = strategy, ["shipped-strategies"] = strategies }
for _, path in ipairs(shipped.list "lua/meta/") do
  local name = path:match "([%w_]+)%.lua$"
  if name ~= "run" then
    others["apsis." .. name] = function() return module(name, "apsis." .. name, 7, "modules") end
  end
end

-- The topics beside the commands, sorted.
function pages.topics()
  local names = {}
  for name in pairs(others) do names[#names + 1] = name end
  table.sort(names)
  return names
end

-- The page of a topic that is no command, or nil.
function pages.topic(name)
  local made = others[name] or others[name:gsub("^apsis%-", "")] -- also as the man page is called
  return made and made()
end

-- All pages, the overview first.
function pages.all()
  local commands, list, known = declared.commands(), {}, {}
  for _, name in ipairs(pages.topics()) do
    local made = pages.topic(name)
    list[#list + 1], known[#known + 1] = made, { name, made.summary }
  end
  for _, each in ipairs(commands) do list[#list + 1] = command(each) end
  table.insert(list, 1, overview(commands, known))
  return list
end

return pages
