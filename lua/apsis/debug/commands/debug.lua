-- debug: steps through a recorded run, or one in a world: each hook, what it was given, returned, remembered, printed.
local common = require "apsis.cli.common"
local consoles = require "apsis.debug.console"
local input = require "apsis.cli.input"
local observe = require "apsis.debug.observe"
local recorded = require "apsis.cli.recorded"
local rooms = require "apsis.core.rooms"
local walks = require "apsis.debug.walk"

local debugging = { place = 162, summary = "step through a recorded run with a strategy, hook by hook",
  example = "apsis debug --strategy mine.lua --at 40" }

function debugging.options(parser)
  common.project_argument(parser)
  parser:option("--strategy", "a shipped strategy or a .lua file, instead of the manifest's"):argname "NAME"
  parser:option("--set", "an option of the strategy, for instance patience=50"):count "*":argname "KEY=VALUE"
  parser:option("--world", "a run in this world of `apsis lab`, made now, instead of a recorded one"):argname "WORLD"
  parser:option("--seed", "of the world (default 1)"):convert(math.tointeger):argname "N"
  parser:option("--evaluations", "in the world at most N (default 1000)"):convert(math.tointeger):argname "N"
  parser:option("--at", "begin at experiment N"):convert(math.tointeger):argname "N"
  parser:flag("--json", "each step, and each answer, as a line of JSON")
  if parser.description then
    parser:description(debugging.summary .. ".\nReads commands from standard input, a line each: s steps, n goes to "
      .. "the next experiment,\nc to a breakpoint, r goes back, p prints an expression, h lists all.")
  end
end

-- What opens a walk over a session's journal, with the strategy's file as it is then.
local function opener(self)
  local source = self.journal
  return function()
    local held, message = rooms.first("redecide", source)
    if not held then return nil, message end
    return walks.new(held, function(prepare)
      self.prepare = prepare
      local ok, wrong = self:load_strategy()
      if not ok then return nil, wrong end
      self.journal = held.journal
      return recorded.open_fold(self)
    end)
  end
end

-- The same over a run in a world, which is made again with the file each time.
local function player(args)
  local play, message = rooms.first("play", { world = args.world, strategy = args.strategy or "hillclimb",
    set = args.set, seed = args.seed or 1, evaluations = args.evaluations or 1000 })
  if not play then return nil, message, 2 end
  local quiet = observe.printing(function() end)
  return function()
    local held, open = play(quiet)
    if not held then return nil, open end
    return walks.new(held, open)
  end
end

-- What opens a walk; nil, message, exit code.
local function opener_of(args)
  if args.world then return player(args) end
  if args.seed or args.evaluations then return nil, "--seed, --evaluations: of a world, with --world", 2 end
  local self, message, code = recorded.open(args)
  if not self then return nil, message, code end
  local ok
  ok, message, code = self:open_world()
  if not ok then return nil, message, code end
  return opener(self)
end

-- Does the commands of standard input until it ends.
local function converse(console)
  while true do
    local line = input.line "(debug) "
    if line == nil or line and not console:command(line) then return 0 end
  end
end

function debugging.run(args)
  if not rooms.has "redecide" then
    return 2, "this apsis is built without lua/apsis/lab, which asks a strategy about a recorded run"
  end
  local open, message, code = opener_of(args)
  if not open then return code, message end
  local console = consoles.new(open, { json = args.json })
  local ok
  ok, message = console:start(args.at)
  if message then return 2, message end
  if not console.step then return 3, "no experiments yet: run `apsis run` first" end
  if not ok and args.at and not console.step.failed then
    return 2, ("--at: no experiment %d is in the journal"):format(args.at)
  end
  return converse(console)
end

return debugging
