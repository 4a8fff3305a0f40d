-- pause: a running loop plans nothing until `apsis resume`; experiments in flight finish.
local clock = require "apsis.core.clock"
local common = require "apsis.cli.common"
local fs = require "apsis.fs"
local journal = require "apsis.core.journal"
local lock = require "apsis.live.lock"
local reader = require "apsis.live.reader"

local pause = { place = 140, summary = "let a running loop finish what is in flight and wait", example = "apsis pause" }

function pause.options(parser)
  common.project_argument(parser)
end

function pause.run(args)
  local self, message, code = reader.configure(args.dir)
  if not self then return code, message end
  local path = self.home .. "/.apsis/pause"
  local already, pid = fs.stat(path) ~= nil, lock.holder(self.home)
  if not already then
    local ok
    ok, message = fs.mkdir(self.home .. "/.apsis")
    if ok then ok, message = fs.write(path, journal.timestamp(clock.time()) .. "\n") end
    if not ok then return 3, message end
  end
  local loop = pid and ("the loop of pid %d finishes what is in flight and waits"):format(pid)
    or "no loop is running, and the next one will wait at its start"
  print(("%s; %s; `apsis resume` goes on"):format(already and "paused already" or "paused", loop))
  return 0
end

return pause
