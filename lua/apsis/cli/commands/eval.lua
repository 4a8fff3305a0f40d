-- eval: scores the project once, outside any loop: HEAD, the files in the working tree, or a candidate. Uses its own
-- scratch folder, so it works beside a running loop; writes no journal line and no ref.
local common = require "apsis.cli.common"
local copying = require "apsis.live.executor.here.working_tree"
local fs = require "apsis.fs"
local json = require "apsis.json"
local near_miss = require "apsis.live.near_miss"
local once = require "apsis.live.once"
local reader = require "apsis.live.reader"
local rooms = require "apsis.core.rooms"
local session = require "apsis.live.session"
local show = require "apsis.cli.table"
local wait = require "apsis.wait"

local eval = { place = 60, summary = "score the project once, outside any loop",
  example = "apsis eval --worktree" }

function eval.options(parser)
  common.project_argument(parser)
  parser:mutex(parser:flag("--worktree", "score the working tree with its uncommitted changes instead of HEAD"),
    parser:option("--candidate", "measure this candidate once more: c0042, 42, best; nothing is recorded")
      :argname "ID")
  rooms.call("options", "eval", parser)
  parser:flag("--json", "the measurement as JSON")
end

-- The newest baseline's numbers, for a measurer that compares; or nil.
local function baseline_metrics(self)
  if not self:read_journal() then return nil end
  local found
  local ok, message = self.journal:each(function(line)
    if line.outcome == "baseline" and line.primary_metric ~= json.null then found = line.secondary_metrics end
  end)
  if not ok then self:say(message) end
  return found
end

local function warn(self, args, measurement)
  local paths, count = self.world.repo:dirty()
  if not paths then
    self:say(count)
  elseif not (args.worktree or args.candidate) and count > 0 then
    self:say(("%d uncommitted change%s: the score is of HEAD; --worktree includes them"):format(count,
      count > 1 and "s" or ""))
  end
  for _, near in ipairs(near_miss.matters(self.manifest) and measurement.near_misses or {}) do
    self:say(near_miss.looks(near))
  end
end

-- A component's details: its weight and its own numbers.
local function about(part)
  local words = { part.weight and ("weight %s"):format(show.number(part.weight)) }
  for _, name in ipairs(show.sorted(part.metrics or {})) do
    words[#words + 1] = ("%s %s"):format(show.line(name), show.number(part.metrics[name]))
  end
  if not part.score then words = { part.reason and show.line(part.reason) or "not measured" } end
  return #words > 0 and "  (" .. table.concat(words, ", ") .. ")" or ""
end

-- Prints each component with its score, below the total.
local function tell_components(self, parts)
  for _, part in ipairs(parts) do
    local named = part.name ~= self.manifest.metric.name or not part.score
    local shown = part.score and show.number(part.score) or "none"
    if named then print(("%s=%s%s"):format(part.name, shown, about(part))) end
  end
end

local function tell(self, args, measurement, parts)
  local metric = self.manifest.metric
  if args.json then
    print(json.encode { metric = metric.name, value = measurement.value or json.null, metrics = measurement.metrics,
      samples = json.array(measurement.samples or {}), status = measurement.status,
      commit = args.record and args.record.commit or self.world.head, candidate = args.record and args.record.id,
      recorded = args.record and args.record.value,
      reason = measurement.reason or measurement.missing, worktree = args.worktree or false, items = measurement.items,
      components = parts and json.array(parts) or nil, near_misses = json.array(measurement.near_misses) })
    return
  end
  local single = parts and #parts == 1 and parts[1]
  if measurement.value then
    local recorded = args.record and (" (recorded: %s)"):format(show.number(args.record.value)) or ""
    print(("%s=%s%s%s"):format(metric.name, show.number(measurement.value), single and about(single) or "", recorded))
  end
  if parts then return tell_components(self, parts) end
  for _, name in ipairs(show.sorted(measurement.metrics)) do
    if name ~= metric.name then print(("%s=%s"):format(show.line(name), show.number(measurement.metrics[name]))) end
  end
end

local function finish(self, args, measurement, parts)
  if wait.interrupts() > 0 then return 130, "interrupted" end
  warn(self, args, measurement)
  tell(self, args, measurement, parts)
  local several = self.manifest.metric.names and not measurement.missing and measurement.status == "ok"
  if not measurement.value and not several then return 5, "no metric: " .. (measurement.reason or measurement.missing
    or measurement.status) end
  if measurement.status ~= "ok" then return 5, measurement.reason end
  return 0
end

-- The candidate that is meant, and its parent's commit: record, parent | nil, message, exit code.
local function candidate_of(args)
  local all, message, code = reader.open(args.dir)
  if not all then return nil, message, code end
  local record
  record, message, code = all:find(args.candidate)
  if not record then return nil, message, code end
  if not record.commit then return nil, ("%s has no commit (%s)"):format(record.id, record.outcome), 2 end
  local parent = all.history:get((record.parents or {})[1])
  return record, parent and parent.commit
end

-- The session; a room's options may change what is measured. session | nil, message, code.
local function configure(args)
  local self, message, code = session.configure(args.dir)
  if not self then return nil, message, code end
  local changed, why
  changed, why, code = rooms.first("eval_session", self, args)
  if changed == false then return nil, why, code end
  return changed or self
end

function eval.run(args)
  local self, message, code = configure(args)
  if not self then return code, message end
  local ok, parent
  if args.candidate then
    args.record, parent, code = candidate_of(args)
    if not args.record then return code, parent end
  end
  ok, message, code = self:open_world()
  local scratch
  if ok then
    scratch, message = fs.tempdir("apsis-eval-")
    code = 3
  end
  if not scratch then
    self:close()
    return code, message
  end
  wait.trap()
  local measurement
  self.world.baseline_metrics = self.world.measurer and baseline_metrics(self) or nil
  measurement, message, code = once.measure(self.world, scratch, { commit = args.record and args.record.commit,
    parent = parent, open_tree = args.worktree and copying.opener(self.world) or nil })
  if measurement then code, message = finish(self, args, measurement, message) end
  self:close()
  fs.remove_tree(scratch)
  return code, message
end

return eval
