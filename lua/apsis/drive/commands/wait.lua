-- wait: waits for what became of a submission.
local outcome = require "apsis.drive.outcome"
local place = require "apsis.drive.place"
local waiting = require "apsis.wait"
local work = require "apsis.drive.work"

local command = { place = 53, summary = "wait for the result of what was submitted", example = "apsis wait s0003" }

function command.options(parser)
  parser:argument("id", "what `apsis submit` printed, or the candidate that `apsis next` gave")
  parser:option("-C --directory", "the project, or a directory inside it (default: here)"):default(".")
    :show_default(false):argname "DIR"
  parser:option("--timeout", "wait at most S seconds (0: only look)"):convert(tonumber):argname "S"
  parser:flag("--json", "the result as JSON, as `apsis submit --json` prints it")
end

function command.run(args)
  if args.timeout and not (args.timeout >= 0) then return 2, "--timeout: must be 0 or more" end
  local self, message, code = place.project(args.directory)
  if not self then return code, message end
  waiting.trap()
  local found
  found, message, code = work.wait(self, args.id, { timeout_s = args.timeout, quiet = args.json })
  if found then return outcome.print(found, args.json) end
  return code, message
end

return command
