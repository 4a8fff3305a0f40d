-- lfs: whether HEAD holds Git LFS pointers in place of files. apsis reads the repository's bytes without filters, so it
-- would measure the pointers. Only reads the repository. Called by setup and by baseline.
local lfs = {}

local FIRST_LINE = "version https://git-lfs.github.com/spec/v1"
local LARGEST = 1024 -- bytes of a pointer

local function asks_for_lfs(live, path)
  local text = live.repo:read(live.head, path)
  return text ~= nil and text:find("filter=lfs", 1, true) ~= nil
end

-- The .gitattributes above the project, from the repository's root on.
local function above(prefix)
  local paths, at = {}, ""
  for part in prefix:gmatch("[^/]+") do
    paths[#paths + 1] = at .. ".gitattributes"
    at = at .. part .. "/"
  end
  return paths
end

local function uses_lfs(live, entries)
  for _, path in ipairs(above(live.prefix)) do
    if asks_for_lfs(live, path) then return true end
  end
  for _, entry in ipairs(entries) do
    if (entry.path:find("/.gitattributes", -15, true) or entry.path == ".gitattributes")
      and asks_for_lfs(live, entry.path) then return true end
  end
  return false
end

-- The path of the first project file in HEAD that is a pointer, or nil. live: a world (repo, head, prefix). Files are
-- read only if a .gitattributes has filter=lfs.
function lfs.pointer(live)
  local entries = live.repo:entries(live.head, live.prefix ~= "" and live.prefix or nil)
  if not entries or not uses_lfs(live, entries) then return nil end
  for _, entry in ipairs(entries) do
    local text = entry.mode:find("^100") and live.repo:read(live.head, entry.path)
    if text and #text < LARGEST and text:sub(1, #FIRST_LINE) == FIRST_LINE then
      return live:project_path(entry.path)
    end
  end
end

-- What to tell the user about it.
function lfs.remedy(path)
  return ("%s is a pointer of Git LFS in HEAD, which would be measured in the file's place: "
    .. "git lfs migrate export --include=%s, or keep the file out of the repository: name its folder in .gitignore "
      .. "and in "
    .. "workspace.link"):format(path, path)
end

return lfs
