-- lab: strategies on synthetic worlds, over many seeds: which is better, and whether it is. Reads the command line,
-- runs the campaign and, after a sweep, its winners again on fresh seeds, and hands what was found to those that print
-- it. stdout holds the same bytes for the same command whatever --jobs is.
local campaign = require "apsis.lab.campaign"
local definition = require "apsis.lab.definition"
local direction = require "apsis.direction"
local export = require "apsis.lab.export"
local friedman = require "apsis.lab.friedman"
local fs = require "apsis.fs"
local measures = require "apsis.lab.measures"
local output = require "apsis.lab.output"
local progress = require "apsis.lab.progress"
local report = require "apsis.lab.table"
local rooms = require "apsis.core.rooms"
local race = require "apsis.lab.race"
local setup = require "apsis.lab.setup"
local show = require "apsis.cli.table"
local suites = require "apsis.lab.suites"
local wait = require "apsis.wait"

local lab = { place = 170, summary = "compare strategies on synthetic worlds: no git, no processes, many seeds",
  example = "apsis lab hillclimb my.lua --world onemax:n=60 --world rastrigin:d=5 --seeds 50 "
    .. "--set hillclimb.patience=200" }

local about = [[
Every strategy runs on the same instances with the same noise, once for each
seed, and differences are paired by seed. Each strategy is compared with the
first one; the fewer pairs, the smaller a difference that can be shown, because
p is corrected for the pairs compared. A strategy runs with its own options:
if it halts early, it keeps what it has found, and apsis reports what it left
unspent (hillclimb's patience is 20: --set patience=1000 lets it go on). A run
also ends when its world is solved. A sweep's winner for each strategy (the best
mean rank by median over the worlds; of equal medians, by ERT) is run again on
fresh seeds beside the strategy without the sweep. The same command prints the
same bytes, whatever --jobs is.]]

local defaults = { seeds = 20, seed = 1, evaluations = 1000 }

function lab.options(parser)
  parser:argument("strategies", "shipped names or .lua files (default: all shipped ones); with acceptance under noise: "
    .. "NAME+default, NAME+sensitive"):args "*"
  parser:option("--world", ("a world and its options, for instance nk:n=20,k=4 (default: %s)"):format(
    setup.default_world)):count "*":argname "WORLD"
  parser:option("--suite", "a fixed campaign, policy: 16 worlds, 10 seeds, 1000 evaluations; a strategy that is "
    .. "given is compared with shipped ones"):argname "NAME"
  parser:option("--seeds", "how many seeds, from --seed on (default 20)"):convert(math.tointeger):argname "N"
  parser:option("--seed", "the first seed (default 1)"):convert(math.tointeger):argname "N"
  parser:option("--evaluations", "at most N in a run, with the baseline's (default 1000)"):convert(math.tointeger)
    :argname "N"
  parser:option("--workers", "simulated workers: results come out of order (default 1; replay: as recorded)"):convert(
    math.tointeger):argname "N"
  parser:option("--jobs", "processes to use (default: one for each processor)"):convert(math.tointeger):argname "N"
  parser:option("--set", "an option of every strategy that has it, or of one: hillclimb.patience=50"):count "*"
    :argname "KEY=VALUE"
  parser:option("--sweep", "compare values of an option: patience=10,20,50; of several, every combination"):count "*"
    :argname "KEY=A,B"
  parser:flag("--race", "end a sweep's variants early that a rank test, after each 5 seeds, shows to be slower than "
    .. "the best")
  parser:option("--axis", "what running times are counted in: evaluations (default), time (simulated seconds, with "
    .. "--workers) or cost"):argname "AXIS":choices { "evaluations", "time", "cost" }
  parser:option("--minutes", "nothing starts after M simulated minutes"):convert(tonumber):argname "M"
  parser:option("--tokens", "at most N simulated tokens in a run (worlds: tokens=N)"):convert(tonumber):argname "N"
  parser:option("--usd", "at most X simulated dollars in a run (worlds: cost=X)"):convert(tonumber):argname "X"
  parser:option("--csv", "a line for each trial into this file; - is standard output"):argname "FILE"
  parser:option("--html", "the report as one page into this file; - is standard output"):argname "FILE"
  parser:option("--coco", "the runs in COCO's format into this new folder: cocopp reads it"):argname "DIR"
  parser:option("--iohprofiler", "the runs in IOHprofiler's format into this new folder: IOHanalyzer reads it")
    :argname "DIR"
  parser:flag("--json", "the results as JSON, with every digit")
  parser:flag("--all-pairs", "compare every pair of strategies, not only each with the first; --overview and --sweep "
    .. "do so always")
  parser:flag("--overview", "no tables but these: a line for each world, and the verdicts over all worlds")
  parser:flag("--friedman", "also rank the strategies over the worlds: Friedman's test, and Nemenyi's of each pair")
  parser:flag("--no-history", "strategies see only the newest 4,096 lines: memory stays flat in very long runs")
  parser:flag("--worlds", "list the worlds and their options")
  parser:flag("-q --quiet", "no progress")
  parser:flag("--progress", "progress also where stderr is not a terminal")
  rooms.call("options", "lab", parser)
  if parser.description then parser:description(lab.summary .. ".\n" .. about) end
end

-- ---- what worlds there are ----

local function options_text(options)
  local parts = {}
  for _, name in ipairs(show.sorted(options)) do parts[#parts + 1] = ("%s=%s"):format(name, options[name]) end
  return table.concat(parts, " ")
end

local function list_worlds()
  for _, name in ipairs(definition.shipped()) do
    local module = require("apsis.lab.worlds." .. name)
    local metric = module.direction and direction.new { direction = module.direction }
    print(("%s: %s%s"):format(name, module.description or "", metric and (" (%s)"):format(metric:words()) or ""))
    if next(module.options or {}) then print("    options: " .. options_text(module.options)) end
  end
  print("\nEvery world also has: " .. options_text(definition.common))
  print "`--world NAME:KEY=VALUE,KEY=VALUE` sets them; `--world FILE.lua` is one of your own"
  return 0
end

-- ---- running ----

-- What run.log wrote in the runs of the first seed.
local function print_logged(matrix, seed)
  for _, entry in ipairs(matrix) do
    for _, text in ipairs(entry.records[1] and entry.records[1].logged or {}) do
      io.stderr:write(("%s on %s, seed %d, %s\n"):format(entry.strategy, entry.world, seed, show.line(text, 1000)))
    end
  end
end

-- Friedman's test over the worlds, with Nemenyi's of pairs.
local function ranked_over_worlds(found, worlds, options)
  local names = {}
  for place = 1, #found.matrix // #worlds do names[place] = found.matrix[place].strategy end
  if #names < 2 then return nil end
  return friedman(measures.scores(found.matrix, options), names, options)
end

-- Runs strategies from a seed on. What campaign.run returns, with the seeds' first, rows and comparisons.
local function phase(plan, strategies, first_seed, bar, title)
  bar:begin(title)
  local racing = plan.race and title == "lab"
  local options = { seed = first_seed, evaluations = plan.evaluations, axis = plan.axis, budget = plan.budget,
    first_only = plan.against ~= nil }
  local spec = { strategies = strategies, worlds = plan.worlds, first_seed = first_seed, seeds = plan.seeds,
    evaluations = plan.evaluations, workers = plan.workers, limits = plan.limits, history = plan.history,
    jobs = plan.jobs, progress = function(done, total, busy) bar:update(done, total, busy) end }
  local found = racing and race.run(spec, plan.grids, options) or campaign.run(spec)
  bar:clear()
  print_logged(found.matrix, first_seed)
  found.first_seed, found.rows, found.comparisons, found.overall = first_seed, {}, {}, {}
  if found.seeds > 0 then
    found.rows = measures.rows(found.matrix, options)
    found.comparisons = measures.comparisons(found.matrix, options)
    found.overall = measures.overall(found.matrix, found.comparisons, options)
    found.friedman = plan.friedman and ranked_over_worlds(found, plan.worlds, options)
  end
  return found
end

-- Ranks on one world, { [label] = rank }: by median, of equal ones by ERT; who is equal in both shares the mean rank.
local function ranks_on(rows)
  local ranks, list = {}, report.ranked(rows)
  local metric, from = direction.new { direction = list[1].direction }, 1
  while from <= #list do
    local to = from
    while list[to + 1] and list[to + 1].ert == list[from].ert
      and metric:tied(list[to + 1].median, list[from].median) do to = to + 1 end
    for place = from, to do ranks[list[place].strategy] = (from + to) / 2 end
    from = to + 1
  end
  return ranks
end

-- The variant of a grid with the best mean rank over the worlds; of equal ones the first.
local function winner_of(grid, plan, found)
  local sums, member = {}, {}
  local dropped, best = {}, nil
  for _, one in ipairs(found.race and found.race.dropped or {}) do dropped[one.strategy] = true end
  for _, variant in ipairs(grid.variants) do sums[variant.label], member[variant.label] = 0, true end
  for _, world in ipairs(plan.worlds) do
    local rows = {}
    for _, row in ipairs(found.rows) do
      if row.world == world.label and member[row.strategy] then rows[#rows + 1] = row end
    end
    for label, rank in pairs(ranks_on(rows)) do sums[label] = sums[label] + rank end
  end
  for _, variant in ipairs(grid.variants) do
    local runs = not dropped[variant.label]
    if runs and (not best or sums[variant.label] < sums[best.label]) then best = variant end
  end
  return best
end

local function is_base(variant, base)
  for key, value in pairs(variant.options) do
    local own = base.options[key]
    if own == nil then own = base.declared[key] end
    if value ~= own then return false end
  end
  return true
end

-- The sweep's winners and the strategies without it, on seeds that none of them was chosen by.
local function run_fresh(plan, found, bar)
  local strategies, winners = {}, {}
  for index, grid in ipairs(plan.grids) do
    local winner = winner_of(grid, plan, found)
    winners[index], strategies[#strategies + 1] = winner.label, winner
    if not is_base(winner, grid.base) then strategies[#strategies + 1] = grid.base end
  end
  local fresh = phase(plan, strategies, plan.first_seed + plan.seeds, bar, "fresh seeds")
  fresh.winners = winners
  return fresh
end

-- ---- telling ----

local function tell(args, plan, found, fresh)
  local missing = {} -- the columns that there is no room for
  local print_phase = args.suite and report.suite or args.overview and report.overview or report.print
  print_phase(plan, found, missing)
  if fresh and fresh.seeds > 0 then
    if args.overview then print "" end
    print(show.wrap(("On fresh seeds, from %d on: the sweep's winner (%s), chosen on the seeds above, "
      .. "which therefore favour it, beside the strategy without the sweep."):format(fresh.first_seed,
      table.concat(fresh.winners, "; ")),
      show.width() or 80, ""))
    print ""
    print_phase(plan, fresh, missing)
  end
  if not (args.overview or args.suite) then report.legend(plan, found, missing) end
end

-- Writes a file that was asked for, or standard output.
local function write(option, path, text)
  if path == "-" then
    print((text:gsub("\n$", "")))
    return true
  end
  local file, message = io.open(path, "wb") -- a file of the user's: a link is followed
  local ok = file
  if file then ok, message = file:write(text) end
  if ok then ok, message = file:close() end
  if not ok then return nil, ("--%s: cannot write %s"):format(option, message) end
  return true
end

-- The folders for other programs.
local function write_folders(args, found)
  for _, option in ipairs { "coco", "iohprofiler" } do
    for _, file in ipairs(args[option] and export[option](found.matrix) or {}) do
      local path = args[option] .. "/" .. file[1]
      local ok, message = fs.mkdir(path:match "^(.*)/")
      if ok then ok, message = fs.write(path, file[2]) end
      if not ok then return nil, ("--%s: cannot write %s: %s"):format(option, path, message) end
    end
  end
  return true
end

local function write_all(args, plan, found, fresh)
  if args.json then
    print((output.json(plan, found, fresh):gsub("\n$", "")))
  elseif args.csv ~= "-" and args.html ~= "-" then
    tell(args, plan, found, fresh)
  end
  fresh = fresh and fresh.seeds > 0 and fresh or nil
  if args.csv then
    local ok, message = write("csv", args.csv, output.csv(fresh and { found, fresh } or { found }, plan))
    if not ok then return 3, message end
  end
  local exported, why_not = write_folders(args, found)
  if not exported then return 3, why_not end
  if args.html then
    local made, page = pcall(rooms.first, "page", "lab", output.page(plan, found, fresh))
    if not made then return 3, "--html: " .. tostring(page) end
    local ok, message = write("html", args.html, page)
    if not ok then return 3, message end
  end
  return 0
end

-- The files that hold only a part, in words; "" where there are none.
local function partial_text(args, seeds)
  local files = {}
  for _, option in ipairs { "csv", "html", "coco", "iohprofiler" } do
    if seeds > 0 and args[option] then files[#files + 1] = ("--%s %s"):format(option, args[option]) end
  end
  return #files > 0 and ("\n(partial, whole seeds only: %s)"):format(table.concat(files, ", ")) or ""
end

-- How a campaign that did not reach its end ended: exit code, message; nil if it did. seeds: how many whole ones are
-- shown.
local function ending(args, plan, result, what, seeds)
  local far = ("%d of %d trials%s, %d of %d seeds whole%s"):format(result.done, result.total, what, result.seeds,
    plan.seeds, seeds == 0 and ": nothing to show" or "")
  local partial = partial_text(args, seeds)
  if result.interrupted then
    local running = #result.running > 0 and "\n(was running: " .. table.concat(result.running, "; ") .. ")" or ""
    return 130, "interrupted after " .. far .. show.escape(running) .. partial
  end
  local failure = result.failure
  if not failure then return nil end
  return 2, ("%s on %s, seed %d: %s\n(stopped after %s)%s"):format(failure.strategy, failure.world, failure.seed,
    show.escape(failure.message), far, partial)
end

function lab.run(args)
  if args.worlds then return list_worlds() end
  local wrong = args.suite and suites.apply(args)
  if wrong then return 2, wrong end
  for name, value in pairs(defaults) do args[name] = args[name] or value end
  if args.html and not rooms.has "page" then
    return 2, "--html: this apsis is built without lua/apsis/report, which writes the page"
  end
  campaign.limit_hooks()
  local plan, message = setup.plan(args)
  if not plan then return 2, message end
  wait.trap()
  local bar = progress.new { quiet = args.quiet, spoken = args.progress }
  local found, fresh = phase(plan, plan.strategies, plan.first_seed, bar, "lab"), nil
  local code
  code, message = ending(args, plan, found, "", found.seeds)
  if not code and #plan.grids > 0 then
    fresh = run_fresh(plan, found, bar)
    code, message = ending(args, plan, fresh, " on fresh seeds", found.seeds)
  end
  if found.seeds > 0 then
    local written, why = write_all(args, plan, found, fresh)
    if why then return code or written, why end
  end
  return code or 0, message
end

return lab
