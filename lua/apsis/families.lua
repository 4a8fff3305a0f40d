-- families: islands and features with names. Names the family that is asked for, asks a model to which its version
-- belongs, and checks the answer. Pure; decides nothing. For strategies.
local families = {}

-- The names of islands, and what is known about each by its name, from an option: a list of "NAME", "NAME: what it is"
-- or { NAME = what it is }. nil and what is wrong.
function families.islands(given)
  local names, about = {}, {}
  for index, one in ipairs(given) do
    local name, text = one, nil
    if type(one) == "table" then name, text = next(one)
    elseif type(one) == "string" then name, text = one:match("^([^:]+):%s+(.+)$") end
    name = name or one
    if type(name) ~= "string" or name == "" or text ~= nil and type(text) ~= "string" then
      return nil, 'must be a list of "NAME" or "NAME: what it is"'
    end
    if families.has(names, name) then return nil, ("has %q twice"):format(name) end
    names[index], about[name] = name, text
  end
  return names, about
end

-- "greedy (takes the best step)", or the name alone.
function families.named(name, about)
  return about[name] and ("%s (%s)"):format(name, about[name]) or tostring(name)
end

function families.has(names, wanted)
  for _, name in ipairs(names) do if name == wanted then return true end end
  return false
end

-- The request to a model, "" if nothing has names. features: { name, values } or without values.
function families.asked(island_names, features)
  local lines = {}
  if #island_names > 0 then
    lines[1] = ("Say which family it is of, in a line `ASI island=NAME`; names: %s."):format(table.concat(island_names,
      ", "))
  end
  for _, feature in ipairs(features) do
    if feature.values then
      lines[#lines + 1] = ("Say its %s, in a line `ASI %s=NAME`; names: %s."):format(feature.name, feature.name,
        table.concat(feature.values, ", "))
    end
  end
  if #lines > 0 then lines[#lines + 1] = "An answer with other names is not used." end
  return table.concat(lines, "\n")
end

-- Where the version that is asked for goes, and where its parents live, for a model; "" with a single island. given: {
-- notes (the proposal's), names (of islands; empty: they have numbers), about, count (of islands), features, aimed
-- (whether the version must be of that family) }.
function families.place(given)
  local notes, named, lines = given.notes, #given.names > 0, {}
  local count = math.max(given.count, not named and notes.island or 1) -- it may be the first of a new island
  if count < 2 then return "" end
  local function where(island)
    return named and "the family " .. families.named(island, given.about) or "island " .. island
  end
  local target = where(notes.island or 1)
  if not named then
    lines[1] = ("Your version goes to %s of %d; each is a population of its own."):format(target, count)
  elseif given.aimed then lines[1] = ("Your version goes to %s: make it one of that kind."):format(target)
  else lines[1] = ("The parent is of %s, and so is your version unless you say otherwise."):format(target) end
  if notes.donor then
    lines[2] = ("The donor lives in %s, the recipient in %s."):format(where(notes.donor), target)
  end
  local axes = {}
  for index, feature in ipairs(given.features) do axes[index] = feature.name end
  lines[#lines + 1] = ("A cell is a bin of each of: %s. The best of each cell is kept."):format(table.concat(axes,
    ", "))
  return table.concat(lines, "\n")
end

-- Which of the names is meant, in small or large letters; nil if none is.
local function meant(name, names)
  if families.has(names, name) then return name end
  for _, known in ipairs(names) do
    if tostring(known):lower() == tostring(name):lower() then return known end
  end
end

-- The island of a number: its own, where the islands have some ("greedy: island 0; what it is"), else its place.
local function numbered(word, names, about)
  word = tostring(word):lower()
  local number = word:match("^#?(%d+)$") or word:match("^island%s*(%d+)%f[%D]")
  if not number then return nil end
  local own
  for _, name in ipairs(names) do
    local said = (about[name] or ""):match("^island (%d+)%f[^%d]")
    if said == number then return name end
    own = own or said
  end
  return not own and names[tonumber(number)] or nil
end

local function refusal(what, name, names)
  return ("the answer names the %s %q; it must be one of %s"):format(what, tostring(name), table.concat(names, ", "))
end

-- { island, said_island, named = { [feature] = value } } from an answer's notes; nil and why it is refused. given: {
-- islands (their names), about, features }. An island may be left out, and may be said by its number. aimed: the plan
-- has chosen it: what the answer says is only noted, as said_island, be it an island or not. One that leaves out a
-- feature has no place by it.
function families.placed(answer, given, aimed)
  local notes, refused, islands, said = {}, {}, given.islands, answer.island
  if #islands > 0 and said ~= nil then
    local island = meant(said, islands) or numbered(said, islands, given.about)
    if not island and not aimed then refused[1] = refusal("island", said, islands) end
    notes[aimed and "said_island" or "island"] = island or said
  end
  for _, feature in ipairs(given.features) do
    if feature.values then
      local value = answer[feature.name]
      local known = value ~= nil and meant(value, feature.values) or nil
      if known == nil and value ~= nil then refused[#refused + 1] = refusal(feature.name, value, feature.values) end
      if known ~= nil then
        notes.named = notes.named or {}
        notes.named[feature.name] = known
      end
    end
  end
  if refused[1] then return nil, table.concat(refused, "; ") end
  return notes
end

return families
