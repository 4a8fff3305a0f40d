-- eval: scores the project once, outside any loop: HEAD, or with --worktree the files as they lie. Works in a scratch
-- folder of its own, so that a loop may run meanwhile; writes no journal line and no ref.
local common = require "apsis.cli.common"
local copying = require "apsis.cli.worktree"
local fs = require "apsis.fs"
local json = require "apsis.json"
local pool = require "apsis.live.pool"
local session = require "apsis.cli.session"
local show = require "apsis.cli.table"
local verify = require "apsis.live.verify"
local wait = require "apsis.wait"

local eval = { summary = "score the project as it stands, outside any loop", example = "apsis eval --worktree" }

function eval.options(parser)
  common.project_argument(parser)
  parser:flag("--worktree", "score the files as they lie, uncommitted changes too, instead of HEAD")
  parser:flag("--json", "the measurement as JSON")
end

-- All stages, as a baseline measures them. The measurement; metrics of later stages over those of earlier ones.
local function measure(self, slot, record)
  local result = { metrics = {}, near_misses = {}, near_miss_count = 0 }
  local stages = self.world:stages()
  for _, stage in ipairs(stages) do
    local one = verify.run(self.world, slot, record, { stage = stage, first = stage == stages[1] })
    for name, value in pairs(one.metrics or {}) do result.metrics[name] = value end
    table.move(one.near_misses, 1, #one.near_misses, #result.near_misses + 1, result.near_misses)
    result.near_miss_count = result.near_miss_count + one.near_miss_count
    result.status, result.reason, result.missing = one.status, one.reason, one.missing
    if one.value then result.value, result.samples = one.value, one.samples end
    if one.status ~= "ok" then break end
  end
  return result
end

-- Verifies in a folder of eval's own. measurement | nil, message, code.
local function score(self, scratch, worktree)
  local world = self.world
  world.pool:close()
  world.pool = pool.new(world.repo, scratch)
  if worktree then copying.use(world, scratch .. "/files") end
  local info, message = world.repo:commit_info(world.head)
  if not info then return nil, message, 3 end
  local slot = { number = 0, dir = scratch .. "/run", parent_commit = world.head }
  local ok
  ok, message = fs.mkdir(slot.dir)
  if not ok then return nil, message, 3 end
  local done, measurement = pcall(measure, self, slot, { id = "c0000", commit = world.head, tree = info.tree })
  if done then return measurement end
  if type(measurement) == "table" and measurement.fatal then return nil, measurement.message, measurement.code end
  error(measurement, 0)
end

local function warn(self, worktree, measurement)
  local _, count = self.world.repo:dirty()
  if not worktree and count and count > 0 then
    self:say(("%d uncommitted change(s): the score is of HEAD; --worktree scores the files as they lie"):format(count))
  end
  for _, near in ipairs(measurement.near_misses) do
    self:say(("line %s looks like a METRIC line and is not: %q (%s)"):format(near.line, near.text, near.reason))
  end
end

local function tell(self, args, measurement)
  local metric = self.manifest.metric
  if args.json then
    print(json.encode { metric = metric.name, value = measurement.value or json.null, metrics = measurement.metrics,
      samples = json.array(measurement.samples or {}), status = measurement.status, commit = self.world.head,
      reason = measurement.reason or measurement.missing, worktree = args.worktree or false,
      near_misses = json.array(measurement.near_misses) })
    return
  end
  if measurement.value then print(("%s=%s"):format(metric.name, show.number(measurement.value))) end
  for _, name in ipairs(show.sorted(measurement.metrics)) do
    if name ~= metric.name then print(("%s=%s"):format(show.line(name), show.number(measurement.metrics[name]))) end
  end
end

local function finish(self, args, measurement)
  if wait.interrupts() > 0 then return 130, "interrupted" end
  warn(self, args.worktree, measurement)
  tell(self, args, measurement)
  if not measurement.value then return 5, "no metric: " .. (measurement.reason or measurement.missing
    or measurement.status) end
  if measurement.status ~= "ok" then return 5, measurement.reason end
  return 0
end

function eval.run(args)
  local self, message, code = session.configure(args.dir)
  if not self then return code, message end
  local ok
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
  measurement, message, code = score(self, scratch, args.worktree)
  if measurement then code, message = finish(self, args, measurement) end
  self:close()
  fs.remove_tree(scratch)
  return code, message
end

return eval
