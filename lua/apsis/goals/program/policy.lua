-- policy: the default strategy of a program: a Lua file in its folder `strategy/`; openevolve if there are playbooks
-- for an agent, with what they say (playbook.lua); else hillclimb. Only reads files. Called by file.lua.
local fs = require "apsis.fs"
local nearest = require "apsis.project.nearest"
local playbook = require "apsis.goals.program.playbook"

local policy = {}

local SHOWN = 5 -- names in a message

local playbooks = { ["alphaevolve.md"] = true, ["openevolve.md"] = true, ["strategy.md"] = true }

local function files_in(folder)
  local lua, prose, others = {}, {}, {}
  for _, name in ipairs(fs.list(folder) or {}) do
    local stat = name:sub(1, 1) ~= "." and fs.stat(folder .. "/" .. name)
    if stat and stat.type == "file" then
      if name:find("%.lua$") then lua[#lua + 1] = name
      elseif playbooks[name:lower()] then prose[#prose + 1] = name
      else others[#others + 1] = name end
    end
  end
  return lua, prose, others
end

-- The first few of a list of names.
local function names_of(list)
  local names = table.concat(list, ", ", 1, math.min(#list, SHOWN))
  return #list > SHOWN and names .. ", ..." or names
end

local function main_of(names)
  if #names == 1 then return names[1] end
  for _, wanted in ipairs { "strategy.lua", "init.lua" } do
    for _, name in ipairs(names) do
      if name == wanted then return name end
    end
  end
end

-- The value of `strategy`; a note if the program may suggest another one; nil and the error. folder: the program's
-- `strategy` folder; below: the same, relative to the project; evolves: whether there is a section Evolution Strategy.
function policy.of(folder, below, evolves)
  local lua, prose, others = files_in(folder)
  local main = main_of(lua)
  if main then return { use = below .. "/" .. main } end
  if #lua > 1 then
    return nil, ("%s has several strategies (%s); name one strategy.lua, or write strategy: %s/%s"):format(below,
      table.concat(lua, ", "), below, lua[1])
  end
  if #prose > 0 then
    local options, from = playbook.read(folder:match("^(.*)/[^/]*$"), prose[1])
    return { use = "openevolve", options = next(options) and options or nil }, ("%s/%s is for an agent; apsis uses the "
      .. "strategy openevolve with what it says (%s)"):format(below, prose[1], table.concat(from, ", "))
  end
  if evolves then
    return { use = "openevolve" }, "the section Evolution Strategy is for an agent; apsis uses the strategy "
      .. "openevolve instead"
  end
  if #others > 0 then
    return { use = "hillclimb" }, ("%s has no known strategy (%s): apsis uses hillclimb; known are a Lua file, and "
      .. "alphaevolve.md, openevolve.md and strategy.md, which mean openevolve"):format(below,
      nearest.escape(names_of(others)))
  end
  return { use = "hillclimb" }
end

return policy
