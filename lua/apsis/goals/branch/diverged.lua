-- diverged: joins a branch of state files that grew both here and at origin, file by file. A file that only one side
-- changed is that side's; of two journals the longer one counts if it continues the other; two state files are joined
-- by job.join. Anything else is a clash, which stops only the goal whose file it is. Reads objects, writes nothing.
local fs = require "apsis.fs"
local tips = require "apsis.goals.branch.tips"

local diverged = {}

-- ---- journals ----

-- The complete lines.
function diverged.whole(bytes) return bytes:match("^.*\n") or "" end

-- The number of the first line that differs.
function diverged.first_difference(a, b)
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

-- "mine" or "theirs"; nil and the clash if both have lines that the other lacks.
local function choose_journal(path, mine, theirs)
  local here, there = diverged.whole(mine), diverged.whole(theirs)
  if there:sub(1, #here) == here then return "theirs" end
  if here:sub(1, #there) == there then return "mine" end
  return nil, ("%s from line %d on"):format(path, diverged.first_difference(here, there))
end

-- ---- files ----

local function key(entry) return entry and entry.mode .. entry.id or "" end

local function plain(entry) return not entry or entry.mode:find("^100") ~= nil end

-- "md" or "jsonl" if the path is a program's: both files exist, or it is this program's.
local function kind_of(job, trees, path)
  local name, kind = path:match("^([^/]+)%.(%l+)$")
  local partner = kind == "md" and "jsonl" or kind == "jsonl" and "md"
  if not partner then return nil end
  partner = name .. "." .. partner
  if name == job.name or trees.mine[partner] or trees.theirs[partner] then return kind end
end

-- The bytes of a file in each tree that has it, by tree; nil and why.
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

-- Joins two texts, and adds the warnings to the plan.
local function join(job, path, bytes, plan)
  local text, warnings = job.join(bytes.base, bytes.mine, bytes.theirs)
  plan.other[path] = bytes.mine
  if #warnings > 0 then plan.said[#plan.said + 1] = { path = path, warnings = warnings } end
  if text == bytes.mine then return "mine" end
  plan.edits[path] = text
  return "joined"
end

-- "mine", "theirs" or "joined" for a file that both changed; nil, the clash; or nil, nil, message.
local function choose(job, trees, path, plan)
  local kind = kind_of(job, trees, path)
  if not kind or not (plain(trees.mine[path]) and plain(trees.theirs[path])) then return nil, path end
  local bytes, message = read_all(job, trees, path)
  if not bytes then return nil, nil, message end
  if kind == "jsonl" then return choose_journal(path, bytes.mine or "", bytes.theirs or "") end
  if not (bytes.mine and bytes.theirs) then return bytes.mine and "mine" or "theirs" end
  return join(job, path, bytes, plan)
end

local function entries(job, side)
  if not job[side] then return {} end
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

-- The side of one path: the side that changed it, if only one did.
local function side_of(job, trees, path, plan)
  local base, mine, theirs = key(trees.base[path]), key(trees.mine[path]), key(trees.theirs[path])
  if mine == theirs or theirs == base then return "mine" end
  if mine == base then return "theirs" end
  return choose(job, trees, path, plan)
end

-- ---- refusals ----

-- Adds what is lost of a path if the other side counts.
local function add_loss(job, trees, path, side, lost)
  local other = side == "mine" and "theirs" or "mine"
  if key(trees[side][path]) == key(trees.base[path]) then return end
  local kind = plain(trees[side][path]) and plain(trees[other][path]) and kind_of(job, trees, path)
  if kind == "md" and trees[side][path] then return table.insert(lost.texts, path) end
  if kind ~= "jsonl" or not trees[side][path] then return table.insert(lost.files, lost.owner .. path) end
  local bytes = read_all(job, trees, path) or {}
  local whole, against = diverged.whole(bytes[side] or ""), diverged.whole(bytes[other] or "")
  if against:sub(1, #whole) == whole then return end
  local first = diverged.first_difference(whole, against)
  local more = count(whole) - first + 1
  local lines = more == 1 and "line" or "lines"
  table.insert(lost.files, ("%d %s measured %s (%s from line %d on)"):format(more, lines, lost.where, path, first))
end

-- What a remedy loses of one side, in words.
local function losses(job, trees, side)
  local lost = { texts = {}, files = {}, where = side == "mine" and "here" or "at origin",
    owner = side == "mine" and "this clone's " or "origin's " }
  for _, path in ipairs(all_paths(trees)) do
    if key(trees.mine[path]) ~= key(trees.theirs[path]) then add_loss(job, trees, path, side, lost) end
  end
  local texts = #lost.texts > 0 and ("the edits %s in %s"):format(lost.where, table.concat(lost.texts, ", ")) or nil
  local files = #lost.files > 0 and table.concat(lost.files, ", ") or nil
  return files and texts and files .. " and " .. texts or files or texts or "nothing"
end

-- Puts aside what would contradict origin's journal: the local one, and the goal's branch, whose candidates only the
-- local one has.
local function put_aside(job, journal)
  local goal = "autoloop/" .. job.name
  local text = fs.stat(journal) and (" && mv '%s' '%s.old'"):format(journal, journal) or ""
  local mine, theirs = tips.both(job.repo, goal)
  return mine and theirs and ("%s && git branch -f %s origin/%s"):format(text, goal, goal) or text
end

-- sides: the commits that each side has and the other lacks; journal: the local file that would contradict the branch
-- if origin's is taken.
local function remedies(job, sides, why, lost, journal)
  local branch = job.branch
  local aside = journal and put_aside(job, journal) or ""
  return ("%s and origin/%s have diverged (by %d and %d commits): %s; to take origin's, which loses %s: "
    .. "git branch -f %s origin/%s%s; to keep yours, which loses %s: git push --force-with-lease origin %s"):format(
    branch, branch, sides.ahead, sides.behind, why, lost.mine, branch, branch, aside, lost.theirs, branch)
end

-- ---- the plan ----

-- The merge base; false if each of two clones began the branch; nil, message, 3.
local function base_of(job)
  local base, message, code = job.repo:merge_base(job.mine, job.theirs)
  if base then return base end
  if code ~= "ENOENT" then return nil, ("branch %s: %s"):format(job.branch, message), 3 end
  local info = job.repo:info()
  if info and info.shallow then return nil, ("branch %s: %s"):format(job.branch, tips.CUT), 3 end
  return false
end

-- Compares the sides path by path: a plan and the clashes, each { path, text }; nil, message.
local function compare(job, trees)
  local plan, clashes = { edits = {}, other = {}, said = {} }, {}
  for _, path in ipairs(all_paths(trees)) do
    local side, clash, failed = side_of(job, trees, path, plan)
    if failed then return nil, failed end
    if not side then clashes[#clashes + 1] = { path = path, text = clash } end
    local entry = trees.theirs[path]
    if side == "theirs" then plan.edits[path] = entry and { id = entry.id, mode = entry.mode } or false end
  end
  return plan, clashes
end

-- Limits the plan to this program's files, if the clash is in others.
local function keep_own(job, plan)
  local own = { [job.name .. ".md"] = true, [job.name .. ".jsonl"] = true }
  for path in pairs(plan.edits) do
    if not own[path] then plan.edits[path] = nil end
  end
  for index = #plan.said, 1, -1 do
    if not own[plan.said[index].path] then table.remove(plan.said, index) end
  end
end

-- job: { repo, branch, name (the program's), mine and theirs (commits), journal (the local one's path), join(base or
-- nil, mine, theirs) -> text, warnings }; sides: { ahead, behind }. Gives { edits = what git's edit_tree makes of mine
-- to have both, by path; other = the texts of this side that were joined, by path; said = list of { path, warnings };
-- apart = where files that are not the program's clash, the way out: edits are then of its own files alone } | nil,
-- message, 3.
function diverged.plan(job, sides)
  local message, code
  job.base, message, code = base_of(job)
  if job.base == nil then return nil, message, code end
  local trees = {}
  for _, side in ipairs { "base", "mine", "theirs" } do
    trees[side], message = entries(job, side)
    if not trees[side] then return nil, message, 3 end
  end
  local plan, clashes = compare(job, trees)
  if not plan then return nil, clashes, 3 end
  if #clashes == 0 then return plan end
  local texts, own, journal, goals = {}, false, nil, true
  for index, clash in ipairs(clashes) do
    goals = goals and kind_of(job, trees, clash.path) ~= nil
    texts[index] = clash.text
    own = own or clash.path == job.name .. ".md" or clash.path == job.name .. ".jsonl"
    if clash.path == job.name .. ".jsonl" then journal = job.journal end
  end
  plan.apart = remedies(job, sides, "both change " .. table.concat(texts, ", "), { mine = losses(job, trees, "mine"),
    theirs = losses(job, trees, "theirs") }, journal)
  if own then return nil, plan.apart, 3 end
  if goals then
    plan.apart = ("%s keeps it apart from origin/%s: `apsis schedule` shows how to resolve it"):format(
      table.concat(texts, ", "), job.branch)
  end
  keep_own(job, plan)
  return plan
end

return diverged
