-- mutate: this example's provider. apsis calls it once per experiment with the proposal and the parents' files. It
-- returns search.lua with a new EVOLVE-BLOCK: other numbers, other sections (from parts.lua), or sections of two
-- parents combined, as proposal.operator requests. It does not know f: evaluate.lua measures, and the strategy
-- decides. A language model could take its place.

local KINDS = { "start", "accept", "descend", "plan" }

-- Ranges of the settings; "log": changed by factors; "whole": whole numbers. Lengths are in widths of the box.
local RANGES = {
  samples = { 1, 40, "whole" }, rivals = { 2, 4, "whole" }, jump_chance = { 0, 1 }, jump = { 0.01, 0.5, "log" },
  heat = { 0.01, 2, "log" }, cooling = { 0.8, 0.999 }, slack = { 0.01, 1, "log" },
  step = { 0.005, 0.5, "log" }, patience = { 2, 40, "whole" }, tolerance = { 1e-6, 0.1, "log" },
  growth = { 1.05, 3 }, shrink = { 0.2, 0.95 }, probe = { 1e-6, 0.02, "log" },
  looking = { 0.05, 0.95 }, members = { 4, 30, "whole" }, weight = { 0.2, 1.2 }, greed = { 0, 1 },
}

local function sorted_keys(keyed)
  local keys = {}
  for key in pairs(keyed) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

-- The sections of a text in their order: { kind =, name =, text = } each, its heading in its text.
local function read_sections(text)
  local sections, starts = {}, {}
  for at in ("\n" .. text):gmatch "\n()%-%- %[%l+[^%]\n]*%]" do starts[#starts + 1] = at - 1 end
  for index, at in ipairs(starts) do
    local part = text:sub(at, (starts[index + 1] or #text + 1) - 1):gsub("%s+$", "")
    local kind, name = part:match "^%-%- %[(%l+) ?([^%]\n]*)%]"
    sections[#sections + 1] = { kind = kind, name = name, text = part }
  end
  return sections
end

-- A routine in parts: the text around its sections, a section of each kind, the settings. nil and why for a text in
-- another format.
local function read_routine(text)
  local head, block, tail = text:match "^(.-\n%-%- EVOLVE%-BLOCK%-START[^\n]*\n)(.*)(\n%-%- EVOLVE%-BLOCK%-END.*)$"
  if not head then return nil, "search.lua has no EVOLVE-BLOCK" end
  local routine = { head = head .. block:match "^(.-)%-%- %[", tail = tail, settings = {} }
  for _, section in ipairs(read_sections(block)) do routine[section.kind] = section end
  for _, kind in ipairs { "settings", table.unpack(KINDS) } do
    if not routine[kind] then return nil, ("search.lua has no section [%s]"):format(kind) end
  end
  local settings = {}
  for name, number in routine.settings.text:gmatch "\n%s*([%w_]+)%s*=%s*([^,\n]+)," do
    settings[name] = tonumber(number)
  end
  routine.settings = settings
  return routine
end

local function draw(rng, name)
  local low, high, scale = table.unpack(RANGES[name])
  if scale == "whole" then return rng:integer(low, high) end
  if scale == "log" then return low * (high / low) ^ rng:random() end
  return low + (high - low) * rng:random()
end

-- The settings that the sections read, each once.
local function used_settings(routine)
  local used = {}
  for _, kind in ipairs(KINDS) do
    for name in routine[kind].text:gmatch "settings%.([%a_][%w_]*)" do used[name] = true end
  end
  return sorted_keys(used)
end

-- The text of a routine; drops settings that nothing reads and draws missing ones.
local function write_routine(routine, rng)
  local lines = { "-- [settings]", "local settings = {" }
  for _, name in ipairs(used_settings(routine)) do
    local number = routine.settings[name] or (RANGES[name] and draw(rng, name)) or 1
    routine.settings[name] = number
    lines[#lines + 1] = ("  %s = %.6g,"):format(name, number)
  end
  local parts = { table.concat(lines, "\n") .. "\n}" }
  for _, kind in ipairs(KINDS) do parts[#parts + 1] = routine[kind].text end
  return routine.head .. table.concat(parts, "\n\n") .. routine.tail
end

-- Changes a setting that is still unchanged, usually to a nearby value. `changed` lists the changes in words, and has
-- a flag for each setting and kind that was changed.
local function change_setting(routine, rng, changed)
  local unchanged = {}
  for _, name in ipairs(used_settings(routine)) do
    if not changed[name] then unchanged[#unchanged + 1] = name end
  end
  if #unchanged == 0 then return end
  local name = rng:choice(unchanged)
  local old, range = routine.settings[name] or draw(rng, name), RANGES[name] or { -math.huge, math.huge }
  local size = rng:choice { 0.05, 0.2, 0.6 }
  local new
  if rng:random() < 0.1 and RANGES[name] then
    new = draw(rng, name)
  elseif range[3] or not RANGES[name] then
    new = old * math.exp(2 * size * rng:normal())
  else
    new = old + size * (range[2] - range[1]) * rng:normal() / 2
  end
  new = math.max(range[1], math.min(range[2], new))
  if range[3] == "whole" then new = math.floor(new + 0.5) end
  if new == old and range[3] == "whole" then new = old < range[2] and old + 1 or old - 1 end
  routine.settings[name], changed[name] = new, true
  changed[#changed + 1] = ("%s %.3g -> %.3g"):format(name, old, new)
end

-- Puts a section in place of the routine's own of its kind.
local function take_section(routine, section, changed)
  if section.text == routine[section.kind].text then return end
  changed[#changed + 1] = ("%s %s -> %s"):format(section.kind, routine[section.kind].name, section.name)
  routine[section.kind], changed[section.kind] = section, true
end

local function swap_section(routine, parts, rng, changed)
  local others = {}
  for _, section in ipairs(parts) do
    if not changed[section.kind] and section.text ~= routine[section.kind].text then others[#others + 1] = section end
  end
  take_section(routine, rng:choice(others), changed)
end

local operators = {}

-- A step from the parent: mostly numbers, at times one section.
function operators.exploitation(routine, _, parts, rng, changed)
  if rng:random() < 0.25 then swap_section(routine, parts, rng, changed) end
  for _ = 1, rng:integer(#changed > 0 and 0 or 1, 3) do change_setting(routine, rng, changed) end
end

-- A routine of other sections: all of them, or two of the parent's replaced; with fresh numbers.
function operators.exploration(routine, _, parts, rng, changed)
  if rng:random() < 0.5 then
    for _, kind in ipairs(KINDS) do
      local choices = {}
      for _, section in ipairs(parts) do
        if section.kind == kind then choices[#choices + 1] = section end
      end
      take_section(routine, rng:choice(choices), changed)
    end
  else
    for _ = 1, 2 do swap_section(routine, parts, rng, changed) end
  end
  routine.settings = {}
  changed[#changed + 1] = "fresh settings"
end

-- The kinds of which two routines have different sections.
local function differing(routine, other)
  local kinds = {}
  for _, kind in ipairs(KINDS) do
    if other[kind].text ~= routine[kind].text then kinds[#kinds + 1] = kind end
  end
  return kinds
end

-- Sections of the one and of the other parent, and of each number the one's, the other's, or one between.
function operators.crossover(routine, other, _, rng, changed)
  local kinds = rng:shuffle(differing(routine, other))
  for index = 1, math.max((#kinds + rng:integer(0, 1)) // 2, math.min(1, #kinds)) do
    take_section(routine, other[kinds[index]], changed)
  end
  for _, name in ipairs(sorted_keys(other.settings)) do
    local theirs, ours = other.settings[name], routine.settings[name]
    if not ours or rng:random() < 0.5 then
      routine.settings[name] = theirs
    elseif rng:random() < 0.3 and ours > 0 and theirs > 0 and (RANGES[name] or {})[3] ~= "whole" then
      routine.settings[name] = math.sqrt(ours * theirs)
    end
  end
  changed[#changed + 1] = "settings of both"
end

-- One section of the other parent's, with the numbers that it reads.
function operators.migration(routine, other, _, rng, changed)
  local kinds = differing(routine, other)
  local section = other[rng:choice(#kinds > 0 and kinds or KINDS)]
  take_section(routine, section, changed)
  for name in section.text:gmatch "settings%.([%a_][%w_]*)" do routine.settings[name] = other.settings[name] end
  changed[#changed + 1] = "and its settings"
end

local function read_parts(text)
  local parts = {}
  for _, section in ipairs(read_sections(text)) do
    if section.kind ~= "settings" then parts[#parts + 1] = section end
  end
  return parts
end

return function(proposal, workspace)
  local rng, before = workspace.rng, workspace:read "search.lua"
  local routine, unreadable = read_routine(before or "")
  if not routine then return nil, unreadable end
  local second = proposal.parents[2] and read_routine(proposal.parents[2]:read "search.lua" or "")
  local parts, name = read_parts(workspace:read "parts.lua"), proposal.operator
  if not operators[name] or (name == "crossover" or name == "migration") and not second then name = "exploitation" end
  local changed = {}
  operators[name](routine, second, parts, rng, changed)
  local after = write_routine(routine, rng)
  if after == before then -- a crossover of twins, a step against the end of a range
    swap_section(routine, parts, rng, changed)
    after = write_routine(routine, rng)
  end
  local change = table.concat(changed, ", ")
  return { ["search.lua"] = after }, { hypothesis = change, description = change }
end
