-- names: the other names of a folder: another mount of its file system (a bind mount, btrfs's top volume) shows it, or
-- a part of it, at another place. Called by cage.
local names = {}

local function is_below(path, folder)
  return folder == "/" or path == folder or path:sub(1, #folder + 1) == folder .. "/"
end

-- The rest of a path below a folder: "" or "/...".
local function rest(path, folder) return folder == "/" and (path ~= "/" and path or "") or path:sub(#folder + 1) end

-- Every mount, in the order in which they were made: { device, root (its place in the file system), point }.
local function mounts_of(mountinfo)
  local list = {}
  for line in mountinfo:gmatch "[^\n]+" do
    local device, root, point = line:match "^%d+ %d+ (%S+) (/%S*) (%S+)"
    if device then
      local function plain(text)
        return (text:gsub("\\(%d%d%d)", function(digits) return string.char(tonumber(digits, 8)) end))
      end
      list[#list + 1] = { device = device, root = plain(root), point = plain(point) }
    end
  end
  return list
end

-- What is mounted in a hidden folder and is also the system's stays visible there.
local systems = {}
for name in ("usr etc bin sbin lib lib32 lib64 opt var proc sys dev boot nix gnu snap"):gmatch "%S+" do
  systems[name] = true
end

-- Where a folder's contents are: its place in the file system that it lies in, and what is mounted below it.
local function places_of(folder, list)
  local own, places = nil, {}
  for _, mount in ipairs(list) do
    if is_below(folder, mount.point) then
      if not own or #mount.point >= #own.point then own = mount end
    elseif is_below(mount.point, folder) then
      places[#places + 1] = { device = mount.device, path = mount.root, inner = true }
    end
  end
  if own then
    local below = rest(folder, own.point)
    places[#places + 1] = { device = own.device, path = own.root == "/" and below ~= "" and below or own.root .. below }
  end
  return places
end

-- Whether a mount also shows the folder that it is mounted on, as `mount --bind / /mnt` does. Landlock takes what is
-- allowed there for allowed at both names, so all of it is hidden.
local function shows_itself(mount, list)
  local under
  for _, other in ipairs(list) do
    if other ~= mount and is_below(mount.point, other.point) and (not under or #other.point >= #under.point) then
      under = other
    end
  end
  if not under or under.device ~= mount.device then return false end
  local below = rest(mount.point, under.point)
  return is_below(under.root == "/" and below ~= "" and below or under.root .. below, mount.root)
end

-- The name that a mount gives to a place or to a part of it; nil if it shows nothing of it.
local function name_by(mount, place)
  if mount.device ~= place.device then return nil end
  if is_below(place.path, mount.root) then
    local below = rest(place.path, mount.root)
    return mount.point == "/" and below ~= "" and below or mount.point .. below
  end
  return is_below(mount.root, place.path) and mount.point or nil
end

-- The other names of folders (their real paths), or of what lies in them. mountinfo: the text of /proc/self/mountinfo.
function names.others(folders, mountinfo)
  local list, found = mounts_of(mountinfo), {}
  for _, folder in ipairs(folders) do
    for _, place in ipairs(places_of(folder, list)) do
      for _, mount in ipairs(list) do
        local name = name_by(mount, place)
        if name and mount.point ~= "/" and shows_itself(mount, list) then name = mount.point end
        if name and not is_below(name, folder) and not (place.inner and systems[name:match "^/([^/]*)"]) then
          found[#found + 1] = name
        end
      end
    end
  end
  return found
end

return names
