-- links: refuses links in apsis's own folders of a project: .apsis, logs and runs, and texts for the provider that lie
-- elsewhere. A cloned repository may hold `logs/apsis.log -> ../../.ssh/config`. The runtime follows no link when it
-- writes either; this file explains the problem to the user. Called by session, the goals' listing, tick, show and
-- runs.
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
    .. "remove it with: rm '%s'"):format(link, fs.readlink(link) or "?", (link:gsub("'", "'\\''"))), 3
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

local files = { ".apsis/.gitignore", ".apsis/autoloop.json", ".apsis/digests", ".apsis/fold", ".apsis/inbox/done",
  ".apsis/inbox/last", ".apsis/lock", ".apsis/packs.json", ".apsis/pause", ".apsis/turn", "logs/.gitignore",
  "logs/apsis.log", "logs/directions.jsonl", "logs/results.jsonl", "logs/state.json", "runs/.gitignore",
  "runs/.history.json", "runs/.history.json~" }

-- Whether a text for the provider is the project's own. A link may lead to it, but not out of the project.
local function leads_out(dir, path)
  local real, root = fs.realpath(path), fs.realpath(dir)
  if not real or not root or real == root or real:sub(1, #root + 1) == root .. "/" then return nil end
  return ("%s leads out of the project (to %s), and its text would go to the provider; put the file itself there")
    :format(path, real)
end

-- The texts that go to the provider: the program and the project's templates.
local function check_texts(manifest)
  local paths = { manifest.program_file or manifest.program and manifest.dir .. "/" .. manifest.program or nil }
  for _, name in ipairs(fs.list(manifest.home .. "/prompts") or {}) do
    paths[#paths + 1] = manifest.home .. "/prompts/" .. name
  end
  for _, path in ipairs(paths) do
    local message = leads_out(manifest.dir, path)
    if message then return nil, message, 3 end
  end
  return true
end

-- The same for a project's folders and the files in them that every command may open, and for the texts that go to the
-- provider. An experiment's folder is checked when it is opened. manifest: its home lies in its dir.
function links.check(manifest)
  local dir, home = manifest.dir, manifest.home
  local ok, message, code = true, nil, nil
  if home:sub(1, #dir + 1) == dir .. "/" then ok, message, code = links.none(dir, home:sub(#dir + 2)) end
  for _, path in ipairs(files) do
    if ok then ok, message, code = links.none(home, path) end
  end
  if not ok then return nil, message, code end
  return check_texts(manifest)
end

return links
