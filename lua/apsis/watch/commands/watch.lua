-- watch: a run on the whole terminal while it goes on, and afterwards. Writes nothing; its actions are other commands.
local common = require "apsis.cli.common"
local host = require "apsis.host"
local show = require "apsis.cli.table"
local views = require "apsis.view.view"

local watch = { place = 75, summary = "a run on the whole terminal: now, the journal, the best path",
  example = "apsis watch" }

function watch.options(parser)
  common.project_argument(parser)
  parser:flag("--plain", "lines of text instead: the facts, then each experiment as it ends, until the run does")
end

local function terminal_missing(at)
  if not host.isatty(0) or not host.isatty(1) then return "standard input or output is not a terminal" end
  local kind = os.getenv "TERM" or ""
  if kind == "" or kind == "dumb" then return ("the terminal cannot be filled (TERM=%s)"):format(kind) end
  local width, height = host.columns(1)
  if width and (width < 40 or height < 10) then
    return ("the terminal has %d columns and %d rows, and 40 and 10 are needed"):format(width, height)
  end
  return nil, at
end

function watch.run(args)
  local missing = not args.plain and terminal_missing()
  if missing then
    local at = show.at(args.dir)
    return 2, ("%s: `apsis watch%s --plain` prints lines, `apsis status%s` the state once"):format(missing, at, at)
  end
  local view, message, code = views.open(args.dir)
  if not view then return code, message end
  local done
  done, message, code = require(args.plain and "apsis.watch.plain" or "apsis.watch.app")[args.plain and "follow"
    or "fill"](view)
  return done and 0 or code, message
end

return watch
