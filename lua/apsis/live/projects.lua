-- projects: all projects of a repository: their files, by which config.load opens them. Opens none of them.
local fs = require "apsis.fs"
local git = require "apsis.git"
local rooms = require "apsis.core.rooms"

local projects = {}

-- The manifest.yaml files of the working tree, committed in HEAD or new there (absolute paths). entries: of HEAD.
function projects.manifests(repo, info, entries)
  local found, seen = {}, {}
  local function take(path)
    local whole = info.workdir .. "/" .. path
    if path:find("%f[^/\0]manifest%.yaml$") and not seen[whole] and fs.stat(whole) then
      seen[whole], found[#found + 1] = true, whole
    end
  end
  for _, entry in ipairs(entries) do take(entry.path) end
  for _, path in ipairs(repo:dirty { untracked = true } or {}) do
    take(path:sub(-1) == "/" and path .. "manifest.yaml" or path)
  end
  return found
end

-- The project files of the repository that dir is in (absolute paths, sorted), with what rooms know, and its root; nil
-- without a repository that has files.
function projects.of(dir)
  local start = fs.realpath(dir)
  local repo <close> = start and git.open(start)
  local info = repo and repo:info()
  if not info or info.bare then return nil end
  local found, seen, list = projects.manifests(repo, info, info.head and repo:entries(info.head) or {}), {}, {}
  for _, files in rooms.each "project_files" do
    for _, path in ipairs(files(start)) do found[#found + 1] = path end
  end
  for _, path in ipairs(found) do
    path = fs.realpath(path)
    if path and not seen[path] then seen[path], list[#list + 1] = true, path end
  end
  table.sort(list)
  return list, info.workdir
end

return projects
