-- recorded: journals for the tests of replay, recorded over the fake world into a folder of their own (root).
local contract = require "fake"
local fs = require "apsis.fs"

local root = os.tmpname()
os.remove(root)
local count = 0

local recorded = { root = root }

function recorded.write(texts)
  count = count + 1
  local dir = ("%s/%d"):format(root, count)
  assert(fs.mkdir(dir .. "/logs"))
  assert(fs.write(dir .. "/logs/results.jsonl", table.concat(texts, "\n") .. "\n"))
  return dir
end

-- Records a run of a strategy. Returns the project's directory and the journal's lines, each with the value and the samples that its
-- candidate has at the end.
function recorded.record(source, spec)
  local lines, ended, engine = contract.run(source, spec)
  assert(ended.reason, ended.message)
  for index, line in ipairs(lines) do line.value, line.all = engine.history:at(index).value, engine.history:at(index).samples end
  return recorded.write(engine.journal.texts), lines
end

return recorded
