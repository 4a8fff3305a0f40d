-- export: a campaign's runs in the formats of two programs that analyse benchmarks: COCO's (cocopp reads it) and
-- IOHprofiler's (IOHanalyzer and iohinspector read it). Worlds are functions 1, 2 ... in their order, seeds are
-- instances, and the value of a run is the share of the way from its seed's baseline to the target that is left: 1 at
-- first, 0 when solved. So lower is better on every world, and the programs' targets are the lab's. Makes texts and
-- writes nothing. Called by the command.
local json = require "apsis.json"
local runtimes = require "apsis.lab.runtimes"

local export = {}

local DIM = 5 -- worlds have no dimension in common; cocopp shows this one in all its figures
local PRECISION = 1e-8 -- COCO's: what is left when a function counts as solved
-- What is left is written a hair smaller: so 0.10000000000000009 has reached 0.1, and 0.1 has reached what a reader
-- takes for it, which may be 0.09999999999999999 (numpy's power on some processors).
local HAIR = 1e-12
local VERSION = "0.3.3" -- IOHprofiler's format from that version on

-- A name that any system takes for a folder.
local function plain(text) return (text:gsub("[^%w._+-]", "_"):gsub("^%.", "_")) end

-- A folder for each strategy, { [strategy] = name }, and the number of each world.
local function places_of(matrix)
  local folders, numbers, taken, count = {}, {}, {}, 0
  for _, entry in ipairs(matrix) do
    local name = plain(entry.strategy)
    if not folders[entry.strategy] then
      while taken[name] do name = name .. "_" end
      folders[entry.strategy], taken[name] = name, true
    end
    if not numbers[entry.world] then
      count = count + 1
      numbers[entry.world] = count
    end
  end
  return folders, numbers
end

-- The lines of a run: { {evaluation, share left}... }, better each time, and the last one at its last evaluation.
local function lines_of(group, record)
  local lines, least = {}, nil
  for _, step in ipairs(runtimes.left(group, record)) do
    local left = step[2] * (1 - HAIR)
    if not least or left < least then
      least = left
      lines[#lines + 1] = { #lines == 0 and 1 or step[1], least }
    end
  end
  if not least then return { { 1, 1.0 } } end
  if lines[#lines][1] < record.evaluations then lines[#lines + 1] = { record.evaluations, least } end
  return lines
end

-- The runs of an entry, { seed, evaluations, lines, reached = when the last line's share was reached, left = it }.
local function runs_of(group, entry)
  local runs = {}
  for index, record in ipairs(entry.records) do
    local lines = lines_of(group, record)
    local left, place = lines[#lines][2], #lines
    while place > 1 and lines[place - 1][2] == left do place = place - 1 end
    runs[index] = { seed = record.seed, evaluations = lines[#lines][1], lines = lines, left = left,
      reached = lines[place][1] }
  end
  return runs
end

local COCO_HEAD = "%% function evaluation | noise-free fitness - Fopt (%.1e) | best noise-free fitness - Fopt "
  .. "| measured fitness | best measured fitness\n"

local function coco_entry(folder, number, entry, runs)
  local data, index = {}, {}
  for place, run in ipairs(runs) do
    data[#data + 1] = COCO_HEAD:format(0)
    for _, line in ipairs(run.lines) do
      data[#data + 1] = ("%d %.17g %.17g %.17g %.17g\n"):format(line[1], line[2], line[2], line[2], line[2])
    end
    index[place] = (", %d:%d|%.17g"):format(run.seed, run.evaluations, run.left - PRECISION)
  end
  local path, text = ("data_f%d/bbobexp_f%d_DIM%d"):format(number, number, DIM), table.concat(data)
  local info = ("funcId = %d, DIM = %d, Precision = %.3e, algId = '%s'\n%% %s\n%s.dat%s\n"):format(number, DIM,
    PRECISION, folder, entry.world:gsub("%c", " "), path, table.concat(index))
  return { { ("%s/bbobexp_f%d.info"):format(folder, number), info }, { ("%s/%s.dat"):format(folder, path), text },
    { ("%s/%s.tdat"):format(folder, path), text } }
end

local function ioh_entry(folder, number, entry, runs)
  local data, index = {}, json.array {}
  for place, run in ipairs(runs) do
    data[#data + 1] = "evaluations raw_y\n"
    for _, line in ipairs(run.lines) do data[#data + 1] = ("%d %.17g\n"):format(line[1], line[2]) end
    index[place] = { instance = run.seed, evals = run.evaluations, best = { evals = run.reached, y = run.left,
      x = json.array {} } }
  end
  local path = ("data_f%d/IOHprofiler_f%d_DIM%d.dat"):format(number, number, DIM)
  local info = json.encode({ version = VERSION, suite = "apsis lab", function_id = number, function_name = entry.world,
    maximization = false, algorithm = { name = entry.strategy, info = "apsis" },
    attributes = { "evaluations", "raw_y" },
    scenarios = { { dimension = DIM, path = path, runs = index } } }, { pretty = true })
  return { { ("%s/IOHprofiler_f%d.json"):format(folder, number), info .. "\n" },
    { folder .. "/" .. path, table.concat(data) } }
end

local function files_of(matrix, make)
  local files, groups = {}, runtimes.groups(matrix)
  local folders, numbers = places_of(matrix)
  for _, entry in ipairs(matrix) do
    local runs = runs_of(groups[entry.world], entry)
    local made = make(folders[entry.strategy], numbers[entry.world], entry, runs)
    table.move(made, 1, #made, #files + 1, files)
  end
  return files
end

-- coco(matrix), iohprofiler(matrix) -> { {path, text}... }: a folder for each strategy.
function export.coco(matrix) return files_of(matrix, coco_entry) end
function export.iohprofiler(matrix) return files_of(matrix, ioh_entry) end

return export
