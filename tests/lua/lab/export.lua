-- lab_export: runs in the formats of COCO and IOHprofiler, read again here by what those programs' readers go by.
local direction = require "apsis.direction"
local export = require "apsis.lab.export"
local json = require "apsis.json"
local measures = require "apsis.lab.measures"
local random = require "apsis.random"
local stats = require "apsis.stats"
local tap = require "tap"
local test, equal = tap.test, tap.equal

local BUDGET = 200

-- A run that climbs from 0 to the target 10, or until its luck or patience ends.
local function climb(strategy, seed, sign)
  local rng, value, curve = random.stream(strategy, seed, "climb"), 0.0, { { 1, 0.0 } }
  local evaluation = 1
  while value < 10 do
    evaluation = evaluation + rng:integer(1, 30)
    if evaluation > 150 then break end
    value = value + rng:random() * 2
    curve[#curve + 1] = { evaluation, sign * value }
  end
  local hit = value >= 10 and evaluation or nil
  return { seed = seed, direction = sign > 0 and "higher" or "lower", metric = "m", target = sign * 10.0, hit = hit,
    baseline = 0.0, best = sign * value, curve = curve, evaluations = hit or 160, experiments = 9, kept = 1,
    seconds = 1, tokens = 0, cost = 0, outcomes = {}, operators = {} }
end

local function matrix()
  local list = {}
  for _, world in ipairs { { "up:n=1,k=2", 1 }, { "down", -1 } } do
    for _, strategy in ipairs { "a", "dir/b.lua x=1" } do
      local records = {}
      for seed = 3, 12 do records[#records + 1] = climb(strategy .. world[1], seed, world[2]) end
      list[#list + 1] = { strategy = strategy, world = world[1], records = records }
    end
  end
  return list
end

local function by_path(files)
  local found = {}
  for _, file in ipairs(files) do
    equal(found[file[1]], nil)
    found[file[1]] = file[2]
  end
  return found
end

-- The runs of a data file, { { {evaluation, value}... }... }; a line that `begins` matches begins a run.
local function runs_of(text, begins, column)
  local runs = {}
  for line in text:gmatch "[^\n]+" do
    local words = {}
    for word in line:gmatch "%S+" do words[#words + 1] = tonumber(word) or word end
    if line:find(begins) then runs[#runs + 1] = {} else table.insert(runs[#runs], { words[1], words[column] }) end
  end
  return runs
end

local down = direction.new { direction = "lower" }

local function hit_of(run, target)
  for _, line in ipairs(run) do
    if down:reaches(line[2], target * (1 + 1e-9)) then return line[1] end
  end
  return false
end

-- ERT to a target and AOCC, as COCO defines them, out of a file's runs.
local function figures(runs)
  local spent, ert, areas = {}, {}, {}
  for index, run in ipairs(runs) do spent[index] = run[#run][1] end
  for place, target in ipairs { 0.1, 1e-8 } do
    local hits = {}
    for index, run in ipairs(runs) do hits[index] = hit_of(run, target) end
    ert[place] = stats.ert(hits, spent)
  end
  for index, run in ipairs(runs) do
    local hits = {}
    for k = 1, 51 do hits[k] = hit_of(run, k < 51 and 10 ^ (-k / 25) or 1e-8) end
    areas[index] = stats.aocc(hits, { budget = BUDGET })
  end
  return ert[1], ert[2], stats.mean(areas)
end

local function same(runs, row)
  local ninety, all, aocc = figures(runs)
  for _, pair in ipairs { { ninety, row.times[2].ert }, { all, row.ert }, { aocc, row.aocc } } do
    assert(math.abs(pair[1] - pair[2]) < 1e-9 * pair[2], ("%s, not %s"):format(pair[1], pair[2]))
  end
end

local WHOLE = 1 - 1e-12 -- a hair less than the whole way is left

test("COCO: index and data say what cocopp reads, and ERT and AOCC out of them are the lab's", function()
  local list = matrix()
  local files, rows = by_path(export.coco(list)), measures.rows(list, { evaluations = BUDGET })
  local solved = 0
  for index, entry in ipairs(list) do
    local folder, number = entry.strategy == "a" and "a" or "dir_b.lua_x_1", (index + 1) // 2
    local info = files[("%s/bbobexp_f%d.info"):format(folder, number)]
    local head, comment, line = info:match "^([^\n]*)\n([^\n]*)\n([^\n]*)\n$"
    equal(head, ("funcId = %d, DIM = 5, Precision = 1.000e-08, algId = '%s'"):format(number, folder))
    equal(comment, "% " .. entry.world)
    local path = ("data_f%d/bbobexp_f%d_DIM5.dat"):format(number, number)
    equal(line:match "^[^,]*", path)
    local text = files[folder .. "/" .. path]
    equal(text, files[folder .. "/" .. path:gsub("dat$", "tdat")])
    equal(text:find("% function evaluation | noise-free fitness - Fopt (", 1, true), 1)
    local runs, place = runs_of(text, "^%%", 3), 0
    for seed, evaluations, left in line:gmatch ", (%d+):(%d+)|([^,]+)" do
      place = place + 1
      local run, record = runs[place], entry.records[place]
      equal({ tonumber(seed), tonumber(evaluations), run[1] }, { record.seed, record.evaluations, { 1, WHOLE } })
      equal(run[#run][1], record.evaluations)
      assert(math.abs(tonumber(left) + 1e-8 - run[#run][2]) < 1e-12)
      solved = solved + (record.hit and 1 or 0)
    end
    equal(place, #entry.records)
    same(runs, rows[index])
  end
  assert(solved > 0 and solved < 40, "some runs are solved and some are not")
end)

test("IOHprofiler: the index names data that begin at evaluation 1, and the figures are the lab's", function()
  local list = matrix()
  local files, rows = by_path(export.iohprofiler(list)), measures.rows(list, { evaluations = BUDGET })
  for index, entry in ipairs(list) do
    local folder, number = entry.strategy == "a" and "a" or "dir_b.lua_x_1", (index + 1) // 2
    local info = json.decode(files[("%s/IOHprofiler_f%d.json"):format(folder, number)])
    equal({ info.version, info.suite, info.function_id, info.function_name, info.maximization, info.algorithm.name },
      { "0.3.3", "apsis lab", number, entry.world, false, entry.strategy })
    equal(info.attributes, { "evaluations", "raw_y" })
    local scenario = info.scenarios[1]
    local runs = runs_of(files[folder .. "/" .. scenario.path], "^evaluations raw_y$", 2)
    equal({ #runs, #scenario.runs, scenario.dimension }, { 10, 10, 5 })
    for place, run in ipairs(scenario.runs) do
      local lines = runs[place]
      equal({ run.instance, run.evals, lines[1], lines[#lines][1] }, { entry.records[place].seed,
        entry.records[place].evaluations, { 1, WHOLE }, run.evals })
      equal(run.best.y, lines[#lines][2])
      equal(run.best.evals, hit_of(lines, run.best.y))
    end
    same(runs, rows[index])
  end
end)

test("a run without a way, and names that are no folder's", function()
  local record = climb("a", 1, 1)
  record.baseline = nil
  local files = by_path(export.coco { { strategy = "..", world = "w", records = { record } },
    { strategy = "_.", world = "w", records = { record } } })
  equal(files["_./data_f1/bbobexp_f1_DIM5.dat"]:match "\n(.*)$", "1 1 1 1 1\n")
  assert(files["_._/bbobexp_f1.info"]:find("algId = '_._'", 1, true))
end)

test("what the lab counts as 90 % of the way has 0.1 left, in spite of rounding, ours and a reader's", function()
  local record = climb("a", 3, 1)
  record.target, record.hit, record.best, record.curve = 1.0, nil, 0.8999999999999999, { { 1, 0.0 }, { 7, 0.8999999999999999 } }
  local files = by_path(export.coco { { strategy = "a", world = "w", records = { record } } })
  local left = tonumber(files["a/data_f1/bbobexp_f1_DIM5.dat"]:match "\n7 (%S+)")
  assert(left <= 0.09999999999999999 and left > 0.0999999999, left)
end)

tap.done()
