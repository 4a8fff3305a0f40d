-- resume: ends a pause.
local common = require "apsis.cli.common"
local fs = require "apsis.fs"
local lock = require "apsis.live.lock"
local reader = require "apsis.live.reader"

local resume = { place = 150, summary = "resume a paused loop", example = "apsis resume" }

function resume.options(parser)
  common.project_argument(parser)
end

function resume.run(args)
  local self, message, code = reader.configure(args.dir)
  if not self then return code, message end
  local path = self.home .. "/.apsis/pause"
  local paused, pid = fs.stat(path) ~= nil, lock.holder(self.home)
  if paused then
    local ok
    ok, message = fs.remove(path)
    if not ok then return 3, message end
  end
  print((paused and "resumed" or "it was not paused") .. (pid and ("; the loop of pid %d goes on"):format(pid)
    or "; no loop is running: `apsis run` starts one"))
  return 0
end

return resume
