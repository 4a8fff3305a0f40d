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
  if #lines > 0 then lines[#lines + 1] = "An answer without them, or with other names, is not used." end
  return table.concat(lines, "\n")
end

-- Where the version that is asked for goes, and where its parents live, for a model; "" with a single island. given: {
-- notes (the proposal's), names (of islands; empty: they have numbers), about, count (of islands), features, aimed
-- (whether the version must be of that family) }.
function families.place(given)
  local notes, named, lines = given.notes, #given.names > 0, {}
  if given.count < 2 then return "" end
  local function where(island)
    return named and "family " .. families.named(island, given.about) or "island " .. island
  end
  local target = where(notes.island or 1)
  if not named then
    lines[1] = ("Your version goes to the %s of %d; each is a population of its own."):format(target, given.count)
  elseif given.aimed then lines[1] = ("Your version goes to the %s: make it one of that kind."):format(target)
  else lines[1] = ("The parent is of the %s, and so is your version unless you say otherwise."):format(target) end
  if notes.donor then
    lines[2] = ("The donor lives in the %s, the recipient in the %s."):format(where(notes.donor), target)
  end
  local axes = {}
  for index, feature in ipairs(given.features) do axes[index] = feature.name end
  lines[#lines + 1] = ("A cell is a bin of each of: %s. The best of each cell is kept."):format(table.concat(axes,
    ", "))
  return table.concat(lines, "\n")
end

local function refusal(what, name, names)
  if families.has(names, name) then return nil end
  local list = table.concat(names, ", ")
  if name == nil then
    return ("the answer does not say its %s, in a line `ASI %s=NAME`; names: %s"):format(what, what, list)
  end
  return ("the answer names the %s %q; it must be one of %s"):format(what, tostring(name), list)
end

-- { island, named = { [feature] = value } } from an answer's notes; nil and why it is refused. An island may be left
-- out.
function families.placed(answer, island_names, features)
  local notes = {}
  if #island_names > 0 and answer.island ~= nil then
    local refused = refusal("island", answer.island, island_names)
    if refused then return nil, refused end
    notes.island = answer.island
  end
  for _, feature in ipairs(features) do
    if feature.values then
      local refused = refusal(feature.name, answer[feature.name], feature.values)
      if refused then return nil, refused end
      notes.named = notes.named or {}
      notes.named[feature.name] = answer[feature.name]
    end
  end
  return notes
end

return families
