-- common: what several commands share: the project argument, overrides from options, and the result of a run.
local fs = require "apsis.fs"
local json = require "apsis.json"
local progress = require "apsis.cli.progress"
local rooms = require "apsis.core.rooms"
local running = require "apsis.live.running"
local show = require "apsis.cli.table"

local common = {}

function common.project_argument(parser)
  parser:argument("dir", "the project, or a directory inside it (default: here)"):args "?"
  parser:option("-C --directory", "run as if started in DIR"):argname "DIR"
end

function common.run_options(parser)
  parser:option("--seed",
    "the seed of every random stream (default: the manifest's, else 1)"):convert(math.tointeger):argname "N"
  parser:option("--strategy", "a shipped strategy or a .lua file, instead of the manifest's"):argname "NAME"
  parser:option("--set", "an option of the strategy, for instance patience=50"):count "*":argname "KEY=VALUE"
  parser:flag("-q --quiet", "no progress")
  parser:flag("--json", "the result as one JSON object on stdout")
end

-- The value of a setting on the command line: JSON, true or false, a number, else the text.
function common.value_of(text)
  if text:find("^[%[{]") then
    local value = json.decode(text)
    if value ~= nil then return value end
  end
  if text == "true" then return true elseif text == "false" then return false end
  return tonumber(text) or text
end

-- Applies --strategy and --set to a configured session. true | nil, message, 2.
function common.choose_strategy(self, args)
  local spec = self.manifest.strategy
  if args.strategy then
    local use = args.strategy
    if use:find("%.lua$") then -- relative to the user's folder; converted to the project's
      use = fs.realpath(use) or use
      if use:sub(1, #self.dir + 1) == self.dir .. "/" then use = use:sub(#self.dir + 2) end
    end
    spec, self.strategy_from = { use = use, options = {} }, "--strategy"
  end
  spec, self.set = { use = spec.use, options = spec.options or {} }, {}
  for _, setting in ipairs(args.set or {}) do
    local key, value = setting:match("^([%w_]+)=(.*)$")
    if not key then return nil, ("--set: %q is not KEY=VALUE"):format(setting), 2 end
    spec.options[key], self.set[key] = common.value_of(value), true
  end
  self.manifest.strategy = spec
  return true
end

-- ": 3 kept, 15 reverted_worse_metric", most first.
local function outcomes_text(outcomes)
  local names, parts = {}, {}
  for name in pairs(outcomes) do names[#names + 1] = name end
  table.sort(names, function(a, b)
    if outcomes[a] ~= outcomes[b] then return outcomes[a] > outcomes[b] end
    return a < b
  end)
  for index, name in ipairs(names) do parts[index] = outcomes[name] .. " " .. name end
  return #parts > 0 and ": " .. table.concat(parts, ", ") or ""
end

-- ", 8.2x faster than the baseline's 150 (-88 %)", with what the measurements behind it leave in doubt.
local function against_baseline(self, result)
  local best, baseline = self.engine.history.best, self.engine.history.baseline
  if baseline and baseline.id == best.id then return ", the baseline itself" end
  local which = self.initial and "first baseline" or "baseline" -- later baselines follow other people's merges
  return ", " .. self.engine.metric:gained_text(best, { value = result.baseline, samples = baseline
    and baseline.samples }, self.manifest.metric.unit, which)
end

-- What to look at next: whole commands, to be copied.
local function tell_next(self, args, id)
  local here = show.at(args.dir)
  local at = here ~= "" and " -C" .. here or ""
  if args.in_all then return print(("look further: apsis log%s"):format(here)) end
  local commands = { "apsis log" .. here, ("apsis show %s%s"):format(id, at), ("apsis diff %s%s"):format(id, at),
    ("git log --graph --oneline --glob='%s*'"):format(self.world.refs) }
  local text = "look further: " .. table.concat(commands, " | ")
  if #text > (show.width() or math.huge) then text = "look further:\n  " .. table.concat(commands, "\n  ") end
  print(text)
  local take = rooms.first("take", self.engine.history, self.dir, at)
  if take then print(show.take(self.manifest, take)) end
end

local function tell(self, args, result)
  self.progress_line:clear()
  if args.account then args.account(self, result) end
  if args.json then
    for key, value in pairs(args.chosen or {}) do result[key] = value end
    return print(json.encode(result))
  end
  print(show.wrap(("%d experiment%s%s; ended: %s"):format(result.experiments, result.experiments == 1 and "" or "s",
    outcomes_text(result.outcomes), result.reason), show.width(), ""))
  if result.best ~= json.null then
    local gained = show.gain(result.gain, result.best.candidate)
    print(show.wrap(("best %s: %s (%s)%s; branch%s"):format(result.best.candidate, show.number(result.best.value,
      self.manifest.metric.unit), self.engine.metric:words(), gained and "" or against_baseline(self, result),
      self.engine.front and ("es %s/*"):format(self.world.branch.short) or " " .. self.world.branch.short),
      show.width(), ""))
    for _, ended in rooms.each "ended" do
      local text = ended(self)
      if text then print(show.wrap(text, show.width(), "  ")) end
    end
    if gained then print(show.wrap("gained: " .. gained, show.width(), "")) end
    if self.engine.judge and args.compare_at_end ~= false and self.engine.judge:unproven() then
      print(("the gain is not measured yet: `apsis run%s` resumes and measures it"):format(show.at(args.dir)))
    end
    local hint = self.engine.judge and self.engine.judge:hint()
    if hint then print(show.wrap(hint, show.width(), "")) end
    tell_next(self, args, result.best.candidate)
  end
end

-- A session ready to run experiments. args beside a command's own: unchecked, past_target; as running.open's.
function common.open(args, visit)
  return running.open { dir = args.dir, overrides = { ["execution.workers"] = args.workers, seed = args.seed },
    unchecked = args.unchecked, past_target = args.past_target, visit = visit,
    progress_line = progress.new { quiet = args.quiet or args.json },
    configured = function(self) return common.choose_strategy(self, args) end }
end

-- Runs experiments until something ends them; the exit code, a message, and why ("LOCKED").
function common.experiments(args)
  local self, message, code, why = common.open(args)
  if not self then return code, message, why end
  local log_phase = args.phase and require("apsis.cli.phases").install(self)
  local result
  result, message, code = running.experiments(self, { at = show.at(args.dir), iterations = args.iterations,
    minutes = args.minutes, in_all = args.in_all, compare_at_end = args.compare_at_end,
    quiet = args.json or args.quiet })
  if result and log_phase then log_phase() end
  if result then tell(self, args, result) else self.progress_line:clear() end
  self:close()
  if not result then return code, message end
  if result.interrupted then return 130 end
  if result.unanswered then return 4, "the provider gave no usable answer in the whole run: " .. result.unanswered end
  return 0
end

return common
