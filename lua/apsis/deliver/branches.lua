-- branches: the branches that split makes: their names, their commits, and all of them or none. Never changes a branch
-- that exists. Called by split.
local message = require "apsis.deliver.message"
local paths = require "apsis.project.path"

local branches = {}

local MOST_NAMED, TITLE = 50, 40

-- Whether git would take a name for a branch, and no shell take it for something else.
local function is_plain(name)
  for part in (name .. "/"):gmatch "([^/]*)/" do
    local bad = part:find "%.%." or part:find "%.$" or part:find "%.lock$"
    if bad or not part:find "^[%w_][%w_.+-]*$" then return false end
  end
  return true
end

-- The beginning of the branches' names, `given` or the usual one, if no branch has it. prefix | nil, message, code.
function branches.prefix(repo, given, usual)
  local prefix = given or usual
  if given and not is_plain(given) then
    return nil, ("--prefix: %q is no beginning of a branch's name"):format(prefix), 2
  end
  local there, why = repo:refs("refs/heads/" .. prefix .. "/")
  if not there then return nil, why, 3 end
  local names = {}
  for index = 1, math.min(#there, MOST_NAMED) do names[index] = paths.quoted(there[index].name:sub(12)) end
  if repo:ref("refs/heads/" .. prefix) then table.insert(names, 1, prefix) end
  if #names == 0 then return prefix end
  return nil, ("there are branches of that name already: git branch -D %s, or choose another with --prefix NAME")
    :format(table.concat(names, " ")), 3
end

-- A title as part of a name: "Sort by key (fast)" is sort-by-key-fast.
local function slug(title)
  local text = title:lower():gsub("[^%w]+", "-"):sub(1, TITLE):gsub("^%-+", ""):gsub("%-+$", "")
  return text ~= "" and "-" .. text or ""
end

-- Gives every part the name of its branch.
function branches.name(list, prefix)
  for index, part in ipairs(list) do part.branch = ("%s/%d%s"):format(prefix, index, slug(list:title(part))) end
end

local function message_of(self, made, index)
  local part, record = made.list[index], made.record
  local steps, subject = made.list:steps_of(part), made.list:title(part)
  local body = #steps > 1 and message.list(made.list.repo, steps) or message.hypothesis(steps[1].record, subject)
  local note = made.before and ("the baseline %.10g, all parts %.10g"):format(made.before, made.after) or nil
  return message.write { subject = subject, body = body, facts = { { "Candidate", record.id },
    { "Part", ("%d of %d"):format(index, #made.list) },
    { "Value", message.value(record, self.manifest.metric.unit, part.found.value, note) } } }
end

-- Makes the branches: every commit, then every ref. If one cannot be made, those before it go. true | nil, message.
function branches.make(self, repo, made)
  for index, part in ipairs(made.list) do
    local why
    assert(part.found.value, "a part that was not measured") -- nobody gets one
    part.final, why = repo:commit { tree = part.tree, parents = { made.base.commit },
      message = message_of(self, made, index) }
    if not part.final then return nil, why end
  end
  for index, part in ipairs(made.list) do
    local done, why = repo:set_ref("refs/heads/" .. part.branch, part.final, false, "apsis: split " .. made.record.id)
    if not done then
      for before = 1, index - 1 do repo:delete_ref("refs/heads/" .. made.list[before].branch) end
      return nil, ("%s cannot be made, so no branch was: %s"):format(part.branch, why)
    end
  end
  return true
end

return branches
