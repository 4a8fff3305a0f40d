-- folder: what this machine and the nodes share: the project's files as git objects, and a folder for each job: its
-- description, its claim, what it left, its result. All is 0700, hidden from commands, and written once. Knows no
-- scheduler. Called by evaluations on the loop's machine; node reads the same files.
--
--   TOP/PROJECT/lock               held by the apsis that measures
--   TOP/PROJECT/store.git          the trees that were sent
--   TOP/PROJECT/KEY-ATTEMPT-NONCE/ a job; its name is that of the folder
--     job.json                     what to measure; written last, so that the job is complete where it is there
--     project/, work/              by the node: ignored files that the manifest names; workspaces
--     claim                        by the node that measures: an attempt is measured once, whoever starts it again
--     out/                         what it leaves in runs/NNNN; output: what the scheduler has kept of its output
--     result.json                  the measurement, made by link(2): the first one counts
--     lost, cancelled              by the loop: this attempt's result does not count any more
--   TOP/PROJECT/MARK-pilot-NONCE/  a pilot; it writes `serving` first, and ends once its pilot.json is gone
local fs = require "apsis.fs"
local git = require "apsis.git"
local host = require "apsis.host"
local json = require "apsis.json"
local state = require "apsis.state"

local folder = {}

local Folder = {}
Folder.__index = Folder

local PRIVATE <const> = tonumber("700", 8)
local LARGEST_RESULT <const> = 64 << 20 -- bytes

-- Makes a folder that only its owner may enter. true | nil, why.
local function private(path)
  local ok, message = fs.mkdir(path)
  local stat
  if ok then stat, message = fs.stat(path, { follow = false }) end
  if not stat then return nil, message end
  if stat.type ~= "directory" then return nil, path .. " is not a folder" end
  if stat.uid ~= host.uid then return nil, path .. " belongs to another user" end
  if stat.mode == PRIVATE then return true end
  ok, message = fs.chmod(path, PRIVATE)
  return ok, message
end

local WRITABLE <const>, STICKY <const> = tonumber("22", 8), tonumber("1000", 8)

-- Whether nobody else can put another folder in the place of one in it: true | nil, why not.
local function trusted(path)
  local stat, own = fs.stat(path), host.uid
  if stat.type ~= "directory" then return nil, path .. " is not a folder" end
  if stat.uid ~= own and stat.uid ~= 0 then return nil, path .. " belongs to another user" end
  if stat.mode & WRITABLE ~= 0 and stat.mode & STICKY == 0 then
    return nil, path .. " can be written by other users: chmod go-w, or name a folder in it"
  end
  return true
end

-- open(the shared folder, the project's name in it) -> folder | nil, why.
function folder.open(top, name)
  local ok, message = fs.mkdir(top)
  if not ok then return nil, message end
  local real = fs.realpath(top)
  ok, message = trusted(real)
  if not ok then return nil, message end
  ok, message = private(real .. "/" .. name)
  if not ok then return nil, message end
  return setmetatable({ top = real, root = real .. "/" .. name, sent = {} }, Folder)
end

function Folder:dir(name) return self.root .. "/" .. name end

-- Whether the folder of all jobs cannot be listed now, or is not there: it may not be mounted.
function Folder:away() return fs.list(self.root) == nil end

-- Nothing is made while the project's folder is away: below an empty mount point it would be a second one. true | nil,
-- why.
local function there(self)
  if self:away() then return nil, self.root .. " cannot be read; is it mounted?" end
  return true
end

-- ---- the project's files ----

local BARE <const> = { HEAD = "ref: refs/heads/none\n",
  config = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n" }

-- The store, made under another name first: a killed process leaves no half of one.
local function open_store(self)
  local path = self.root .. "/store.git"
  local ok, message = there(self)
  if not ok then return nil, message end
  if not fs.stat(path) then
    local made = path .. ".new"
    fs.remove_tree(made)
    for _, name in ipairs { "objects", "refs/heads" } do
      ok, message = fs.mkdir(made .. "/" .. name)
      if not ok then return nil, message end
    end
    for name, text in pairs(BARE) do
      ok, message = fs.write(made .. "/" .. name, text)
      if not ok then return nil, message end
    end
    ok, message = fs.rename(made, path)
    if not ok then return nil, message end
  end
  return git.open(path)
end

-- A file of a tree as an edit of the store's.
local function edit_of(repo, tree, entry)
  if entry.mode == "160000" then return { id = entry.id, mode = entry.mode } end
  local bytes, message = repo:read(tree, entry.path)
  if not bytes then return nil, message end
  return { bytes = bytes, mode = entry.mode }
end

-- The edits that make `tree` of `from`, a tree that the store has; nil: of nothing.
local function edits_of(repo, from, tree)
  local edits = {}
  local list = from and function() return repo:changes(from, tree) end or function() return repo:entries(tree) end
  local entries, message = list()
  if not entries then return nil, message end
  for _, entry in ipairs(entries) do
    if entry.status == "renamed" then edits[entry.old_path] = false end
    if entry.status == "deleted" then edits[entry.path] = false end
  end
  for _, entry in ipairs(entries) do
    if entry.status ~= "deleted" then
      edits[entry.path], message = edit_of(repo, tree, entry)
      if not edits[entry.path] then return nil, message end
    end
  end
  return edits
end

-- Brings a tree into the store: what differs from the last one that was brought. true | nil, why.
function Folder:send(repo, tree)
  if self.sent[tree] then return true end
  local message
  if not self.store then self.store, message = open_store(self) end
  if not self.store then return nil, message end
  for _, from in ipairs { self.last or false, false } do
    local edits
    edits, message = edits_of(repo, from or nil, tree)
    if not edits then return nil, message end
    local made, why = self.store:edit_tree(from or nil, edits)
    if made == tree then
      self.sent[tree], self.last = true, tree
      return true
    end
    message = why or ("tree %s became %s"):format(tree, made)
  end
  return nil, message
end

-- Brings files into the store, { [path] = text }: their tree | nil, why.
function Folder:carry(files)
  local message
  if not self.store then self.store, message = open_store(self) end
  if not self.store then return nil, message end
  return self.store:edit_tree(nil, files)
end

-- ---- jobs ----

-- Writes the folder of a job, or of a pilot (file: pilot.json). Not synced: what a power failure leaves of it is no
-- job, and another attempt is made. true | nil, why.
function Folder:write(job, file)
  local ok, message = there(self)
  if ok then ok, message = private(self:dir(job.name)) end
  if not ok then return nil, message end
  local dir = self:dir(job.name)
  return state.replace(("%s/%s"):format(dir, file or "job.json"), json.encode(job))
end

-- A file of a job as JSON, and its text; nil if it is no JSON object; nil, nil if it is not there or cannot be read.
function Folder:read(name, file)
  local text = fs.read(self:dir(name) .. "/" .. file, LARGEST_RESULT)
  local value = text and json.decode(text, true)
  return type(value) == "table" and value or nil, text
end

-- Whether a job's folder has a file; nil if it cannot be listed. Listing shows what is new, also over NFS.
function Folder:has(name, file)
  local list = fs.list(self:dir(name))
  for _, found in ipairs(list or {}) do
    if found == file then return true end
  end
  return list and false
end

-- Notes that an attempt is lost or cancelled; why: for people. true, also if its folder was removed | nil, why.
function Folder:mark(name, what, why)
  local ok, message, code = state.replace(self:dir(name) .. "/" .. what, why .. "\n", { sync = true })
  return ok or code == "ENOENT" and not self:away() or nil, message
end

-- The attempts of a key: { { name, number, lost, cancelled, complete } ... } in order | nil, why they are unknown.
function Folder:attempts(key)
  local list = {}
  local names, message = fs.list(self.root)
  for _, name in ipairs(names or {}) do
    local number = name:sub(1, #key) == key and name:match("^%-(%d+)%-%x+$", #key + 1)
    if number then
      local one = { name = name, number = math.tointeger(number) }
      local files, why, code = fs.list(self:dir(name))
      if not files and code ~= "ENOENT" then return nil, why end
      for _, file in ipairs(files or {}) do one[file] = true end
      one.complete = one["job.json"]
      list[#list + 1] = one
    end
  end
  table.sort(list, function(a, b) return a.number < b.number end)
  return names and list, message
end

-- Whether a file in a project's folder is that of a job.
function folder.is_job(name) return name:find "^%x+%-%d+%-%x+$" ~= nil end

-- Every job: { [name] = number of its experiment, or false if it is not complete } | nil, why they are unknown.
function Folder:jobs()
  local found = {}
  local names, message = fs.list(self.root)
  for _, name in ipairs(names or {}) do
    if folder.is_job(name) then
      local job, text = self:read(name, "job.json")
      if not text and self:has(name, "job.json") ~= false and fs.stat(self:dir(name)) then
        return nil, self:dir(name) .. "/job.json cannot be read"
      end
      found[name] = job and job.experiment or false
    end
  end
  if names and self:away() then return nil, self.root .. " cannot be read" end
  return names and found, message
end

folder.PILOT = "-pilot-" -- in the name of a pilot

-- The names of all pilots.
function Folder:pilots()
  local found = {}
  for _, name in ipairs(fs.list(self.root) or {}) do
    if name:find "%-pilot%-%x+$" then found[#found + 1] = name end
  end
  return found
end

-- Why a job ended without a result: the last line of what the scheduler has kept of its output, a traceback left out.
function Folder:last_words(name)
  local text, last = fs.read(self:dir(name) .. "/output", 1 << 20), nil
  for line in (text or ""):gmatch "[^\n]*%S[^\n]*" do
    if not line:find "^\t" and line ~= "stack traceback:" then last = line end
  end
  return last and last:gsub("%c", "?"):sub(1, 300)
end

-- Under another name, and job.json first: else a pilot that has just read it could claim it once more, when only the
-- claim is gone yet. Over NFS a node may reach the folder in spite of its new name; node.begin then misses job.json.
function Folder:remove(name)
  local gone = self:dir(name) .. ".gone"
  local ok, message = fs.rename(self:dir(name), gone)
  if ok then
    fs.remove(gone .. "/job.json")
    ok, message = fs.remove_tree(gone)
  end
  return ok, message
end

-- Gives the handle back; removes all if there is no job left. The store goes under its other name first: half of one
-- could not be opened.
function Folder:close()
  if self.store then self.store:close() end
  self.store = nil
  local jobs = self:jobs()
  if jobs and next(jobs) == nil then
    fs.rename(self.root .. "/store.git", self.root .. "/store.git.new")
    fs.remove_tree(self.root)
  end
end

return folder
