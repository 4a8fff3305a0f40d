-- replay: what happened: a recorded run as a world. The n-th proposal is answered by the recorded experiment n (its
-- candidate, its value or failure, its time and cost) as long as it asks for the same, that is the same parents and
-- operator; from the first that differs the recording cannot be followed, and the run ends there with that reason. It
-- has as many workers as were recorded, unless others are asked for. Known: the recorded strategy with its options,
-- seed and workers gives the journal again.
local answers = require "apsis.lab.answers"

local replay = { options = { dir = "." }, description = "a recorded run, as far as it answers: dir is the project" }

local opened -- what the journal reports, once it has been read

local function open(dir)
  local message
  opened, message = answers.open(dir)
  if not opened then return message end
  replay.direction, replay.metric = opened.direction, opened.metric
end

-- What is wrong with the options; nil if nothing is.
function replay.check(options)
  if options.noise ~= "none" then return "a recorded run has the noise that was measured: no other can be put on it" end
  return open(options.dir)
end

function replay.init(lab)
  local message = not opened and open(lab.options.dir)
  if message then error(message, 0) end
  lab.target, lab.measure_by, lab.workers = opened.target, opened.measure_by, opened.workers
  function lab.attach(world) answers.attach(world, opened) end
end

-- The recorded lines themselves are the genomes; what answers.attach puts into the world hands them out.
function replay.baseline() return opened.baseline end
function replay.propose(_, proposal) return opened.lines[proposal.experiment] end
function replay.evaluate(_, line) return line.primary_metric end

return replay
