-- policy: the strategy of a program that its front matter does not name: a Lua file in its folder `strategy/`, or
-- openevolve where there are playbooks for an agent, else hillclimb. Only looks which files are there. Called by
-- file.lua.
local fs = require "apsis.fs"
local nearest = require "apsis.project.nearest"

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

-- What `strategy` would be in a manifest; a note where it is not what the program may seem to say; nil, and what is
-- wrong. folder: the program's `strategy` folder; below: the same, relative to the project; evolves: whether the
-- program's text has a section Evolution Strategy.
function policy.of(folder, below, evolves)
  local lua, prose, others = files_in(folder)
  local main = main_of(lua)
  if main then return { use = below .. "/" .. main } end
  if #lua > 1 then
    return nil, ("%s holds several strategies (%s); name one strategy.lua, or write strategy: %s/%s"):format(below,
      table.concat(lua, ", "), below, lua[1])
  end
  if #prose > 0 then
    return { use = "openevolve" }, ("%s/%s is for an agent to follow; the strategy openevolve is used in its place"):format(below, prose[1])
  end
  if evolves then
    return { use = "openevolve" }, "the section Evolution Strategy is for an agent to follow; the strategy openevolve is used in its place"
  end
  if #others > 0 then
    return { use = "hillclimb" }, ("%s holds no strategy that is known (%s): hillclimb is used; known are a file of Lua, and "
      .. "alphaevolve.md, openevolve.md and strategy.md, which stand for openevolve"):format(below, nearest.escape(names_of(others)))
  end
  return { use = "hillclimb" }
end

return policy
