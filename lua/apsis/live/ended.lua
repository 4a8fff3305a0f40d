-- ended: how a provider's command has ended, on the disk from that moment: runs/NNNN/ended_STEP.txt. apsis writes what
-- it asks as the first line, the command's supervisor appends the end. If apsis is killed before it has read the
-- answer, the next process takes output and workspace from where they are, so that nobody is asked, and paid, twice.
-- That holds until the machine stops: nothing of it is synced. Called by answers, starting, provider/command and the
-- gate of goals.
local fs = require "apsis.fs"
local json = require "apsis.json"
local kind = require "apsis.core.kind"

local ended = {}

local FILE <const> = "^ended[%w_]*%.txt$"
local STEPS <const> = { "plan", "implement" }
local shape = { keys = { of = "string", how = "string", boot = "string", root = "string", scratch = "string",
    out = "whole", err = "whole", plan = "string", taken = "table" },
  needs = { "of", "how", "boot", "root", "scratch", "out", "err", "taken" } }

local function path_of(dir, mark, step) return ("%s/ended%s_%s.txt"):format(dir, mark, step) end

-- Which start of the machine this is.
local function boot() return (fs.read "/proc/sys/kernel/random/boot_id" or ""):match "^%S*" end

local function is_folder(path) return (fs.stat(path, { follow = false }) or {}).type == "directory" end

-- Before a step's command starts. asked: { of (the key of what is asked), how (in which steps), root and scratch (of
-- its workspace), out and err (the sizes of its output's files), plan (what an earlier step answered), taken }. Returns
-- the record's path.
function ended.begin(world, dir, mark, step, asked)
  asked.boot = boot()
  local path = path_of(dir, mark, step)
  world:need(fs.write(path, json.encode(asked) .. "\n"))
  return path
end

-- What a file records; with `code` once the command has ended by itself. nil if its workspace is not one of the folder
-- `pool`, or no longer there.
local function read(path, pool)
  local first, rest = (fs.read(path) or ""):match "^([^\n]*)\n(.*)$"
  local entry = first and json.decode(first, true)
  if not entry or kind.problem(entry, shape, "") or entry.boot ~= boot() then return nil end
  if entry.root:gsub("/provide%-%d+$", "") ~= pool or not is_folder(entry.root) then return nil end
  if entry.scratch:gsub("/scratch%-[%w%-]+$", "") ~= pool then return nil end
  -- by itself, with all that it printed
  entry.code = math.tointeger(tonumber(rest:match "^exit (%d+) 0 0 [^\n]*\n$"))
  return entry
end

-- What is recorded of an asking, by step.
function ended.of(dir, mark, of, how, pool)
  local found = {}
  for _, step in ipairs(STEPS) do
    local entry = read(path_of(dir, mark, step), pool)
    if entry and entry.of == of and entry.how == how then found[step] = entry end
  end
  return found
end

-- Every record in a folder of runs/ whose command has ended, also of repairs.
function ended.all(dir, pool)
  local found = {}
  for _, name in ipairs(fs.list(dir) or {}) do
    local entry = name:find(FILE) and read(dir .. "/" .. name, pool)
    if entry and entry.code then found[#found + 1] = entry end
    if name:find "^fix_%d+$" then table.move(ended.all(dir .. "/" .. name, pool), 1, 8, #found + 1, found) end
  end
  return found
end

-- The answer is kept, or there is none.
function ended.forget(dir, mark)
  for _, step in ipairs(STEPS) do fs.remove(path_of(dir, mark, step)) end
end

-- All answers are kept.
function ended.forget_all(dir)
  for _, name in ipairs(fs.list(dir) or {}) do
    if name:find(FILE) then fs.remove(dir .. "/" .. name) end
  end
end

-- The part of an output file after an offset: { bytes, head (its first bytes, at most most_head), tail (the last of the
-- rest, at most most_tail) }.
function ended.stream(world, path, from, most_head, most_tail)
  local file <close> = world:need(io.open(path, "rb"))
  local bytes = math.max(0, file:seek "end" - from)
  file:seek("set", from)
  local head = file:read(math.min(bytes, most_head)) or ""
  local rest = math.min(bytes - #head, most_tail)
  file:seek("end", -rest)
  return { bytes = bytes, head = head, tail = rest > 0 and file:read(rest) or nil }
end

return ended
