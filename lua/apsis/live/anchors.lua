-- anchors: keeps the repository of a long run small. Only the newest candidates, the best, the current one and the
-- baseline have refs. Older candidates are parents of anchors, commits under refs/apsis-anchors/NAME/, one per 256
-- numbers; the journal has their ids. An anchor is durable before a ref is deleted, so the next sweep can continue
-- after a kill. The user's git packs loose objects. Called by world.
local environment = require "apsis.live.cage.environment"
local gclock = require "apsis.live.gclock"
local lock = require "apsis.live.lock"
local process = require "apsis.process"
local tasks = require "apsis.core.tasks"

local anchors = {}

anchors.EACH = 256 -- numbers that one anchor holds; a sweep begins after as many experiments
local NEWEST = 256 -- finished experiments that keep their refs
local MANY = 64 -- new ones that are packed together
local TIMEOUT_S, KEPT_BYTES = 3600, 16 << 20
local STALE_S = 600 -- git holds the packed-refs lock for seconds; an older lock belongs to a killed git

-- ---- one sweep, of a repository ----

-- The candidates' refs by the number of their anchor: { number, id, candidate, name } each, in the order of numbers.
local function by_anchor(repo, prefix, each)
  local list, blocks = {}, {}
  for _, ref in ipairs(assert(repo:refs(prefix))) do
    local candidate = ref.name:sub(#prefix + 1)
    local number = math.tointeger(tonumber(candidate:match "^c(%d%d%d%d+)$"))
    if number then list[#list + 1] = { number = number, id = ref.id, candidate = candidate, name = ref.name } end
  end
  table.sort(list, function(a, b) return a.number < b.number end)
  for _, ref in ipairs(list) do
    local block = ref.number // each
    blocks[block] = blocks[block] or {}
    table.insert(blocks[block], ref)
  end
  return blocks
end

-- Makes sure that an anchor holds the commits of these refs. Its parents are ordered by number, without duplicates; its
-- message names the candidates. An anchor that lacks some becomes the first parent of its replacement.
local function hold(repo, anchor, refs)
  local there = repo:ref(anchor)
  local held, parents, lines, line_of = {}, { there }, {}, {}
  for _, id in ipairs(there and assert(repo:commit_info(there)).parents or {}) do held[id] = true end
  for _, ref in ipairs(refs) do
    local line = line_of[ref.id]
    if line then
      lines[line] = lines[line] .. " " .. ref.candidate
    elseif not held[ref.id] then
      parents[#parents + 1], lines[#lines + 1], line_of[ref.id] = ref.id, ref.candidate, #lines + 1
    end
  end
  if #lines == 0 then return end
  local message = ("Candidates up to %s\n\nThe parents%s, in order:\n%s\n"):format(refs[#refs].candidate,
    there and " after the first, which was the anchor before" or "", table.concat(lines, "\n"))
  local time = assert(repo:commit_info(parents[#parents])).time
  assert(repo:commit { tree = assert(repo:edit_tree(nil, {})), parents = parents, message = message, time = time,
    ref = anchor })
end

-- Anchors the candidates below a number, by whole blocks. Returns what `git update-ref --stdin` reads to delete the
-- refs that are no longer needed. at: refs and anchors, the prefixes; spared: candidates that keep their refs. Raises.
function anchors.hold(repo, at, below, spared, each)
  local deletions = {}
  for block, refs in pairs(by_anchor(repo, at.refs, each)) do
    local before = #deletions
    for _, ref in ipairs((block + 1) * each <= below and refs or {}) do
      if not spared[ref.candidate] then deletions[#deletions + 1] = ("delete %s %s\n"):format(ref.name, ref.id) end
    end
    if #deletions > before then hold(repo, at.anchors .. ("%04d"):format(block), refs) end
  end
  return table.concat(deletions)
end

-- The user's git, without hooks: update-ref and repack start nothing else that a configuration may name. It keeps its
-- memory: to give it back after each object takes glibc as long as all the rest. Raises.
local function git(gitdir, input, ...)
  local variables = environment.without_repository()
  variables.MALLOC_TRIM_THRESHOLD_ = KEPT_BYTES
  local result, message = process.run { argv = { "git", "--git-dir=" .. gitdir, "-c", "core.hooksPath=/dev/null",
    "-c", "pack.threads=1", ... }, env = variables, stdin_text = input, timeout_s = TIMEOUT_S }
  if not result or result.code ~= 0 then
    error(("git %s: %s"):format(..., message or result.stderr.head:match "[^\n]+" or result.outcome), 0)
  end
end

-- Deletes refs whose commits are anchored, then packs loose objects and joins small packs (--geometric keeps their
-- number logarithmic). false: `git gc` is running, and nothing was done.
function anchors.prune(gitdir, deletions)
  return gclock.with(lock.common_dir(gitdir), function()
    if deletions ~= "" then git(gitdir, deletions, "update-ref", "--stdin") end
    git(gitdir, "", "repack", "-q", "-d", "-l", "-n", "--geometric=2", "--no-write-bitmap-index")
  end)
end

-- ---- during a run ----

local Anchors = {}
Anchors.__index = Anchors

function anchors.new(world)
  return setmetatable({ world = world, since = nil, loose = 0 }, Anchors)
end

-- The lowest number that may be unfinished.
local function first_in_flight(world)
  local first = world.history:next_experiment()
  for _, slots in ipairs { world.state.slots, world.state.waiting } do
    for number in pairs(slots) do first = math.min(first, number) end
  end
  return first
end

-- Packs, if the repository can be read: else the next call does. false: `git gc` is running.
local function pack(world, deletions)
  local info, done = world.repo:info(), true
  if info then done = anchors.prune(info.gitdir, deletions or "") end
  world.repo:renew()
  return done
end

local function sweep(world)
  local spared, repo = {}, world.repo
  for _, name in ipairs { "best", "current", "baseline" } do
    local record = world.history[name]
    if record and record.commit then
      spared[record.id] = true
      repo:set_ref(world.refs .. record.id, record.commit) -- an old candidate may become the best again
    end
  end
  local deletions = anchors.hold(repo, world, first_in_flight(world) - NEWEST, spared, anchors.EACH)
  if deletions == "" then return true end
  repo:clear_locks("packed-refs", STALE_S)
  return pack(world, deletions)
end

-- Does it beside the experiments; a failure is only logged. Beside `git gc`, sweeps after the next line.
local function beside(self, work)
  self.running = tasks.beside(function()
    local ok, done = pcall(work, self.world)
    if not ok then self.world:log("info", "refs and objects were not packed: " .. tostring(done)) end
    if done == false then self.since = anchors.EACH end
    self.running = nil
  end)
end

-- Called after each journal line: sweeps every 256 experiments, and packs the objects of each 64 new candidates, which
-- share most of their text. A resumed run sweeps after its first.
function Anchors:note()
  self.since = (self.since or math.min(self.world.history.count, anchors.EACH)) + 1
  self.loose = self.loose + 1
  if self.running then return end
  if self.since > anchors.EACH then
    self.since = 0
    beside(self, sweep)
  elseif self.loose >= MANY then
    self.loose = 0
    beside(self, pack)
  end
end

return anchors
