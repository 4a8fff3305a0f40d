-- playbook: what a program's folder `strategy/` says to an agent (openevolve.md and prompts/), and code/config.yaml, as
-- options of the strategy openevolve: weights, islands with what they are, dimensions with their values, ideas to try,
-- and the two prompts as guidance. What is not recognised is left alone. Only reads files. Called by file.lua.
local editline = require "apsis.edit.line"
local fs = require "apsis.fs"
local knowledge = require "apsis.knowledge"
local yaml = require "apsis.yaml"

local playbook = {}

local LONGEST = 262144 -- bytes of each file
local operators = { "exploitation", "exploration", "crossover", "migration" }

-- A name without what Markdown and option names cannot have.
local function plain(text)
  return editline.trim((text:gsub("[*`]", "")))
end

-- "- **Island 0 — Comparison sort (objects)**: what it is" as "Comparison sort (objects): what it is".
local function island_of(line)
  local name, about = line:match("^%s*[-*]%s+%*%*[Ii]sland%s+%d+%s*(.-)%*%*%s*:?%s*(.*)$")
  if not name then return nil end
  name = plain(name:gsub("^%s*[—–:-]+%s*", "", 1):gsub("^\u{2014}%s*", ""):gsub("^\u{2013}%s*", "")):gsub(":%s", " - ")
  if name == "" then return nil end
  return about ~= "" and ("%s: %s"):format(name, plain(about)) or name
end

-- "- **Dimension 1 — Storage**: `boxed` / `parallel`" as { name = "storage", values }.
local function dimension_of(line)
  local name, rest = line:match("^%s*[-*]%s+%*%*[Dd]imension%s+%d+%s*(.-)%*%*%s*:?%s*(.*)$")
  if not name then return nil end
  name = name:gsub("^[%s\128-\255:-]+", ""):lower():gsub("[^%w]+", "_"):gsub("^_+", ""):gsub("_+$", "")
  local values = {}
  for value in rest:gmatch("`([^`]+)`") do values[#values + 1] = value end
  return name ~= "" and #values > 1 and { name = name, values = values } or nil
end

-- "| Exploitation | 0.50 | ..." as "exploitation", 0.5.
local function weight_of(line)
  local name, weight = line:match("^%s*|%s*([%a]+)%s*|%s*([%d.]+)%s*|")
  return name and name:lower(), tonumber(weight)
end

-- The islands of a playbook's text and its dimensions, and the weights, into options.
local function read_text(text, options)
  local islands, dimensions, weights = {}, {}, {}
  for line in text:gmatch("[^\r\n]+") do
    islands[#islands + 1] = island_of(line)
    dimensions[#dimensions + 1] = dimension_of(line)
    local name, weight = weight_of(line)
    if name and weight then weights[name] = weight end
  end
  if #islands > 1 then options.island_names = islands end
  if #dimensions > 0 then options.features = dimensions end
  for _, name in ipairs(operators) do options[name] = weights[name] end
end

-- The tunables of code/config.yaml come before the playbook's own numbers.
local function read_config(text, options)
  local ok, value = pcall(yaml.decode, text)
  if not ok or type(value) ~= "table" then return end
  local function take(name, key, integer)
    local number = value[key]
    if type(number) == "number" and number >= 0 and (not integer or math.tointeger(number)) then
      options[name] = integer and math.tointeger(number) or number + 0.0
    end
  end
  for _, name in ipairs(operators) do take(name, name .. "_ratio") end
  take("population_size", "population_size", true)
  take("archive_size", "archive_size", true)
  if not options.island_names then take("islands", "num_islands", true) end
end

-- The options, and the names of the files that they are from. home: the program's folder; main: the playbook's name.
function playbook.read(home, main)
  local options, from, ideas = {}, {}, {}
  local function text_of(name)
    local text, cut = fs.read(home .. "/" .. name, LONGEST)
    if not text or cut then return nil end
    from[#from + 1] = name
    return text
  end
  read_text(text_of("strategy/" .. main) or "", options)
  for _, name in ipairs { "mutation", "crossover" } do
    local text = text_of("strategy/prompts/" .. name .. ".md")
    if text then
      options["guidance_" .. name] = editline.trim_end(text)
      ideas = knowledge.list(ideas, text)
    end
  end
  if #ideas > 0 then options.knowledge = ideas end
  local config = text_of "code/config.yaml"
  if config then read_config(config, options) end
  return options, from
end

return playbook
