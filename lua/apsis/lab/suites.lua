-- suites: campaigns that are fixed by a version, so that what is printed in two places can be compared: worlds, seeds,
-- evaluations, and the strategies if none is given. A change of any of them gets a new version. Called by the command.
local suggest = require "apsis.suggest"

local suites = {}

-- Worlds that imitate what a model meets when it changes programs.
suites.policy = { version = 1, seeds = 10, evaluations = 1000, strategies = { "adaptive", "hillclimb", "openevolve" },
  patient = { hillclimb = true }, -- whose patience becomes the evaluations, so that none ends early
  worlds = {
    "onemax:n=40", -- small steps that all help
    "leadingones:n=25", -- one way up, with ties beside it
    "nk:n=20,k=5", -- rugged
    "rastrigin:d=3,precision=5", -- rugged, in numbers
    "ackley:d=4", -- flat far away, in numbers
    "blocks:kind=trap,width=3", -- deceptive
    "blocks", -- plateaus
    "mixed", -- numbers and choices
    "tour:n=14", -- permutations
    "proposer:crash=0.3", -- 30 % crashes; improvements become rare
    "programs", -- 30 % crashes, linked modules, ideas that repeat
    "programs:linked=0,levels=20", -- modules for crossover, most changes tie
    "kmodule", -- ideas that repeat
    "flags:cost=0.02", -- compiler flags; each proposal costs
    "onemax:n=40,noise=gaussian", -- noise
    "cascade", -- stages
  } }

-- The strategies of a campaign: the suite's; one that is given comes before them.
local function strategies_of(given, suite)
  if #given > 1 then return given end
  local list = { given[1] }
  for _, name in ipairs(suite.strategies) do
    if name ~= given[1] then list[#list + 1] = name end
  end
  return list
end

-- Fills in what a suite fixes and the command line leaves open. Returns what is wrong, or nil.
function suites.apply(args)
  local suite = suites[args.suite]
  if type(suite) ~= "table" then
    return ("--suite: no suite %q%s; there is: policy"):format(args.suite, suggest.sentence(args.suite, { "policy" }))
  end
  if #args.world > 0 then return "--suite and --world: a suite has its own worlds; leave one of the two out" end
  if #args.sweep > 0 then return "--suite and --sweep: a suite compares strategies; leave one of the two out" end
  args.world = suite.worlds
  args.strategies = strategies_of(args.strategies, suite)
  args.seeds, args.evaluations = args.seeds or suite.seeds, args.evaluations or suite.evaluations
  local set = " " .. table.concat(args.set, " ")
  for _, name in ipairs(args.strategies) do
    local is_set = set:find(" patience=", 1, true) or set:find((" %s.patience="):format(name), 1, true)
    if suite.patient[name] and not is_set then
      args.set[#args.set + 1] = ("%s.patience=%d"):format(name, args.evaluations)
    end
  end
end

return suites
