-- runs: the files of one experiment under runs/: proposal, prompt, answers, diff, output and measurement; after the
-- journal line, its result. Written again if an experiment is restarted. Read to find what was in flight at a crash,
-- and for a strategy's artifacts.
local answers = require "apsis.live.answers"
local fs = require "apsis.fs"
local json = require "apsis.json"
local links = require "apsis.project.links"
local state = require "apsis.state"

local runs = {}

local Runs = {}
Runs.__index = Runs

function runs.new(project_dir)
  return setmetatable({ home = project_dir, root = project_dir .. "/runs" }, Runs)
end

-- The folder of an experiment: runs/0042, or runs/0000_baseline.
function Runs:dir(number, baseline)
  return ("%s/%04d%s"):format(self.root, number, baseline and "_baseline" or "")
end

-- A saved proposal; false if it cannot be read, nil if there is none.
local function read_proposal(dir)
  local text = fs.read(dir .. "/proposal.json")
  if not text then return nil end
  local saved = json.decode(text, true)
  return type(saved) == "table" and saved
end

function Runs:open(slot)
  slot.dir = self:dir(slot.number, slot.baseline)
  local plain, message, code = links.none_in(self.home, slot.dir:sub(#self.home + 2))
  if not plain then return nil, message, code end
  local saved = read_proposal(slot.dir)
  if saved and saved.now ~= slot.now then fs.remove_tree(slot.dir) end -- another journal's experiment of this number
  if fs.stat(slot.dir .. "/verifier.log") then -- the experiment is restarted, perhaps with another change
    for _, name in ipairs(fs.list(slot.dir) or {}) do
      local repair = name:find "^fix_%d+$" and not fs.stat(slot.dir .. "/" .. name .. "/ended_implement.txt")
      if name == "verifier.log" or name == "gate.log" or name == "artifacts" or repair then
        fs.remove_tree(slot.dir .. "/" .. name)
      end
    end
  end
  return fs.mkdir(slot.dir)
end

function Runs:write(slot, name, text)
  return fs.write(slot.dir .. "/" .. name, text)
end

function Runs:write_json(slot, name, value)
  return self:write(slot, name, json.encode(value, { pretty = true }) .. "\n")
end

local function result_text(record) return json.encode(record, { pretty = true }) .. "\n" end

-- The result, put in place at once: a kill leaves the whole new file or what was there.
function Runs:write_result(slot, record)
  return state.replace(slot.dir .. "/result.json", result_text(record), { sync = false })
end

local function plain_text(edits)
  for path, value in pairs(edits or {}) do
    local text = type(value) == "table" and value.bytes or value
    if type(path) ~= "string" or text ~= false and not (type(text) == "string" and utf8.len(text)) then return false end
  end
  return true
end

-- Saved whole, and synced just before somebody is asked who is paid or who approves: after a power cut before that, or
-- if JSON cannot hold it, the experiment is planned again.
function Runs:save_proposal(slot, run_number, sync)
  if not plain_text(slot.proposal.edits) then return true end
  local group = slot.group and { first = slot.group.first, size = slot.group.size } or nil
  return state.replace(slot.dir .. "/proposal.json", json.encode {
    experiment = slot.number, seen = slot.seen, now = slot.now, run = run_number, group = group,
    proposal = slot.proposal, strategy = slot.strategy, from = slot.origin, offered = slot.offered,
    context = slot.context,
  } .. "\n", { sync = sync })
end

-- Removes a folder's temporary files of a process killed while replacing a file.
function runs.sweep(dir)
  for _, name in ipairs(fs.list(dir) or {}) do
    if name:find("%.tmp%-%d+%-%d+$") then fs.remove(dir .. "/" .. name) end
  end
end

-- Does for the last line what a killed process did not: writes its result, and removes the answers.
function Runs:complete(record)
  local slot = { dir = self:dir(record.experiment, record.outcome == "baseline") }
  if not fs.stat(slot.dir) or not links.none_in(self.home, slot.dir:sub(#self.home + 2)) then return end
  runs.sweep(slot.dir)
  if fs.read(slot.dir .. "/result.json") ~= result_text(record) then self:write_result(slot, record) end
  answers.forget(slot)
end

-- Plans without a journal line, oldest first; and the first number never used. origin(proposal): what one starts from
-- in this journal; a plan that another journal left starts from something else, and is left alone.
function Runs:unfinished(history, origin)
  local found, highest = {}, history.last_experiment
  runs.sweep(self.root)
  runs.sweep((self.root:gsub("runs$", "logs")))
  for _, name in ipairs(fs.list(self.root) or {}) do
    local number = tonumber(name:match("^(%d%d%d%d+)$"))
    if number and not history:line_of(number) then
      local dir = self.root .. "/" .. name
      local saved = read_proposal(dir)
      runs.sweep(dir)
      if saved and type(saved.proposal) == "table" and saved.experiment == number
        and (saved.from == nil or saved.from == origin(saved.proposal)) then
        found[#found + 1] = { number = number, seen = saved.seen, now = saved.now, group = saved.group,
          proposal = saved.proposal, strategy = saved.strategy, kept_answers = answers.read(dir),
          context = type(saved.context) == "table" and saved.context or nil,
          offered = type(saved.offered) == "table" and saved.offered or nil }
        highest = math.max(highest, number)
      end
    end
  end
  table.sort(found, function(a, b) return a.number < b.number end)
  return found, highest + 1
end

-- Removes folders of experiments up to a number, except baselines' and those that needed(number) is true of. Called
-- repeatedly, with growing numbers.
function Runs:trim(upto, needed)
  if not self.trimmed then -- left by earlier processes
    self.trimmed, self.spared = upto, {}
    for _, name in ipairs(fs.list(self.root) or {}) do
      local number = tonumber(name:match("^(%d%d%d%d+)$"))
      if number and number <= upto then self.spared[number] = true end
    end
  end
  for number = self.trimmed + 1, upto do self.spared[number] = true end
  self.trimmed = math.max(self.trimmed, upto)
  for number in pairs(self.spared) do
    if not needed(number) then
      fs.remove_tree(self:dir(number))
      self.spared[number] = nil
    end
  end
end

local MOST_ARTIFACTS, LARGEST_ARTIFACT, STDERR = 20, 65536, "stderr.txt"

-- { name = text } of a candidate's verification: at most 20 text files (stderr first, then by name), 64 KB of each.
function Runs:artifacts(number, baseline)
  local dir, found, count = self:dir(number, baseline) .. "/artifacts", {}, 0
  local names = links.none(self.home, dir:sub(#self.home + 2)) and fs.list(dir) or {}
  table.sort(names, function(a, b)
    if (a == STDERR) ~= (b == STDERR) then return a == STDERR end
    return a < b
  end)
  for _, name in ipairs(names) do
    local path = dir .. "/" .. name
    local stat = fs.stat(path, { follow = false })
    local text = count < MOST_ARTIFACTS and stat and stat.type == "file" and fs.read(path, LARGEST_ARTIFACT)
    if text and not text:find("\0", 1, true) then found[name], count = text, count + 1 end
  end
  return found
end

return runs
