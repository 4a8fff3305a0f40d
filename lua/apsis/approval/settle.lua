-- settle: takes up the answers that are there, when no run does: what waited gets its line, and nothing is planned.
local progress = require "apsis.cli.progress"
local running = require "apsis.live.running"

-- Stands in for a provider: nobody is asked for a change.
local nobody = {}
function nobody.propose() return { { error = "only answers are taken up" } } end
function nobody.ask() return { error = "only answers are taken up" } end

-- In the project at or above dir. The record of an experiment, and a list of those that were settled with it; nil:
-- another process has the lock and takes them up; or nil, message, code.
return function(dir, number)
  local session, message, code, why = running.open { dir = dir, overrides = {}, configured = function() return true end,
    progress_line = progress.new { quiet = true } }
  if not session then
    if why == "LOCKED" then return nil end
    return nil, message, code
  end
  session.driven = session.last.driven
  local before = session.engine.history.count
  local result
  result, message, code = running.experiments(session, { at = "", stand_in = nobody, quiet = true,
    answers_only = true })
  local history = session.engine.history
  local at, others = result and history:line_of(number), {}
  local record = at and history:whole(at)
  for index = before + 1, history.count do
    if index ~= at then others[#others + 1] = history:whole(index) end
  end
  session:close()
  if record then return record, others end
  if result and result.interrupted then return nil, "interrupted", 130 end
  return nil, message or "the run was ended before it took the answer up", code or 3
end
