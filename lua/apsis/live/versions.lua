-- versions: measures versions of a candidate, as candidates are measured, beside the loop: in a scratch folder, without
-- a journal line, a ref or the lock. Called by bisect, split and explain.
local fs = require "apsis.fs"
local host = require "apsis.host"
local journal = require "apsis.core.journal"
local once = require "apsis.live.once"
local wait = require "apsis.wait"

local versions = {}

local Versions = {}
Versions.__index = Versions

-- Why one of some records cannot be measured here: its commit is missing; nil if none is.
function versions.missing(repo, records)
  for _, record in ipairs(records) do
    if not repo:commit_info(record.commit) then
      return ("%s's commit %s is not in this repository: git fetch brings it from where the run was"):format(record.id,
        record.commit:sub(1, 10))
    end
  end
end

-- open(reader, { name (the command's), record (the candidate), parent (a commit: what it is compared with), quiet }) ->
-- versions | nil, message, code. Closed by its user.
function versions.open(reader, spec)
  local session = reader.session
  session:load_strategy() -- some measures depend on whether it climbs; one that does not load is no obstacle
  local ok, message, code = session:open_world()
  local scratch
  if ok then
    scratch, message = fs.tempdir(("apsis-%s-"):format(spec.name))
    code = 3
  end
  if not scratch then
    session:close()
    return nil, message, code
  end
  wait.trap()
  local world, base = session.world, reader.history.baseline
  world:measure_in(scratch)
  world.history = reader.history
  world.baseline_metrics = world.measurer and base and base.secondary_metrics or nil
  return setmetatable({ session = session, world = world, scratch = scratch, record = spec.record,
    parent = spec.parent, quiet = spec.quiet, tokens = 0, cost = 0,
    terminal = host.isatty(2) and os.getenv "TERM" ~= "dumb" }, Versions)
end

function Versions:close()
  if self.closed then return end
  self.closed = true
  self:announce()
  self.session:close()
  fs.remove_tree(self.scratch)
end
Versions.__close = Versions.close

-- Shows on stderr what is measured: one live line on a terminal, else a line each. nil: clears the live line.
function Versions:announce(text)
  if self.quiet then return end
  if not self.terminal then
    if text then self.session:say(text) end
  elseif text or self.shown then
    io.stderr:write("\r\27[K", text or "")
  end
  self.shown = text ~= nil
end

-- Measures a tree with the candidate's number, so with its seeds; turn: another one has other seeds. The measurement; a
-- failed one has no value. Until the next one its folder is `dir`. nil, message, code; 130: interrupted.
function Versions:measure(tree, turn)
  local record, number = self.record, self.record.experiment + (turn or 1) - 1
  local slot = { number = number, dir = self.scratch .. "/run", parent_commit = self.parent, outside = true,
    baseline = record.outcome == "baseline" or nil }
  fs.remove_tree(slot.dir)
  local version = setmetatable({ id = journal.id(number), commit = tree, tree = tree }, { __index = record })
  local found, message, code = once.of(self.world, slot, version)
  self.tokens, self.cost, self.dir = self.tokens + (slot.tokens or 0), self.cost + (slot.cost or 0), slot.dir
  if wait.interrupts() > 0 then return nil, "interrupted", 130 end
  if not found then return nil, message, code end
  if found.status ~= "ok" then found.value = nil end
  found.reason = found.reason or found.missing or not found.value and found.status or nil
  return found
end

return versions
