-- skip: asks a run to end an experiment that is in flight.
local fs = require "apsis.fs"
local reader = require "apsis.live.reader"
local show = require "apsis.cli.table"
local standing = require "apsis.live.standing"
local state = require "apsis.state"

local skip = { place = 152, summary = "end an experiment that is in flight; the run goes on with the next",
  example = "apsis skip 12 --reason 'it hangs in the tests'" }

function skip.options(parser)
  parser:argument("experiment", "its number (default: the only one that is in flight)"):args "?"
  parser:option("--reason", "why; its line has it"):argname "TEXT"
  parser:option("-C --directory", "the project, or a directory inside it (default: here)"):default(".")
    :show_default(false):argname "DIR"
end

-- The number of what is meant; nil, message, exit code.
local function number_of(flying, given, at)
  local numbers = {}
  for index, one in ipairs(flying) do numbers[index] = ("%d"):format(one.experiment) end
  local what = ("in flight: %s"):format(#numbers > 0 and table.concat(numbers, ", ") or "none")
  local wanted = given and tonumber(given:match "^c?(%d+)$")
  if given and not wanted then return nil, ("%s: no experiment's number; %s"):format(show.line(given, 40), what), 2 end
  if not wanted and #flying == 1 then wanted = flying[1].experiment end
  if not wanted then return nil, #flying == 0 and "nothing is in flight" or "which one? " .. what, 2 end
  for _, one in ipairs(flying) do
    if one.experiment == wanted and one.phase ~= "HELD" then return wanted end
    if one.experiment == wanted then
      return nil, ("experiment %d waits for approval: apsis approve c%04d --reject%s"):format(wanted, wanted, at), 2
    end
  end
  return nil, ("experiment %d is not in flight; %s"):format(wanted, what), 2
end

function skip.run(args)
  local self, message, code = reader.open(args.directory)
  if not self then return code, message end
  local facts = standing.facts(self)
  if not facts.running then return 2, "no run is going on here, so nothing is in flight" end
  local number
  number, message, code = number_of(facts.in_flight, args.experiment, show.at(args.directory))
  if not number then return code, message end
  local folder = self.home .. "/.apsis/skip"
  local ok
  ok, message = fs.mkdir(folder)
  if ok then ok, message = state.replace(("%s/%04d"):format(folder, number), show.line(args.reason or "", 300)) end
  if not ok then return 3, message end
  print(("experiment %d: its commands are ended; the run goes on with the next"):format(number))
  return 0
end

return skip
