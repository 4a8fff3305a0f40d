-- reading: reads candidates from git and their verification's files from runs/: methods of the live world. Changes only
-- its own cache. Called by world, and for single jobs.

local reading = {}

-- A repository path as a project path; nil outside the project.
function reading:project_path(path)
  if self.prefix == "" then return path end
  if path:sub(1, #self.prefix + 1) == self.prefix .. "/" then return path:sub(#self.prefix + 2) end
end

function reading:repository_path(path)
  return self.prefix == "" and path or self.prefix .. "/" .. path
end

-- The record of a candidate: folded, or the one being made.
function reading:candidate(id)
  return self.history:get(id)
end

-- How many answers the provider is asked for.
function reading:wanted(slot) return slot.repair and 1 or slot.proposal.k or 1 end

-- What a provider starts from: the candidate to repair, else the proposal's first parent.
function reading:base(slot)
  return slot.repair and slot.repair.candidate or self:candidate(slot.proposal.parents[1])
end

-- Codes of "no text at this path", in words; any other error is a repository that cannot be read.
local absent = { ENOENT = true, EISDIR = true, ESUBMODULE = true, EPATH = true, EINVAL = true }

-- A file of a candidate's commit and its mode; nil, message, and a code. An unreadable one ends the run before its next
-- line: to the hook that asks it would look like a missing file.
function reading:file(record, path)
  local text, mode, code = self.repo:read(record.commit, self:repository_path(path))
  if not text and not absent[code] then self.broken = { fatal = true, message = mode, code = 3 } end
  return text, mode, code
end

-- The same for strategies and prompts, which have no file that is sealed (a room's method).
function reading:read(record, path)
  if self.is_sealed and self:is_sealed(path) then return nil, path .. " is sealed", "ENOENT" end
  local text, message, code = self:file(record, path)
  if text then return text end
  return nil, message, code
end

-- What a candidate changed. A baseline changed nothing: git has a commit of the user's there, with hidden files.
function reading:diff(record)
  if record.outcome == "baseline" then return "" end
  local info = self.repo:commit_info(record.commit)
  return info and info.parents[1] and self.repo:diff(info.parents[1], record.commit) or ""
end

function reading:artifacts(record)
  return self.runs:artifacts(record.experiment, record.outcome == "baseline")
end

local TREES = 8 -- remembered: prompts show a few candidates again and again

-- Paths of the project's files in a candidate, cached by tree.
function reading:files_of(record)
  local cached = self.trees[record.tree]
  if cached then return cached end
  local paths = {}
  for _, entry in ipairs(self:need(self.repo:entries(record.commit, self.prefix ~= "" and self.prefix or nil))) do
    local path = self:project_path(entry.path)
    if path then paths[#paths + 1] = path end
  end
  self.tree_turn = (self.tree_turn or 0) % TREES + 1
  local oldest = self.tree_ring[self.tree_turn]
  if oldest then self.trees[oldest] = nil end
  self.trees[record.tree], self.tree_ring[self.tree_turn] = paths, record.tree
  return paths
end

local LARGEST_SOURCE = 1048576

-- The writable files of a candidate as text: { { path, text }... } in the order of their paths, a megabyte in all.
function reading:sources(record)
  local list, room = {}, LARGEST_SOURCE
  for _, path in ipairs(self:files_of(record)) do
    if self.scope:mode(path) == "writable" then
      local text = self:file(record, path)
      if text and #text <= room and not text:find("\0", 1, true) then
        list[#list + 1] = { path = path, text = text }
        room = room - #text
      end
    end
  end
  return list
end

function reading:hidden_paths(record)
  local hidden = {}
  for _, path in ipairs(self:files_of(record)) do
    if self.scope:mode(path) == "hidden" then hidden[#hidden + 1] = self:repository_path(path) end
  end
  return hidden
end

-- Files that an executor adds are no change.
function reading:is_carried(path)
  local own = self:project_path(path)
  for _, carried in ipairs(self.carried or {}) do
    if carried.path == own then return true end
  end
  for _, link in ipairs(self.manifest.workspace.link or {}) do
    if link == own then return true end
  end
  return false
end

return reading
