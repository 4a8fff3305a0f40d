-- torn: files of apsis's own refs that are empty or full of zeros, as a power failure may leave them. git lists no such
-- ref, and neither replaces nor deletes it. Called by starting, moved and the room reset.
local fs = require "apsis.fs"
local lock = require "apsis.live.lock"

local torn = {}

-- The file of a ref that is torn; nil if the ref is not.
function torn.file(repo, name)
  local _, _, code = repo:ref(name)
  local info = code == "ETORN" and repo:info()
  return info and lock.common_dir(info.gitdir) .. "/" .. name or nil
end

-- Removes the files of torn refs at a place: one ref, or with a slash at its end those in that folder. Leaves a branch
-- that is checked out. Returns the names.
function torn.clear(repo, place)
  local info, names, cleared, readable = repo:info(), { place }, {}, {}
  if info and place:sub(-1) == "/" then
    names = fs.list(lock.common_dir(info.gitdir) .. "/" .. place) or {}
    for _, ref in ipairs(repo:refs(place) or {}) do readable[ref.name] = true end
    for index, name in ipairs(names) do names[index] = place .. name end
  end
  for _, name in ipairs(names) do
    local file = not readable[name] and torn.file(repo, name)
    if file and not repo:checked_out((name:gsub("^refs/heads/", ""))) and fs.remove(file) then
      cleared[#cleared + 1] = name
    end
  end
  return cleared
end

return torn
