-- playbook: what a program's folder `strategy/` says to an agent (openevolve.md and prompts/), and code/config.yaml, as
-- options of the strategy openevolve: weights, islands with what they are, dimensions with their values, ideas to try;
-- the two prompts as guidance, after the playbook's sections on anything else. Only reads files. Called by policy.lua.
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

-- "- **Island 0 — Comparison sort (objects)**: what it is" as "Comparison sort (objects): island 0; what it is".
local function island_of(line)
  local number, name, about = line:match("^%s*[-*]%s+%*%*[Ii]sland%s+(%d+)%s*(.-)%*%*%s*:?%s*(.*)$")
  if not number then return nil end
  name = plain(name:gsub("^%s*[—–:-]+%s*", "", 1):gsub("^\u{2014}%s*", ""):gsub("^\u{2013}%s*", "")):gsub(":%s", " - ")
  if name == "" then return nil end
  return ("%s: island %s%s"):format(name, number, about ~= "" and "; " .. plain(about) or "")
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

-- Words in the headings of sections on what the strategy does itself: no model has to.
local own = { "load", "pick", "parent", "island", "evaluate", "update", "population", "fold", "feature", "dimension" }

local function is_own(heading)
  heading = heading:lower()
  for _, word in ipairs(own) do
    if heading:find(word, 1, true) then return true end
  end
  return false
end

-- The sections of a playbook that are for whoever makes the change; "" if there are none. What is below the file's
-- title introduces the file; a heading in a code block is none.
local function rules_of(text)
  local lines, shown, fenced, first = {}, false, false, true
  for line in text:gmatch "[^\n]*\n?" do
    if line:find "^%s*```" then fenced = not fenced end
    local signs = not fenced and line:match "^(#+)%s"
    if signs then
      shown, first = not is_own(line) and not (first and signs == "#"), false
    end
    if shown then lines[#lines + 1] = line end
  end
  return editline.trim(table.concat(lines))
end

-- The options, and the names of the files that they are from. home: the program's folder; main: the playbook's name.
function playbook.read(home, main)
  local options, from = {}, {}
  local function text_of(name)
    local text, cut = fs.read(home .. "/" .. name, LONGEST)
    if not text or cut then return nil end
    from[#from + 1] = name
    return text
  end
  local playbook_text = text_of("strategy/" .. main) or ""
  read_text(playbook_text, options)
  local rules, ideas = rules_of(playbook_text), knowledge.list({}, playbook_text)
  if rules ~= "" then rules = ("Of strategy/%s:\n\n%s"):format(main, rules) end
  for _, name in ipairs { "mutation", "crossover" } do
    local text = text_of("strategy/prompts/" .. name .. ".md") or ""
    local guidance = editline.trim(rules .. "\n\n" .. text)
    if guidance ~= "" then options["guidance_" .. name] = guidance end
    ideas = knowledge.list(ideas, text)
  end
  if #ideas > 0 then options.knowledge = ideas end
  local config = text_of "code/config.yaml"
  if config then read_config(config, options) end
  return options, from
end

return playbook
