-- store: keeps a goal's state file: NAME.md on a separate branch (with NAME.jsonl, a copy of the journal), or in a
-- folder. Reads and replaces whole files; each change is one commit or one rename. Never checks the branch out: only
-- objects and one ref are written, not the user's files or index. If the branch grew here and at origin, it is read as
-- joined (diverged.lua), and the next write joins it.
local clock = require "apsis.core.clock"
local diverged = require "apsis.goals.branch.diverged"
local fs = require "apsis.fs"
local links = require "apsis.project.links"
local state = require "apsis.state"
local tips = require "apsis.goals.branch.tips"

local store = {}

local LARGEST = 1048576 -- bytes of a state file: far beyond any limit on what is written
local MOST_TRIES = 20

local Branch = {}
Branch.__index = Branch
local Folder = {}
Folder.__index = Folder

-- Whether text can be a state file; nil and why not.
local function check_text(text, place)
  if #text > LARGEST then
    return nil, ("%s is larger than 1 MB, too large for a state file: shorten it"):format(place), 3
  end
  local _, at = utf8.len(text)
  if at then return nil, ("%s is not UTF-8 at byte %d: save it as UTF-8"):format(place, at), 3 end
  return true
end

-- ---- a branch ----

-- The command that frees a branch that is checked out in a directory.
local function give_back(where)
  local git_dir = fs.stat(where .. "/.git")
  if git_dir and git_dir.type == "directory" then return ("`git -C '%s' switch -`"):format(where) end
  return ("`git worktree remove '%s'`"):format(where)
end

-- Whether the branch may be written. Not while it is checked out: the files there would look changed. true | nil,
-- message, 3.
function Branch:ready()
  local where, message = self.repo:checked_out(self.branch)
  if where then
    return nil, ("%s is checked out in %s, so apsis does not write it: commit there and %s; or edit it with `apsis "
      .. "steer %s`, which needs no checkout, or set `memory: folder`"):format(self.branch, where, give_back(where),
      self.name), 3
  end
  message = message or tips.in_the_way(self.repo, self.branch)
  if message then return nil, message, 3 end
  return true
end

-- The newest commit, `at` (false: none), and the local branch's, `own`; if they have diverged, at is the local one,
-- with `theirs` and the merge plan. nil, message, 3.
local function newest(self)
  local mine, theirs = tips.both(self.repo, self.branch)
  if mine == nil then return nil, ("branch %s: %s"):format(self.branch, theirs), 3 end
  if not (mine and theirs) then return { at = mine or theirs, own = mine } end
  local ahead, behind = tips.relate(self.repo, mine, theirs)
  if not ahead then return nil, ("branch %s: %s"):format(self.branch, behind), 3 end
  if ahead == 0 or behind == 0 then return { at = behind > 0 and theirs or mine, own = mine } end
  local plan, message, code = diverged.plan({ repo = self.repo, branch = self.branch, name = self.name,
    join = self.join, journal = self.journal, mine = mine, theirs = theirs }, { ahead = ahead, behind = behind })
  if not plan then return nil, message, code end
  return { at = mine, own = mine, theirs = theirs, plan = plan }
end

-- The bytes of a file at the top of a tree; false if it is missing; nil and why.
local function read_file(self, tree, name)
  local place = self.branch .. ":" .. name
  local entries, message = self.repo:entries(tree, name)
  if not entries then return nil, ("%s: %s"):format(place, message), 3 end
  local entry = entries[1]
  if not entry then return false end
  if entry.path ~= name or not entry.mode:find("^100") then
    local kind = entry.path ~= name and "directory" or entry.mode == "120000" and "symbolic link" or "submodule"
    return nil, ("%s is a %s, but the state file must be a plain file: move it away"):format(place, kind), 3
  end
  local bytes
  bytes, message = self.repo:read(tree, name)
  if not bytes then return nil, ("%s: %s"):format(place, message), 3 end
  return bytes
end

-- The result of newest with text and journal | nil, message, 3.
local function read_branch(self)
  local now, message, code = newest(self)
  if not now then return nil, message, code end
  if not now.at then return now end
  local info
  info, message = self.repo:commit_info(now.at)
  if not info then return nil, ("branch %s: %s"):format(self.branch, message), 3 end
  local function read(name)
    local edit = now.plan and now.plan.edits[name]
    if type(edit) == "string" then return edit end
    return read_file(self, edit ~= nil and now.theirs or info.tree, name)
  end
  local text, journal
  text, message = read(self.name .. ".md")
  if text then
    local good
    good, message = check_text(text, ("%s:%s.md"):format(self.branch, self.name))
    if not good then text = nil end
  end
  if text == nil then return nil, message, 3 end
  journal, message = read(self.name .. ".jsonl")
  if journal == nil then return nil, message, 3 end
  now.text, now.journal = text or nil, journal or nil
  return now
end

-- { text = NAME.md, journal = NAME.jsonl, at = commit }, each nil if missing; joined if the branch grew here and at
-- origin (at is then the local commit) | nil, message, 3.
function Branch:read()
  local now, message, code = read_branch(self)
  if not now then return nil, message, code end
  return { text = now.text, journal = now.journal, at = now.at or nil }
end

-- Logs what the new commit joined.
local function tell(self, now)
  if now.at ~= (now.own or nil) then
    self.log("info", ("%s continues from origin/%s"):format(self.branch, self.branch))
  end
  if not now.plan then return end
  for _, one in ipairs(now.plan.said) do
    self.log("warn", ("%s: %s; the text from here: git show %s:%s"):format(one.path, table.concat(one.warnings, "; "),
      now.own:sub(1, 12), one.path))
  end
  if not now.plan.apart then return self.log("info", ("%s: joined with origin's"):format(self.branch)) end
  if not self.apart then self.log("warn", ("%s: committed only here: %s"):format(self.branch, now.plan.apart)) end
  self.apart = true
end

-- Commits what differs from now, with both tips as parents if they had diverged, unless a clash of other files keeps
-- them apart. true | nil, message, code (EMOVED: another process was quicker).
local function commit(self, now, text, journal, message)
  local edits = now.plan and now.plan.edits or {}
  if text ~= now.text then edits[self.name .. ".md"] = text end
  if journal and journal ~= now.journal then edits[self.name .. ".jsonl"] = journal end
  local apart = now.plan and now.plan.apart
  if not next(edits) and (not now.plan or apart) then return true end
  local tree, why = self.repo:edit_tree(now.at or nil, edits)
  if not tree then return nil, why, 3 end
  local id
  id, why = self.repo:commit { tree = tree, parents = { now.at or nil, not apart and now.theirs or nil },
    time = math.floor(clock.time()), message = (message or self.name) .. "\n" }
  if not id then return nil, why, 3 end
  local done, code
  done, why, code = tips.swap(self.repo, "refs/heads/" .. self.branch, id, now.own, "apsis: state file")
  if not done then return nil, why, code end
  tell(self, now)
  return true
end

-- The journal to write: never overwrites lines that another clone wrote. nil, message, 3.
local function grown(self, now, journal)
  local given, stored = diverged.whole(journal), diverged.whole(now.journal or "")
  if given:sub(1, #stored) == stored then return journal end
  if stored:sub(1, #given) == given then return now.journal end
  return nil, ("%s.jsonl on the branch %s differs from the local journal from line %d on: another clone advanced %s "
    .. "meanwhile; the next start shows how to resolve it"):format(self.name, self.branch,
    diverged.first_difference(given, stored), self.name), 3
end

-- Changes the files. make(text|nil, journal|nil, other|nil) -> text, journal (nil: unchanged), commit message; or nil,
-- message, code, which write returns. other: this side's text if it was joined with origin's. Calls make again with the
-- new content if another process wrote meanwhile. true | nil, message, 3.
function Branch:write(make)
  for _ = 1, MOST_TRIES do
    local done, message, code = self:ready()
    if not done then return nil, message, code end
    local now
    now, message, code = read_branch(self)
    if not now then return nil, message, code end
    local text, journal, said = make(now.text, now.journal, now.plan and now.plan.other[self.name .. ".md"])
    if text == nil then return nil, journal, said or 3 end
    done, message = check_text(text, ("%s:%s.md"):format(self.branch, self.name))
    if done and journal then journal, message = grown(self, now, journal) end
    if not done or message then return nil, message, 3 end
    done, message, code = commit(self, now, text, journal, said)
    if done then return true end
    if code ~= "EMOVED" then return nil, ("branch %s: %s"):format(self.branch, message), 3 end
  end
  return nil, ("branch %s: other processes moved it %d times meanwhile"):format(self.branch, MOST_TRIES), 3
end

-- ---- the journal's copy ----

local whole = diverged.whole

local function local_journal(path)
  local stat, message, code = fs.stat(path)
  if not stat and code == "ENOENT" then return false end
  if stat and stat.type ~= "file" then return nil, path .. " is not a file: move it away", 3 end
  local bytes
  if stat then bytes, message = fs.read(path) end
  if not bytes then return nil, message, 3 end
  return bytes
end

local function replace_journal(path, bytes)
  local done, message = fs.mkdir(path:match("^(.*)/[^/]*$") or ".")
  if done then done, message = state.replace(path, bytes, { sync = true }) end
  if not done then return nil, message, 3 end
  return "restored"
end

local function refuse(self, path, mine, stored)
  local name = self.name .. ".jsonl"
  return nil, ("%s and %s on the branch %s differ from line %d on, and only one can be kept; to keep the branch's: mv "
    .. "'%s' '%s.old'; to keep the local one: git worktree add /tmp/memory %s && git -C /tmp/memory rm %s && git -C "
    .. "/tmp/memory commit -m '%s: journal dropped' && git worktree remove /tmp/memory"):format(path, name, self.branch,
    diverged.first_difference(mine, stored), path, path, self.branch, name, self.name), 3
end

-- Compares the local journal with the stored one: "same"; "ahead" if the local one is longer; if the local one is
-- missing or shorter, calls before (optional) and replaces it ("restored"). An incomplete last line does not count. If
-- both have other lines: nil, message, 3. The caller holds the program's lock.
function Branch:restore_journal(path, before)
  local now, message, code = read_branch(self)
  if not now then return nil, message, code end
  local bytes
  bytes, message, code = local_journal(path)
  if bytes == nil then return nil, message, code end
  local mine, stored = whole(bytes or ""), whole(now.journal or "")
  if mine == stored then return "same" end
  if stored:sub(1, #mine) == mine then
    if before then before() end
    return replace_journal(path, stored)
  end
  if mine:sub(1, #stored) == stored then return "ahead" end
  return refuse(self, path, mine, stored)
end

-- ---- a folder ----

function Folder:ready()
  local stat = fs.stat(self.folder)
  if stat and stat.type ~= "directory" then return nil, ("memory: %s is not a folder"):format(self.folder), 3 end
  return links.none("", self.folder)
end

function Folder:read()
  local good, message, code = self:ready()
  if not good then return nil, message, code end
  local stat
  stat, message, code = fs.stat(self.path, { follow = false })
  if not stat then
    if code == "ENOENT" then return {} end
    return nil, message, 3
  end
  if stat.type ~= "file" then
    local kind = stat.type == "link" and "symbolic link" or stat.type == "directory" and "directory" or "special file"
    return nil, ("%s is a %s, but the state file must be a plain file: move it away"):format(self.path, kind), 3
  end
  local text
  text, message = fs.read(self.path, LARGEST + 1)
  if not text then return nil, message, 3 end
  good, message, code = check_text(text, self.path)
  if not good then return nil, message, code end
  return { text = text }
end

-- Removes temporary files that a killed process left.
local function sweep(self)
  local prefix = self.name .. ".md.tmp-"
  for _, name in ipairs(fs.list(self.folder) or {}) do
    if name:sub(1, #prefix) == prefix and name:find("^%d+%-%d+$", #prefix + 1) then
      fs.remove(self.folder .. "/" .. name)
    end
  end
end

local function replace(self, text)
  local done, message, code = self:ready()
  if done then done, message, code = fs.mkdir(self.folder) end
  if not done then return nil, message, code end
  sweep(self)
  return state.replace(self.path, text, { sync = true })
end

-- As Branch:write, without journal and commit message.
function Folder:write(make)
  local now, message, code = self:read()
  for _ = 1, MOST_TRIES do
    if not now then return nil, message, code end
    local text, why, given = make(now.text, nil)
    if text == nil then return nil, why, given or 3 end
    local good
    good, message = check_text(text, self.path)
    if not good then return nil, message, 3 end
    local before = now.text
    if text == before then return true end
    now, message, code = self:read() -- an editor may have saved meanwhile
    if now and now.text == before then
      local done
      done, message = replace(self, text)
      if not done then return nil, ("%s: %s"):format(self.path, message), 3 end
      return true
    end
  end
  return nil, ("%s: other processes changed it %d times meanwhile"):format(self.path, MOST_TRIES), 3
end

function Folder.restore_journal() return "same" end

-- ---- opening ----

local function check_name(name)
  if type(name) ~= "string" or name == "" or name:find("[/%z]") then error("name must be a file's name", 3) end
end

-- The default join: takes origin's.
local function origins(_, _, theirs)
  return theirs, { "changed here and at origin, and origin's counts" }
end

-- spec: { name, kind = "branch"|"folder", branch, folder (absolute), log(level, text), journal (the local file, for a
-- remedy), join(base or nil, mine, theirs) -> text, warnings (default: theirs) } -> store | nil, message, 3.
function store.open(repo, spec)
  check_name(spec.name)
  local self = { repo = repo, name = spec.name, log = spec.log or function() end, join = spec.join or origins,
    journal = spec.journal }
  if spec.kind == "folder" then
    if type(spec.folder) ~= "string" or spec.folder:sub(1, 1) ~= "/" then
      error("folder must be an absolute path", 2)
    end
    self.folder, self.path = spec.folder, spec.folder .. "/" .. spec.name .. ".md"
    return setmetatable(self, Folder)
  end
  if spec.kind ~= "branch" then error("kind must be \"branch\" or \"folder\"", 2) end
  self.branch = spec.branch or "memory/autoloop"
  local odd = self.branch:find("%z") or ("/" .. self.branch .. "/"):find("//", 1, true)
  if odd or select(3, repo:ref("refs/heads/" .. self.branch)) == "EINVAL" then
    return nil, ("memory: %q cannot be a branch's name"):format(self.branch), 3
  end
  return setmetatable(self, Branch)
end

return store
