-- items: the items of a component: files of a candidate that match globs, or the ids in a file. Reads commits; never
-- the workspace, where a candidate's commands have run. Called by fitness/scoring.
local editline = require "apsis.edit.line"
local fs = require "apsis.fs"

local items = {}

local MOST_BYTES = 64 * 1048576

-- A component's file: of the candidate's commit, else of the project's directory (if git ignores it, or the files are
-- judged as they are). text | nil, message.
function items.file(world, record, path)
  local text, message
  if not world.as_they_lie then text = world:read(record, path) end
  if text then return text end
  text, message = fs.read(world.dir .. "/" .. path, MOST_BYTES)
  if text then return text end
  return nil, ("%s is neither committed nor in the project's directory: %s"):format(path, message)
end

-- The ids in a file, one per line, without empty lines and # comments.
local function ids_of(text, path)
  local list, seen = {}, {}
  for line in text:gmatch("[^\r\n]+") do
    local id = editline.trim(line)
    if id ~= "" and id:sub(1, 1) ~= "#" then
      if seen[id] then return nil, ("%s names %s twice"):format(path, id) end
      if id:find("%z") then return nil, ("%s holds a NUL character"):format(path) end
      list[#list + 1], seen[id] = id, true
    end
  end
  if #list == 0 then return nil, path .. " names no item" end
  return list
end

-- The files of a candidate that match globs and that it may write, or those that it may not.
local function matching(world, record, patterns, writable)
  local found = {}
  for _, path in ipairs(world:files_of(record)) do
    for _, pattern in ipairs(patterns) do
      if fs.glob_match(pattern, path) then
        if (world.scope:mode(path) == "writable") == writable then found[#found + 1] = path end
        break
      end
    end
  end
  return found
end

-- A writable file that matches the component's globs: an item must not be writable. nil if there is none.
function items.writable(world, record, spec)
  return type(spec.tasks) == "table" and matching(world, record, spec.tasks, true)[1] or nil
end

-- The ids of a component's items in order; nil if it has none; nil, message if they cannot be read.
function items.of(world, record, spec)
  local named = spec.tasks
  if not named then return nil end
  if type(named) == "string" then
    local text, message = items.file(world, record, named)
    if not text then return nil, message end
    return ids_of(text, named)
  end
  local found = matching(world, record, named, false)
  if #found == 0 then return nil, "no committed file matches tasks: " .. table.concat(named, ", ") end
  return found
end

return items
