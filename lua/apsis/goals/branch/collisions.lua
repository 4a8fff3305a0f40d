-- collisions: the conflicts that git finds in a merge and libgit2 does not: a path that both sides made with different
-- modes; a file that one side renamed and the other replaced by a link or a submodule; a file that one side put into a
-- folder that the other moved away. Read-only. Called by sync after a clean merge.
local collisions = {}

-- A path's mode before a change; nil if the change added it.
local function mode_before(change)
  if change.status == "added" or change.status == "renamed" then return nil end
  return change.old_mode
end

local function add_modes(found, ours, theirs)
  local by_path = {}
  for _, change in ipairs(ours) do by_path[change.path] = change end
  for _, change in ipairs(theirs) do
    local other = by_path[change.path]
    if other and other.status ~= "deleted" and change.status ~= "deleted" and other.mode ~= change.mode then
      local before = mode_before(change)
      if before ~= change.mode and before ~= other.mode then found[change.path] = true end
    end
  end
end

local function add_replaced(found, changes, others)
  local replaced = {}
  for _, change in ipairs(others) do
    if change.status == "type" then replaced[change.path] = true end
  end
  for _, change in ipairs(changes) do
    if change.status == "renamed" and replaced[change.old_path] then found[change.old_path] = true end
  end
end

local function folders(path)
  return coroutine.wrap(function()
    for slash in path:gmatch("()/") do coroutine.yield(path:sub(1, slash - 1)) end
  end)
end

-- The folders that a side emptied by renaming their files.
local function moved_away(repo, side, changes)
  local away = {}
  for _, change in ipairs(changes) do
    if change.status == "renamed" then
      for folder in folders(change.old_path) do
        if away[folder] == nil then
          local entries, message = repo:entries(side, folder)
          if not entries then return nil, message end
          away[folder] = #entries == 0
        end
      end
    end
  end
  return away
end

local function add_strays(found, repo, side, changes, others)
  local away, message = moved_away(repo, side, changes)
  if not away then return nil, message end
  for _, change in ipairs(others) do
    if change.status == "added" or change.status == "renamed" then
      for folder in folders(change.path) do
        if away[folder] then found[change.path] = true end
      end
    end
  end
  return true
end

-- The paths that collide between two commits with the given merge base, sorted; nil and why.
function collisions.find(repo, base, ours, theirs)
  local found, list = {}, {}
  local mine, message = repo:changes(base, ours)
  if not mine then return nil, message end
  local others
  others, message = repo:changes(base, theirs)
  if not others then return nil, message end
  add_modes(found, mine, others)
  for _, sides in ipairs { { ours, mine, others }, { theirs, others, mine } } do
    add_replaced(found, sides[2], sides[3])
    local done
    done, message = add_strays(found, repo, table.unpack(sides))
    if not done then return nil, message end
  end
  for path in pairs(found) do list[#list + 1] = path end
  table.sort(list)
  return list
end

return collisions
