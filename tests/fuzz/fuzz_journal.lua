-- fuzz_journal: the bytes as logs/results.jsonl. Opening it cuts a last line without an end and nothing else; reading it and folding it
-- answer or refuse with PATH:LINE: and a reason; the lines are those of the bytes; and what is appended afterwards is read back.
local direction = require "apsis.direction"
local fs = require "apsis.fs"
local history = require "apsis.core.history"
local journal = require "apsis.core.journal"
local line_module = require "apsis.core.line"
local scratch = require "scratch"

local path = scratch() .. "/results.jsonl"

local function lines_of(bytes)
  local lines = {}
  for line in bytes:gmatch "([^\n]*)\n" do lines[#lines + 1] = line end
  return lines
end

local function check_cut(cut, bytes, whole)
  if #bytes == #whole then
    assert(cut == nil, "something was cut off a journal that is whole")
  else
    local tail = bytes:sub(#whole + 1)
    assert(cut.cut_bytes == #tail and cut.text == tail:sub(1, 200), "another cut than the torn line's")
  end
  assert(fs.read(path) == whole, "the file is not its complete lines")
end

-- A refusal's line; it names the file and says why.
local function refused_at(message, code, lines)
  assert(code == "EJOURNAL" and message:sub(1, #path + 1) == path .. ":", "a refusal without its place")
  local number = math.tointeger(tonumber(message:match("^:(%d+): .", #path + 1)))
  assert(number and number >= 1 and number <= #lines, "a refusal of no line")
  return number
end

local function check_lines(source, lines)
  local seen = 0
  local ok, message, code = source:each(function(line, number)
    seen = seen + 1
    assert(number == seen and type(line) == "table" and math.type(line.experiment) == "integer")
    assert(source:text(number) == lines[number], "another text than the line's")
  end)
  if ok then assert(seen == #lines, "a line was skipped")
  else assert(refused_at(message, code, lines) == seen + 1) end
  return ok
end

local function read_record(record)
  return record.id, record.value, record.kept, record.timestamp, record.samples, record.metrics
end

local metric = direction.new { name = "score", direction = "maximize" }

-- fields: those that are read of a line; true: all.
local function check_fold(lines, fields)
  local source = journal.reader(path)
  local folded = history.new(metric, source)
  local ok, message, code = folded:fold(source, nil, fields)
  if ok then
    assert(folded.count == #lines and folded:next_experiment() > folded.last_experiment)
    for index = 1, math.min(#lines, 20) do
      local read, problem = pcall(read_record, folded:at(index))
      if not read then -- a field that the fold had left out
        assert(fields ~= true, problem)
        refused_at(type(problem) == "table" and problem.message or problem, "EJOURNAL", lines)
      end
    end
  else
    refused_at(message, code, lines)
  end
  source:close()
  return ok, folded
end

local function check_append(opened, lines, experiment)
  local line = assert(opened:append(line_module.complete { experiment = experiment, candidate = journal.id(experiment), outcome = "kept",
    run = 1, timestamp = journal.timestamp(0), strategy = "s\n\0\255", primary_metric = 0.1 }))
  assert(line.experiment == experiment and line.primary_metric == 0.1)
  local after = lines_of(fs.read(path))
  assert(#after == #lines + 1, "an append is not one line more")
  for index = 1, #lines do assert(after[index] == lines[index], "an append changed a line") end
  return after
end

return function(bytes)
  assert(fs.write(path, bytes))
  local whole = bytes:match "^.*\n" or ""
  local lines = lines_of(whole)
  local opened, cut = journal.open(path)
  assert(opened, cut)
  check_cut(cut, bytes, whole)
  local readable = check_lines(opened, lines)
  local ok, folded = check_fold(lines, true)
  assert(readable or not ok)
  assert(check_fold(lines, line_module.folded()) == ok or not readable)
  local experiment = ok and folded.last_experiment < 1e15 and folded:next_experiment() or 0
  local after = check_append(opened, lines, experiment)
  if ok and experiment == folded:next_experiment() then assert(check_fold(after, true), "what was appended is refused") end
  opened:close()
end
