-- starting: what a run starts from, and the repairs and warnings before it starts: methods of the live world, except
-- head. Called by world and the commands.
local answers = require "apsis.live.answers"
local ended = require "apsis.live.ended"
local held = require "apsis.live.held"
local programs = require "apsis.live.programs"
local rooms = require "apsis.core.rooms"
local torn = require "apsis.live.torn"
local wait = require "apsis.wait"

local starting = {}

-- The commit that candidates start from: HEAD, unless a room chooses another. commit | nil, message, 3.
function starting.head(repo, info, manifest)
  local head, message, code = rooms.first("head", repo, manifest)
  if head == nil then return info.head end
  return head or nil, message, code
end

-- What had a proposal and no line when the last process ended, oldest first; and the first number never used. Of the
-- workspaces' folders only those remain in which an answer is still to be read.
function starting:unfinished()
  local found, numbering = self.runs:unfinished(self.history, function(proposal)
    return answers.origin(self, proposal)
  end)
  held.sweep(self.home, self.history)
  local last = self.history.count > 0 and self.history:whole(self.history.count)
  if last then self.runs:complete(last) end
  local spared = {}
  for _, plan in ipairs(found) do
    for _, entry in ipairs(ended.all(self.runs:dir(plan.number), self.here.pool.root)) do
      spared[entry.root], spared[entry.scratch] = true, true
    end
    plan.answered, plan.held = answers.has(self, plan), held.read(self.home, plan.number, plan.now)
  end
  self.here:clear(spared)
  return found, numbering
end

-- The first number above those of all refs: the ref of a candidate whose line was lost is not overwritten.
function starting:after_refs()
  local highest = -1
  for _, ref in ipairs(self:need(self.repo:refs(self.refs))) do
    highest = math.max(highest, tonumber(ref.name:match "/c(%d%d%d%d+)$") or -1)
  end
  return math.tointeger(highest) + 1
end

-- Ends commands that a killed process left running, before anything is measured beside them.
function starting:sweep()
  local count = self.here:sweep()
  if self.executor ~= self.here then count = count + self.executor:sweep() end
  if count > 0 then
    self:log("warn", ("ended %d process%s that a killed apsis left running"):format(count, count > 1 and "es" or ""))
  end
end

-- Before commands run: warns if there is no sandbox, and about programs that commands cannot see. A program that they
-- see nowhere is an error: nil, message, 2.
function starting:check_cage()
  local manifest, cage = self.manifest, self.here.cage
  if cage.open then
    self:log("warn", cage.open .. ", so commands may write whatever you may"
      .. (manifest.sandbox.mode == "auto" and "; `sandbox: required` in the manifest runs nothing then" or ""))
  elseif cage.way == "landlock" then
    self:log("warn", "only Landlock confines commands: /tmp and the home are hidden instead of private, and other "
      .. "processes are visible")
  end
  for _, key in ipairs { "sandbox", "verification", "provider", "gate" } do
    for _, path in ipairs(cage:missing((manifest[key] or {}).allow)) do
      self:log("warn", ("%s: %s.allow: %s is not there, so commands are not given it"):format(manifest.where(key
        .. ".allow"), key, path))
    end
  end
  for _, one in ipairs(programs.hidden(self, cage)) do
    if one.fatal then return nil, one.text, 2 end
    self:log("warn", one.text)
  end
  return true
end

-- Removes lock files that a killed process left on the run's refs, and torn refs. Only the holder of the project's lock
-- writes the candidates' refs; the branch's lock may be another git's, which holds it for milliseconds.
function starting:clear_locks()
  self.repo:clear_locks(self.refs:sub(1, -2), 0)
  self.repo:clear_locks(self.anchors:sub(1, -2), 0)
  for _ = 1, 30 do
    local _, left = self.repo:clear_locks(self.branch.ref, 2)
    if left ~= 1 then break end
    wait.sleep(0.1)
  end
  for _, place in ipairs { self.refs, self.anchors, not self.manifest.own_branch and self.branch.ref or nil } do
    for _, name in ipairs(torn.clear(self.repo, place)) do
      self:log("warn", ("removed the file of the ref %s, which named no commit, as a power failure may leave it")
        :format(name))
    end
  end
end

-- A function that tells whether a file of the project has effect as it is on the disk, without a commit: one that only
-- the loop reads.
local function read_from_disk(self)
  local manifest, own = self.manifest, { ["manifest.yaml"] = true, [".gitignore"] = true }
  for _, path in ipairs { manifest.program, manifest.strategy.use, (manifest.provider or {}).use or "",
    table.unpack(manifest.prompt.include) } do own[path] = true end
  return function(path)
    return (own[path] or path:find "^prompts/") and self.scope:mode(path) ~= "writable"
  end
end

-- At the start of a baseline or a run: reports which of the user's changes are in effect. Candidates descend from the
-- baseline's commit; manifest, strategy and provider files are read from disk. baseline: the resumed run's record.
function starting:note_head(baseline)
  if self.manifest.own_branch then return end -- its candidates start from its own branch
  local is_read = read_from_disk(self)
  local changed, lacking, moved = {}, {}, baseline and baseline.commit ~= self.head
  local best = moved and self.history and self.history.best or baseline -- what of it was applied is not lacking
  local own = moved and self.repo:changes(baseline.commit, self.head) or {}
  local from_best = moved and self.repo:changes(best.commit, self.head)
  for _, change in ipairs(from_best or own) do lacking[change.path] = true end
  for _, change in ipairs(own) do
    local path = self:project_path(change.path)
    if path and lacking[change.path] and not is_read(path) then changed[#changed + 1] = path end
  end
  if #changed > 0 then
    self:log("warn", ("HEAD has moved since the baseline and differs from the best in %s%s: candidates go on from the "
      .. "best; `apsis baseline --again` starts again from HEAD, without the candidates that were found so far"):format(
      table.concat(changed, ", ", 1, math.min(3, #changed)), #changed > 3 and ", ..." or ""))
  end
  local paths, count = self.repo:dirty()
  self:need(paths, count)
  local first
  for _, path in ipairs(paths) do
    if is_read(self:project_path(path) or "../" .. path) then count = count - 1 else first = first or path end
  end
  if count > 0 and first then
    self:log("warn", ("%d uncommitted change%s (%s%s): candidates start from HEAD as it was at the baseline; your "
      .. "files are not touched"):format(count, count == 1 and "" or "s", first, count == 1 and "" or ", ..."))
  end
end

-- At start: repairs the branch from the journal; with history: revert, adds the pair that a crash left out.
function starting:repair_branch()
  local now, best = self.branch.mark and self.repo:ref(self.branch.ref), self.history.best
  if now and best and self.branch:holds(now, best.commit) then self.branch:remember(now) end
  self.branch:repair(self.history.best, function(oid) return self:is_candidate(oid) end)
  local newest = self.history.newest
  if self.manifest.history ~= "revert" or not newest or not newest.commit or newest.status == "keep" then return end
  local tip = self.branch.tip
  local info = self.repo:commit_info(newest.commit)
  if tip and info and info.parents[1] == tip then self.branch:push_and_revert(newest) end
end

-- Whether a commit is a candidate's. apsis's own commits name their candidate; for others (an earlier baseline,
-- somebody's commit) the whole journal is read.
function starting:is_candidate(oid)
  local history = self.history
  for _, record in pairs { best = history.best, first = history.baseline, newest = history.newest_baseline } do
    if record.commit == oid then return true end
  end
  local info = self.repo:commit_info(oid)
  local named = info and info.message:match("\nApsis%-Candidate: (c%d+)\n")
  local record = named and history:get(named)
  if record and record.commit == oid then return true end
  if named then return self.repo:ref(self.refs .. named) == oid end -- its journal line may have been torn
  for index = 1, history.count do
    if history:at(index).commit == oid then return true end
  end
  return false
end

return starting
