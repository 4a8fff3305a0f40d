-- baseline: measures HEAD and writes the journal's first line.
local common = require "apsis.cli.common"
local evaluator = require "apsis.live.evaluator"
local json = require "apsis.json"
local lfs = require "apsis.live.lfs"
local rooms = require "apsis.core.rooms"
local show = require "apsis.cli.table"
local terminal = require "apsis.cli.terminal"
local wait = require "apsis.wait"

local baseline = { place = 30, summary = "measure HEAD as the starting point", example = "apsis baseline --repeats 20" }

function baseline.options(parser)
  common.project_argument(parser)
  parser:flag("--again",
    "measure a new baseline; it gets the next number, nothing is overwritten")
  parser:flag("-y --yes", "do not ask in a terminal whether --again is meant")
  rooms.call("options", "baseline", parser)
  common.run_options(parser)
end

-- Refs of another loop of this name, or of a deleted journal, would be overwritten.
local function check_refs(self)
  if self.engine.history.count > 0 then return true end
  for _, ref in ipairs(self.world.repo:refs(self.world.refs)) do
    if not ref.name:find("/c0000$") then
      return nil, ("%s exists, and this project has no journal: another project here has the name %q (choose another "
        .. "project.name), or logs/ was deleted (remove the old refs: "
        .. "git for-each-ref --format='delete %%(refname)' %s %s | git update-ref --stdin)")
        :format(ref.name, self.manifest.project.name, self.world.refs, self.world.anchors), 3
    end
  end
  return true
end

-- The best of the candidates, if HEAD lacks it: a text, or "".
local function best_behind(self, best, tree)
  if self.manifest.own_branch or not (best and best.commit) or best.outcome == "baseline" then return "" end
  if self.world.repo:merge(self.world.head, best.commit) == tree then return "" end
  return ("; the best of them is %s (%.10g): `apsis apply %s --dry-run` shows what HEAD would take along"):format(
    best.id, best.value, best.id)
end

-- What a new baseline leaves behind; nil: nothing, it is of the same files, measured in the same way.
local function left_behind(self, existing)
  local changed = evaluator.changed(self.world, existing)
  local tree = self.world.repo:commit_info(self.world.head).tree
  if not changed and (self.manifest.own_branch or tree == existing.tree) then return nil end
  return ("%s since %s: with a new baseline the search begins again, without the candidates from before%s"):format(
    changed and changed .. " has changed" or "HEAD has other files", existing.id,
    best_behind(self, self.engine.history.best, tree))
end

-- Asks a person at a terminal whether a new baseline is meant; tells anybody else what it leaves behind.
local function is_meant(self, args, existing)
  if not (args.again and existing and existing.value) then return true end
  local text = left_behind(self, existing)
  if not args.yes and terminal.is_asked() then
    return terminal.confirm((text or "what measures and the files are the same as for " .. existing.id)
      .. ": measure a new baseline?")
  end
  if text and not args.silent then
    (args.json and io.stderr or io.stdout):write(show.wrap(text, show.width(), ""), "\n")
  end
  return true
end

-- several: a room's way to measure more than once, or nil. before: the baseline until now, or nil.
local function report(self, args, outcome, several, before)
  local record, measurement, values = outcome.record, outcome.measurement, outcome.values
  self.progress_line:clear()
  if args.silent then return end
  if args.json then
    print(json.encode { candidate = record.id, value = record.value or json.null, commit = record.commit,
      run_dir = self.world.runs:dir(record.experiment, true),
      status = measurement.status, reason = measurement.reason or measurement.missing,
      samples = json.array(record.samples or {}),
      values = json.array(values), noise = several and several:found(self, outcome), metrics_noise = record.notes
        and record.notes.noise })
  elseif record.value then
    local brief = several and several:brief_text(values)
    print(show.wrap(("baseline %s: %s = %.10g (%s%s)"):format(record.id, self.engine.metric.name, record.value,
      self.engine.metric:words(), brief and "; " .. brief or ""), show.width(), ""))
    if before and before.value and before.tree == record.tree and before.value ~= record.value then
      print(("%s, of the same files, measured %.10g"):format(before.id, before.value))
    end
    if several then several:print(self, outcome) end
  end
end

function baseline.run(args)
  local several, wrong = rooms.first("baseline", args)
  if several == false then return 2, wrong end
  local self, message, code, why = common.open(args)
  if not self then return code, message, why end
  local existing = self.engine.history.baseline
  local ok = true
  if existing and existing.value and not args.again then
    ok, message, code = false,
      ("there is a baseline already (%s, %.10g): `apsis baseline --again` measures another one"):format(
      existing.id, existing.value), 2
  end
  if ok then ok, message, code = check_refs(self) end
  if ok and not is_meant(self, args, existing) then ok, message, code = false, "no new baseline", 130 end
  local pointer = ok and lfs.pointer(self.world)
  if pointer then ok, message, code = false, lfs.remedy(pointer), 3 end
  if not ok then
    self:close()
    return code, message
  end
  wait.trap()
  self.world:note_head()
  self.allowance:begin() -- the run that went on is over
  self.world.state.limits, self.world.run_number = {}, math.max(self.engine.history.run, self.last.run or 0)
  local unfinished, numbering = self.world:unfinished()
  self.world.state:carry(self.last, unfinished) -- their spending is not forgotten
  self.world.branch.tip = self.world.repo:ref(self.world.branch.ref)
  local outcome
  local options = several and several:options(self) or {}
  options.numbering = #unfinished > 0 and numbering or nil
  outcome, message, code = self.engine:baseline(self.world.run_number, options)
  if not outcome then
    local gone = self.world:gone()
    if not gone then
      self.world:forget_baseline()
      pcall(self.world.state.save, self.world.state, "ready", message)
    end
    self.progress_line:clear()
    self:close()
    return gone and 3 or code, gone or message
  end
  local value, measurement = outcome.record.value, outcome.measurement
  local failure = not value and "the baseline has no metric: " .. (measurement.reason or measurement.missing
    or measurement.status) or measurement.status ~= "ok" and (measurement.reason or measurement.status) or nil
  self.world.state:save("ready", failure)
  report(self, args, outcome, several, existing)
  local run_dir = self.world.runs:dir(outcome.record.experiment, true)
  local lacking = value and measurement.status == "ok" and rooms.first("baseline_lacks", self.manifest, outcome.record)
  self:close()
  if lacking then return 5, lacking end
  if not failure then return 0 end
  return 5, ("%s; see %s/verifier.log"):format(failure, run_dir)
end

return baseline
