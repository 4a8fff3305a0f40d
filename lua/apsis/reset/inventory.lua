-- inventory: what a run has left: files in the project, refs in the repository, workspaces outside of both. Only looks.
-- Called by shelf and the command.
local fs = require "apsis.fs"
local here = require "apsis.live.executor.here"

local inventory = {}

local function numbered(name)
  return name:find "^%d%d%d%d+$" ~= nil or name:find "^%d%d%d%d+_baseline$" ~= nil
end

local products = { latest = true, [".history.json"] = true, [".history.json~"] = true, ["report.html"] = true }

-- Which entries of apsis's folders are a run's; the user may have others there. The journal comes last: while it is
-- there, a run has something to be reset. logs/apsis.log stays, for it is of all runs.
local folders = {
  { "runs", function(name) return numbered(name) or products[name] end },
  { ".apsis", { "digests", "explained", "fold", "held", "inbox", "next", "pause", "run" } },
  { "logs", { "state.json", "directions.jsonl", "results.jsonl" } },
}

-- The folders below a root, as a reset makes them again elsewhere.
function inventory.folders()
  local names = {}
  for index, folder in ipairs(folders) do names[index] = folder[1] end
  return names
end

-- The entries below a root that are a run's, relative to it, in the order in which they are moved.
function inventory.files(root)
  local found = {}
  for _, folder in ipairs(folders) do
    local name, wanted = folder[1], folder[2]
    local names = wanted
    if type(wanted) == "function" then
      names = {}
      for _, entry in ipairs(fs.list(root .. "/" .. name) or {}) do
        if wanted(entry) then names[#names + 1] = entry end
      end
    end
    for _, entry in ipairs(names) do
      local path = name .. "/" .. entry
      if fs.stat(root .. "/" .. path, { follow = false }) then found[#found + 1] = path end
    end
  end
  return found
end

-- Where the refs of a run are and where a reset puts them: { live, shelved } each, the name of one ref or, with a slash
-- at its end, the beginning of several. at: ref, branch, stamp.
function inventory.places(at)
  local shelf = ("refs/apsis-reset/%s/%s/"):format(at.ref, at.stamp or "")
  return { { "refs/apsis/" .. at.ref .. "/", shelf .. "candidates/" },
    { "refs/apsis-anchors/" .. at.ref .. "/", shelf .. "anchors/" },
    { "refs/heads/" .. at.branch, shelf .. "branch" .. (at.branch:match "/$" or "") } }
end

-- A project's branch; with a slash at its end, if it has several below that.
function inventory.branch_of(manifest)
  return manifest.branch .. (manifest.branch_by_id and "/" or "")
end

-- The refs at a place, without torn ones: { name, id } each | nil, message.
function inventory.refs_at(repo, place)
  if place:sub(-1) == "/" then return repo:refs(place) end
  local id, message, code = repo:ref(place)
  if not id and code ~= "ENOENT" and code ~= "ETORN" then return nil, message end
  return id and { { name = place, id = id } } or {}
end

-- Bytes of a file, or of all files below a folder.
function inventory.size(path)
  local stat = fs.stat(path, { follow = false })
  if not stat or stat.type ~= "directory" then return stat and stat.size or 0 end
  local bytes = 0
  for _, name in ipairs(fs.list(path) or {}) do bytes = bytes + inventory.size(path .. "/" .. name) end
  return bytes
end

-- The folders of a project's workspaces; another one, with a number, is there if two apsis share a cache.
function inventory.workspaces(manifest)
  local above, own = here.root(manifest.home, manifest.workspace.root):match "^(.*)/([^/]*)$"
  local found = {}
  for _, name in ipairs(fs.list(above) or {}) do
    local path = above .. "/" .. name
    local mine = name == own or name:sub(1, #own + 1) == own .. "-" and name:find "%-%d+$"
    if mine and fs.stat(path, { follow = false }).type == "directory" then found[#found + 1] = path end
  end
  return found
end

return inventory
