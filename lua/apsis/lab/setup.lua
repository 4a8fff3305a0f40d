-- lab_setup: what `apsis lab` is asked to do, checked before anything runs: strategies with their options, the variants
-- of a sweep, worlds, counts and the files to be written. Every message names the option and the remedy. Called by lab.
local common = require "apsis.cli.common"
local contract = require "apsis.core.strategy"
local definition = require "apsis.lab.definition"
local fs = require "apsis.fs"
local quoted = require("apsis.project.path").quoted
local suggest = require "apsis.suggest"

local setup = {}

setup.default_world = "onemax"

-- "patience=50", "hillclimb.patience=50" -> { option, key, strategy, text }.
local function split(option, text)
  local name, value = text:match("^([^=]+)=(.*)$")
  local strategy, key = nil, name
  if name and name:find(".", 1, true) then strategy, key = name:match("^(.+)%.([%w_]+)$") end
  if not key or not key:find "^[%w_]+$" or value == "" then
    return nil, ("%s: %q is not KEY=VALUE%s"):format(option, text, option == "--sweep"
      and "; values are separated by commas: --sweep patience=10,20,50" or ", for instance --set patience=50")
  end
  return { option = option, key = key, strategy = strategy, text = value }
end

-- Whether a setting is meant for a strategy: "my" and "dir/my.lua" both name dir/my.lua.
local function meant_for(setting, strategy)
  local name = setting.strategy
  if name == nil or name == strategy.label or name == strategy.use then return true end
  return name == strategy.use:match("([^/]+)%.lua$") or name == strategy.use:match("[^/]+$")
end

-- true if some strategy declares what a setting sets; else nil and the nearest.
local function check_declared(setting, strategies)
  local declared, named = {}, {}
  for _, strategy in ipairs(strategies) do
    named[#named + 1] = strategy.use
    if meant_for(setting, strategy) then
      for key in pairs(strategy.declared) do declared[key] = true end
      if strategy.declared[setting.key] ~= nil then return true end
    end
  end
  if setting.strategy and not next(declared) then
    return nil, ("%s: no strategy %q with options among %s%s"):format(setting.option, setting.strategy,
      table.concat(named, ", "), suggest.sentence(setting.strategy, named))
  end
  local names = suggest.names(declared)
  return nil, ("%s: no strategy here declares an option %q%s; options: %s"):format(setting.option, setting.key,
    suggest.sentence(setting.key, names), #names > 0 and table.concat(names, ", ") or "none")
end

-- The options that a strategy reads: its own, and those of the default halt if it brings none.
local function options_of(loaded)
  local declared = {}
  if not loaded.own.halt then
    for key, value in pairs(contract.defaults().options) do declared[key] = value end
  end
  for key, value in pairs(loaded.own.options or {}) do declared[key] = value end
  return declared
end

-- What else a name was meant as that is no strategy's; nil if nothing is near.
local function meant_otherwise(name)
  if definition.load(name) then
    return ("%s is a %s, not a strategy: --world %s"):format(name, name:find "%.lua" and "world's file" or "world",
      name)
  end
  local shipped = name:match "^([%w_]+):"
  if shipped and definition.load(shipped) then
    return ("%s is a world, not a strategy: --world %s"):format(shipped, name)
  end
  if not name:find "%.lua$" and fs.stat(name .. ".lua") then
    return ("no strategy %q is shipped; did you mean the file here, %s.lua?"):format(name, name)
  end
end

-- "hillclimb+sensitive": a strategy with acceptance under noise, by the name of its preset.
local function with_acceptance(name)
  local use, preset = name:match "^(.+)%+(%l+)$"
  if not preset then return name end
  local there, acceptance = pcall(require, "apsis.acceptance")
  if not there then return nil, name .. ": this apsis is built without acceptance under noise (lua/apsis/noise)" end
  if acceptance.presets[preset] then return use, { preset = preset } end
  return nil, ("%s: no acceptance %q; %s+default or %s+sensitive"):format(name, preset, use, use)
end

local function load_strategies(names)
  local list, seen = {}, {}
  for index, name in ipairs(#names > 0 and names or contract.shipped()) do
    if seen[name] then
      return nil, ("strategy %s is given twice; leave one out (--sweep compares values of an option)"):format(name)
    end
    seen[name] = true
    local use, accepts = with_acceptance(name)
    if not use then return nil, accepts end
    local loaded, message = contract.load { use = use, options = {}, dir = "." }
    if not loaded then return nil, meant_otherwise(use) or message end
    list[index] = { label = name, use = use, dir = ".", options = {}, declared = options_of(loaded),
      acceptance = accepts }
  end
  return list
end

-- Reports which strategies a setting without a strategy's name has reached, if there are several.
local function reached_text(setting, reached, strategies)
  if setting.strategy or #strategies == 1 then return nil end
  return ("%s=%s is set for %s"):format(setting.key, setting.text, table.concat(reached, ", "))
end

local function apply_sets(strategies, texts, plan)
  plan.reached = {}
  for _, text in ipairs(texts) do
    local setting, message = split("--set", text)
    if not setting then return nil, message end
    local ok
    ok, message = check_declared(setting, strategies)
    if not ok then return nil, message end
    local reached = {}
    for _, strategy in ipairs(strategies) do
      if meant_for(setting, strategy) and strategy.declared[setting.key] ~= nil then
        strategy.options[setting.key], reached[#reached + 1] = common.value_of(setting.text), strategy.label
      end
    end
    plan.reached[#plan.reached + 1] = reached_text(setting, reached, strategies)
  end
  return true
end

local function read_sweeps(strategies, texts)
  local sweeps = {}
  for index, text in ipairs(texts) do
    local sweep, message = split("--sweep", text)
    if not sweep then return nil, message end
    local ok
    ok, message = check_declared(sweep, strategies)
    if not ok then return nil, message end
    local seen
    sweep.values, seen = {}, {}
    for value in (sweep.text .. ","):gmatch("([^,]*),") do
      if value == "" or seen[value] then
        return nil, ("--sweep: %q has %s"):format(text, value == "" and "an empty value" or "the value " .. value
          .. " twice")
      end
      seen[value], sweep.values[#sweep.values + 1] = true, value
    end
    for before = 1, index - 1 do
      if sweeps[before].key == sweep.key and sweeps[before].strategy == sweep.strategy then
        return nil, ("--sweep: %s is swept twice; give all its values at once: --sweep %s=A,B,C"):format(sweep.key,
          sweep.key)
      end
    end
    sweeps[index] = sweep
  end
  return sweeps
end

local function with_option(variant, key, text)
  local options = { [key] = common.value_of(text) }
  for name, value in pairs(variant.options) do
    if name ~= key then options[name] = value end
  end
  return { label = ("%s %s=%s"):format(variant.label, key, text), use = variant.use, dir = variant.dir,
    options = options, base = variant.base, acceptance = variant.acceptance }
end

-- The grid of a strategy: a variant for every combination of the values swept of its options; nil if none is.
local function grid_of(strategy, sweeps)
  local variants, swept = { { label = strategy.label, use = strategy.use, dir = strategy.dir,
    options = strategy.options, base = strategy, acceptance = strategy.acceptance } }, false
  for _, sweep in ipairs(sweeps) do
    if meant_for(sweep, strategy) and strategy.declared[sweep.key] ~= nil then
      local wider = {}
      for _, variant in ipairs(variants) do
        for _, text in ipairs(sweep.values) do wider[#wider + 1] = with_option(variant, sweep.key, text) end
      end
      variants, swept = wider, true
    end
  end
  return swept and variants or nil
end

-- A strategy's own word on its options, before the hours of work.
local function check_options(variants, option)
  for _, variant in ipairs(variants) do
    local loaded, message = contract.load(variant)
    if not loaded then return nil, ("%s: %s"):format(option, message) end
  end
  return true
end

local function read_strategies(args, plan)
  local ok, message
  plan.bases, message = load_strategies(args.strategies)
  if not plan.bases then return nil, message end
  ok, message = apply_sets(plan.bases, args.set, plan)
  if not ok then return nil, message end
  local sweeps
  sweeps, message = read_sweeps(plan.bases, args.sweep)
  if not sweeps then return nil, message end
  plan.strategies, plan.grids = {}, {}
  for _, base in ipairs(plan.bases) do
    local variants = grid_of(base, sweeps)
    if variants then plan.grids[#plan.grids + 1] = { base = base, variants = variants } end
    variants = variants or { base }
    table.move(variants, 1, #variants, #plan.strategies + 1, plan.strategies)
  end
  ok, message = check_options(plan.bases, "--set")
  if not ok then return nil, message end
  return check_options(plan.strategies, "--sweep")
end

local function read_worlds(args, plan)
  local texts, seen = #args.world > 0 and args.world or { setup.default_world }, {}
  plan.worlds = {}
  for index, text in ipairs(texts) do
    if seen[text] then return nil, ("--world %s is given twice; leave one out"):format(text) end
    local world, message = definition.load(text)
    if not world then
      local name, options = text:match "^([%w_]+),(.*=.*)$"
      if name and definition.load(name) then
        return nil, ("--world: no world %q; did you mean %s:%s? (a colon, then the options)"):format(text, name,
          options)
      end
      return nil, ("--world: %s (`apsis lab --worlds` lists worlds and their options)"):format(message)
    end
    seen[text], plan.worlds[index] = true, world
  end
  return true
end

local least = { { "seeds", 1 }, { "evaluations", 2, " (the baseline's is one of them)" }, { "workers", 1 },
  { "jobs", 1 } }

local function check_numbers(args)
  for _, entry in ipairs(least) do
    local name, smallest, why = table.unpack(entry)
    if args[name] and args[name] < smallest then
      return nil, ("--%s must be %d or more%s, not %d"):format(name, smallest, why or "", args[name])
    end
  end
  for _, name in ipairs { "minutes", "tokens", "usd" } do
    if args[name] and not (args[name] > 0 and args[name] < math.huge) then
      return nil, ("--%s must be more than 0, not %.10g"):format(name, args[name])
    end
  end
  if args.seed > math.maxinteger - 2 * args.seeds then return nil, ("--seed %d is too large"):format(args.seed) end
  return true
end

-- Whether a file can be written, which leaves what is there as it is.
local function check_writable(option, path)
  if path == "-" then return true end
  local there = fs.stat(path)
  local file, message = io.open(path, "ab")
  if not file then return nil, ("--%s: cannot write %s"):format(option, message) end
  file:close()
  if not there then fs.remove(path) end
  return true
end

-- A folder that others will read is new or empty: what is not of this campaign would be taken for a part of it.
local function check_folder(option, path)
  local ok, message = fs.mkdir(path)
  if not ok then return nil, ("--%s: cannot make the folder: %s"):format(option, message) end
  if #assert(fs.list(path)) > 0 then
    return nil, ("--%s: %s is not empty; give a new folder, or remove what is in it"):format(option, path)
  end
  return true
end

local function check_folders(args)
  for _, option in ipairs { "coco", "iohprofiler" } do
    local path = args[option]
    if path == "" then return nil, ("--%s: give a folder's name"):format(option) end
    if path then
      local ok, message = check_folder(option, path)
      if not ok then return nil, message end
    end
  end
  if args.coco and fs.realpath(args.coco) == (args.iohprofiler and fs.realpath(args.iohprofiler)) then
    return nil, "--coco and --iohprofiler name the same folder; give each its own"
  end
  return true
end

local function check_outputs(args)
  local on_stdout, at = args.json and "--json" or nil, {}
  for _, option in ipairs { "csv", "html" } do
    local path = args[option]
    if path == "" then return nil, ("--%s: give a file's name, or - for standard output"):format(option) end
    if path == "-" then
      if on_stdout then
        return nil, ("%s and --%s - both want standard output; give one of them a file"):format(on_stdout, option)
      end
      on_stdout = "--" .. option .. " -"
    elseif path then
      local ok, message = check_writable(option, path)
      if not ok then return nil, message end
      if at[path] then return nil, "--csv and --html name the same file; give each its own" end
      at[path] = true
    end
  end
  return true
end

-- The number of processors this process may use.
local function processors()
  local status, count = fs.read "/proc/self/status" or "", 0
  for range in (status:match "Cpus_allowed_list:%s*(%S+)" or "0"):gmatch "[^,]+" do
    local low, high = range:match "^(%d+)%-?(%d*)$"
    if low then count = count + (tonumber(high) or tonumber(low)) - tonumber(low) + 1 end
  end
  return math.max(1, math.tointeger(count))
end

-- What running times are counted in, and the budget of that: what a run that does not get there counts as.
local function read_axis(args, plan)
  plan.axis = args.axis or "evaluations"
  if plan.axis == "evaluations" then plan.budget = plan.evaluations end
  if plan.axis == "time" then plan.budget = args.minutes and args.minutes * 60 end
  if plan.axis ~= "cost" then return true end
  plan.budget = args.usd
  for _, world in ipairs(plan.worlds) do
    if world.options.cost == 0 and world.name ~= "replay" and not world.name:find "%.lua$" then
      return nil, ("--axis cost: nothing costs anything on %s; give it a cost: --world %s%scost=0.01"):format(
        world.label, world.label, world.label:find(":", 1, true) and "," or ":")
    end
  end
  return true
end

-- The command as it would be given again, without what does not change what it finds.
local function command_of(args, plan)
  local words = { "apsis lab" }
  for _, base in ipairs(plan.bases) do words[#words + 1] = quoted(base.label) end
  local function add(option, value) words[#words + 1] = "--" .. option .. " " .. quoted(tostring(value)) end
  if args.suite then add("suite", args.suite) end
  for _, world in ipairs(args.suite and {} or plan.worlds) do add("world", world.label) end
  add("seeds", args.seeds)
  if args.seed ~= 1 then add("seed", args.seed) end
  add("evaluations", args.evaluations)
  if args.workers then add("workers", args.workers) end
  if args.axis and args.axis ~= "evaluations" then add("axis", args.axis) end
  for _, text in ipairs(args.set) do add("set", text) end
  for _, text in ipairs(args.sweep) do add("sweep", text) end
  if args.race then words[#words + 1] = "--race" end
  for _, name in ipairs { "minutes", "tokens", "usd" } do
    if args[name] then add(name, args[name]) end
  end
  if args.all_pairs then words[#words + 1] = "--all-pairs" end
  if args.friedman then words[#words + 1] = "--friedman" end
  if args.no_history then words[#words + 1] = "--no-history" end
  return table.concat(words, " ")
end

-- The plan: { command, bases, strategies (or their variants), grids = { {base, variants}... }, worlds, first_seed,
-- seeds, evaluations, workers, jobs, limits, history, suite, axis, budget (of the axis, if there is one), against (the
-- strategy that each is compared with; nil: every pair is compared), reached = { text... } } | nil, message.
function setup.plan(args)
  local plan = { first_seed = args.seed, seeds = args.seeds, evaluations = args.evaluations, workers = args.workers,
    jobs = args.jobs or processors(), limits = { minutes = args.minutes, tokens = args.tokens, usd = args.usd },
    history = not args.no_history, friedman = args.friedman, race = args.race, suite = args.suite }
  local steps = { check_numbers, read_strategies, read_worlds, check_outputs, check_folders }
  for _, step in ipairs(steps) do
    local ok, message = step(args, plan)
    if not ok then return nil, message end
  end
  local ok, message = read_axis(args, plan)
  if not ok then return nil, message end
  if plan.race and #plan.grids == 0 then
    return nil, "--race is for a sweep: add one, for instance --sweep patience=10,20,50"
  end
  if plan.friedman and (#plan.worlds < 2 or #plan.strategies < 2) then
    return nil, "--friedman ranks strategies over worlds: give two of each or more"
  end
  local all_pairs = args.all_pairs or args.overview and not args.suite or #plan.grids > 0 or #plan.strategies < 3
  plan.against = not all_pairs and plan.strategies[1].label or nil
  plan.command = command_of(args, plan)
  return plan
end

return setup
