-- links: refuses links in apsis's own folders of a project: .apsis, logs and runs. A cloned repository may hold
-- `logs/apsis.log -> ../../.ssh/config`. The runtime follows no link when it writes either; this file explains the
-- problem to the user. Called by session, the goals' listing, tick, show and runs.
local fs = require "apsis.fs"

local links = {}

-- The first link on the way from a folder to a path below it, or nil.
local function link_on_way(root, path)
  local at = root
  for part in path:gmatch "[^/]+" do
    at = at .. "/" .. part
    local stat = fs.stat(at, { follow = false })
    if not stat then return nil end
    if stat.type == "link" then return at end
  end
end

local function refusal(link)
  return nil, ("%s is a symbolic link (to %s): apsis keeps its own files there and follows no link; "
    .. "remove it with: rm '%s'"):format(link, fs.readlink(link) or "?", link), 3
end

-- Whether no component of a path below a folder is a link: true | nil, message, 3. Missing ones are fine.
function links.none(root, path)
  local link = link_on_way(root, path)
  if link then return refusal(link) end
  return true
end

-- The same for a folder and its direct entries.
function links.none_in(root, path)
  local link = link_on_way(root, path)
  for _, name in ipairs(not link and fs.list(root .. "/" .. path) or {}) do
    link = link or link_on_way(root .. "/" .. path, name)
  end
  if link then return refusal(link) end
  return true
end

local files = { ".apsis/.gitignore", ".apsis/autoloop.json", ".apsis/lock", ".apsis/packs.json", ".apsis/pause",
  ".apsis/turn", "logs/.gitignore", "logs/apsis.log", "logs/directions.jsonl", "logs/results.jsonl", "logs/state.json",
  "runs/.gitignore", "runs/.history.json", "runs/.history.json~" }

-- The same for a project's folders and the files in them that every command may open. An experiment's folder is checked
-- when it is opened. manifest: its home lies in its dir.
function links.check(manifest)
  local dir, home = manifest.dir, manifest.home
  local ok, message, code = true, nil, nil
  if home:sub(1, #dir + 1) == dir .. "/" then ok, message, code = links.none(dir, home:sub(#dir + 2)) end
  for _, path in ipairs(files) do
    if ok then ok, message, code = links.none(home, path) end
  end
  return ok, message, code
end

return links
