-- manifest: reads manifest.yaml against the schema into a plain table complete with defaults, or reports all errors at
-- once, each as "FILE:LINE: KEY: message". The parts (read a layer, merge, finish) serve config.lua too. Reads files;
-- writes none. Called by the commands and by config.lua.
local fs = require "apsis.fs"
local nearest = require "apsis.project.nearest"
local paths = require "apsis.project.path"
local rules = require "apsis.project.rules"
local schema = require "apsis.project.schema"
local shape = require "apsis.project.shape"
local yaml = require "apsis.yaml"

local manifest = {}

manifest.max_bytes = 4 * 1024 * 1024

manifest.display = paths.display

local function broken(label, message)
  return { value = {}, places = {}, label = label, unread = true,
    errors = { { label = label, line = 0, text = message } } }
end

-- YAML as yaml.decode gives it; the message of a failure begins with the file and line.
function manifest.decode(bytes, label)
  local value, lines = yaml.decode(bytes, { name = label })
  if value == nil then return nil, nearest.escape((lines:gsub("^EYAML: ", ""))) end -- it may quote a key
  return value, lines
end

-- One file as a layer: {value, places, label, errors}; value is clean and without defaults. text: instead of its own.
function manifest.read(path, node, text)
  local label = manifest.display(path)
  local bytes, message = text, nil
  if not bytes then bytes, message = fs.read(path, manifest.max_bytes + 1) end
  if not bytes then return broken(label, ("%s: cannot be read: %s"):format(label, message)) end
  if #bytes > manifest.max_bytes then
    return broken(label,
      ("%s: is larger than %d MB; a manifest is a short text"):format(label, manifest.max_bytes // 2 ^ 20))
  end
  local value, lines = manifest.decode(bytes, label)
  if value == nil then return broken(label, lines) end
  if value == yaml.null then value = {} end
  local layer = shape.layer { label = label, lines = lines }
  layer.value = shape.check(layer, node, value, "", 1) or {}
  return layer
end

-- Removes the places of key and of everything below it.
function manifest.forget(places, key)
  for other in pairs(places) do
    local after = other:sub(#key + 1, #key + 1)
    if other:sub(1, #key) == key and (after == "" or after == "." or after == "[") then places[other] = nil end
  end
end

local function inherit(places, from, key)
  for other, place in pairs(from) do
    local after = other:sub(#key + 1, #key + 1)
    if other:sub(1, #key) == key and (after == "" or after == "." or after == "[") then places[other] = place end
  end
end

-- Merges the upper layer into the lower one, in place: mappings are joined, anything else is replaced.
function manifest.merge(lower, upper, node, value, over, key)
  value, over, key = value or lower.value, over or upper.value, key or ""
  for _, field in ipairs(node.fields) do
    local name, child = field[1], field[2]
    local below = key == "" and name or key .. "." .. name
    if over[name] ~= nil then
      if child.kind == "map" and not child.whole and value[name] ~= nil then
        lower.places[below] = upper.places[below] or lower.places[below]
        manifest.merge(lower, upper, child, value[name], over[name], below)
      else
        manifest.forget(lower.places, below)
        value[name] = over[name]
        inherit(lower.places, upper.places, below)
      end
    elseif upper.places[below] then -- refused there: the user did set it
      lower.places[below] = upper.places[below]
    end
  end
end

local function nearest_place(places, key)
  while not places[key] and key ~= "" do
    key = key:match("^(.*)%.[^.%[]*$") or key:match("^(.*)%[%d+%]$") or ""
  end
  return places[key], key
end

local function place_text(place, label)
  return place and place.option or ("%s:%d"):format(place and place.label or label, place and place.line or 1)
end

-- A merged layer for the rules.
local function draft_of(layer, dir)
  local draft, refused = { value = layer.value, dir = dir }, {}
  for _, one in ipairs(layer.errors) do
    if one.key then refused[#refused + 1] = one.key end
  end

  function draft.at(key) return place_text(nearest_place(layer.places, key), layer.label) end

  function draft.stands(key) return layer.places[key] ~= nil end

  -- The schema refused it or a part of it, so it has an error already.
  function draft.refused(key)
    for _, other in ipairs(refused) do
      if other:sub(1, #key) == key then return true end
    end
    return false
  end

  function draft.say(key, message)
    local place, known = nearest_place(layer.places, key)
    local name = place and place.option and "" or nearest.escape(known == key and place and place.name or key) .. ": "
    local text = place_text(place, layer.label) .. ": " .. name .. message
    local label, line = place and place.label or layer.label, place and place.line or 1
    layer.errors[#layer.errors + 1] = { label = label, line = line, text = text }
  end

  return draft
end

local function sorted_texts(errors, label)
  for index, one in ipairs(errors) do one.index = index end
  table.sort(errors, function(a, b)
    if a.label ~= b.label then return a.label == label or (b.label ~= label and a.label < b.label) end
    if a.line ~= b.line then return a.line < b.line end
    return a.index < b.index
  end)
  local texts = {}
  for index, one in ipairs(errors) do texts[index] = one.text end
  return texts
end

-- Completes a merged layer: the manifest table, or nil and the list of all errors. path is the manifest's; home, if the
-- file is not a manifest.yaml: { dir = the base of its paths, home = the folder of its state, file, name }. A room's
-- rules may set branch (the run's) and own_branch: candidates start from that branch, which others may move, not from
-- HEAD; or branch_by_id: candidates that lead have branches of their own below it.
function manifest.finish(layer, path, home)
  home = home or {}
  local dir = home.dir or path:match("^(.*)/[^/]*$") or "."
  if dir == "" then dir = "/" end
  local draft = draft_of(layer, fs.realpath(dir) or dir)
  draft.name = home.name -- the file's place names it
  if not layer.unread then
    rules.variants(draft)
    shape.fill(schema.manifest, layer.value, "", function(key, node)
      if draft.stands(key) then return end
      draft.say(key, ("is required; it must be %s: %s"):format(shape.expects(node), node.doc))
    end)
    rules.check(draft)
  end
  if #layer.errors > 0 then return nil, sorted_texts(layer.errors, layer.label) end
  local made = layer.value
  made.path, made.dir, made.lines = fs.realpath(path) or path, draft.dir, {}
  made.home, made.program_file = home.home or draft.dir, home.file
  made.branch = made.branch or "apsis/" .. made.project.ref
  for key, place in pairs(layer.places) do made.lines[key] = place.line end
  made.where = function(key) return draft.at(key) end
  made.states = draft.stands
  return made
end

-- The manifest at path, complete with defaults, plus project.ref (the name made a ref's component), path, dir, lines
-- ({[key] = line}) where(key) -> "FILE:LINE", and states(key), whether it is no default; or nil and a list of errors.
function manifest.load(path)
  return manifest.finish(manifest.read(path, schema.manifest), path)
end

return manifest
