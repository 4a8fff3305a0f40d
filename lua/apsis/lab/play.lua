-- play: a world played through with a strategy, and its decisions again, hook by hook: what `apsis debug --world` steps
-- through. The strategy's file is read again each time it is played, so that a change of the file is seen.
local again = require "apsis.lab.again"
local campaign = require "apsis.lab.campaign"
local common = require "apsis.cli.common"
local definition = require "apsis.lab.definition"
local redecide = require "apsis.lab.redecide"
local trial = require "apsis.lab.trial"

local play = {}

local function options_of(texts)
  local options = {}
  for _, text in ipairs(texts or {}) do
    local key, value = text:match "^([%w_]+)=(.*)$"
    if not key then return nil, ("--set: %q is not KEY=VALUE"):format(text) end
    options[key] = common.value_of(value)
  end
  return options
end

-- The play as a recorded journal: redecide's walk, and open(prepare) -> engine | nil, message for it. nil, message.
-- quiet: the `prepare` of contract.load for the play itself.
local function played(spec, quiet)
  local function open(prepare, journal)
    return trial.open { strategy = { use = spec.use, options = spec.options, dir = ".", prepare = prepare },
      definition = spec.definition, seed = spec.seed, evaluations = spec.evaluations, journal = journal }
  end
  local engine, message = open(quiet, again.journal())
  if not engine then return nil, message end
  local _, why = trial.run(spec, engine) -- where the strategy failed, the walk shows it
  if #engine.journal.texts == 0 then return nil, why end
  local held = redecide.new(engine.journal, 1, true)
  return held, function(prepare)
    local fold, wrong = open(prepare, held.journal)
    if fold then fold.world.genomes, fold.world.truths = engine.world.genomes, engine.world.truths end
    return fold, wrong
  end
end

-- new{ world, strategy, set, seed, evaluations }, as the user gave them -> a function that plays, as played(quiet); or
-- nil, message.
function play.new(args)
  local options, message = options_of(args.set)
  if not options then return nil, message end
  local spec = { use = args.strategy, options = options, seed = args.seed, evaluations = args.evaluations }
  spec.definition, message = definition.load(args.world)
  if not spec.definition then
    return nil, ("--world: %s (`apsis lab --worlds` lists worlds and their options)"):format(message)
  end
  campaign.limit_hooks()
  return function(quiet) return played(spec, quiet) end
end

return play
