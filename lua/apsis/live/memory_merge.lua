-- memory_merge: a branch of state files that grew here and at origin, as one: for each file which side's counts. A file that one side
-- changed is that side's; of two journals the longer counts where it goes on from the other; of two texts the one with a person's edits,
-- origin's where both have them: what it has not taken in is taken in again from the journal. All else is refused. Reads objects,
-- writes nothing. Called by memory.
local tips = require "apsis.live.tips"

local merge = {}

-- ---- refusals ----

-- sides: how many commits each has of its own; files: { path, here, there } with what a remedy loses of each.
local function refuse(job, sides, why, files)
  local lost = { here = {}, there = {} }
  for _, file in ipairs(files) do
    table.insert(lost.here, file.here)
    table.insert(lost.there, file.there)
  end
  local here, there = table.concat(lost.here, ", "), table.concat(lost.there, ", ")
  local branch = job.branch
  return nil, ("%s and origin/%s have diverged (%d and %d commits of their own): %s; to take origin's, which loses %s: "
    .. "git branch -f %s origin/%s; to keep yours, which loses %s: git push --force-with-lease origin %s"):format(branch, branch,
    sides.ahead, sides.behind, why, here, branch, branch, there, branch), 3
end

-- ---- journals ----

-- The complete lines, as one text.
function merge.whole(bytes) return bytes:match("^.*\n") or "" end

-- The number of the first line in which two texts differ.
function merge.first_difference(a, b)
  local number, next_a, next_b = 0, a:gmatch("[^\n]*\n"), b:gmatch("[^\n]*\n")
  repeat
    number = number + 1
    local one, other = next_a(), next_b()
  until one ~= other or not one
  return number
end

local function count(text)
  return select(2, text:gsub("\n", ""))
end

-- "mine" or "theirs"; nil and the clash where both have lines of their own.
local function choose_journal(path, mine, theirs)
  local here, there = merge.whole(mine), merge.whole(theirs)
  if there:sub(1, #here) == here then return "theirs" end
  if here:sub(1, #there) == there then return "mine" end
  local first = merge.first_difference(here, there)
  local function lines(text, where)
    local more = count(text) - first + 1
    return ("%d %s measured %s (%s from line %d on)"):format(more, more == 1 and "line" or "lines", where, path, first)
  end
  return nil, { path = ("%s from line %d on"):format(path, first), here = lines(here, "here"), there = lines(there, "at origin") }
end

-- ---- texts ----

-- "mine" or "theirs", and whether edits of people give way.
local function choose_text(job, base, mine, theirs)
  local function edited(text)
    if not job.edited or not base then return true end
    return job.edited(base, text)
  end
  local ours = edited(mine)
  if ours and not edited(theirs) then return "mine", false end
  return "theirs", ours
end

-- ---- files ----

local function key(entry) return entry and entry.mode .. entry.id or "" end

local function plain(entry) return not entry or entry.mode:find("^100") ~= nil end

-- "md" or "jsonl" where the path is a program's: both stand side by side, or it is this program's own.
local function kind_of(job, trees, path)
  local name, kind = path:match("^([^/]+)%.(%l+)$")
  local partner = kind == "md" and "jsonl" or kind == "jsonl" and "md"
  if not partner then return nil end
  partner = name .. "." .. partner
  if name == job.name or trees.mine[partner] or trees.theirs[partner] then return kind end
end

-- The bytes of a file in the trees that have it, by tree; nil and why.
local function read_all(job, trees, path)
  local bytes = {}
  for _, side in ipairs { "base", "mine", "theirs" } do
    if trees[side][path] then
      local text, message = job.repo:read(job[side], path)
      if not text then return nil, ("%s:%s: %s"):format(job.branch, path, message) end
      bytes[side] = text
    end
  end
  return bytes
end

-- Which side's file counts of one that both changed, with notes to the plan; nil, the clash; or nil, nil, message.
local function choose(job, trees, path, plan)
  local kind = kind_of(job, trees, path)
  if not kind or not (plain(trees.mine[path]) and plain(trees.theirs[path])) then
    return nil, { path = path, here = "this clone's " .. path, there = "origin's " .. path }
  end
  local bytes, message = read_all(job, trees, path)
  if not bytes then return nil, nil, message end
  if kind == "jsonl" then return choose_journal(path, bytes.mine or "", bytes.theirs or "") end
  if not (bytes.mine and bytes.theirs) then return bytes.mine and "mine" or "theirs" end
  local side, gone = choose_text(job, bytes.base, bytes.mine, bytes.theirs)
  plan.other[path] = side == "mine" and bytes.theirs or bytes.mine
  if gone then plan.gone[#plan.gone + 1] = path end
  return side
end

local function entries(job, side)
  local list, message = job.repo:entries(job[side])
  if not list then return nil, ("branch %s: %s"):format(job.branch, message) end
  local by_path = {}
  for _, entry in ipairs(list) do by_path[entry.path] = entry end
  return by_path
end

local function all_paths(trees)
  local seen, list = {}, {}
  for _, side in ipairs { "mine", "theirs" } do
    for path in pairs(trees[side]) do
      if not seen[path] then seen[path], list[#list + 1] = true, path end
    end
  end
  table.sort(list)
  return list
end

-- The side of one path: one side's where only that side changed it.
local function side_of(job, trees, path, plan)
  local base, mine, theirs = key(trees.base[path]), key(trees.mine[path]), key(trees.theirs[path])
  if mine == theirs or theirs == base then return "mine" end
  if mine == base then return "theirs" end
  return choose(job, trees, path, plan)
end

-- The last commit that both have; nil, message, 3.
local function base_of(job, sides)
  local base, message, code = job.repo:merge_base(job.mine, job.theirs)
  if base then return base end
  if code ~= "ENOENT" then return nil, ("branch %s: %s"):format(job.branch, message), 3 end
  local info = job.repo:info()
  if info and info.shallow then return nil, ("branch %s: %s"):format(job.branch, tips.CUT), 3 end
  return refuse(job, sides, "they have no commit in common", { { here = "all that is only here", there = "all that is only at origin" } })
end

-- job: { repo, branch, name (the program's), mine and theirs (commits), edited(before, after) -> whether people changed a text }; sides:
-- { ahead, behind }. Gives { edits = what git's edit_tree makes of mine to have both, by path; other = the texts that give way, by path;
-- gone = the paths where edits that people made here give way to theirs at origin } | nil, message, 3.
function merge.plan(job, sides)
  local message, code
  job.base, message, code = base_of(job, sides)
  if not job.base then return nil, message, code end
  local trees, plan, clashes = {}, { edits = {}, other = {}, gone = {} }, {}
  for _, side in ipairs { "base", "mine", "theirs" } do
    trees[side], message = entries(job, side)
    if not trees[side] then return nil, message, 3 end
  end
  for _, path in ipairs(all_paths(trees)) do
    local side, clash, failed = side_of(job, trees, path, plan)
    if failed then return nil, failed, 3 end
    if not side then clashes[#clashes + 1] = clash end
    local entry = trees.theirs[path]
    if side == "theirs" then plan.edits[path] = entry and { id = entry.id, mode = entry.mode } or false end
  end
  if #clashes == 0 then return plan end
  local names = {}
  for index, clash in ipairs(clashes) do names[index] = clash.path end
  return refuse(job, sides, "both change " .. table.concat(names, ", "), clashes)
end

return merge
