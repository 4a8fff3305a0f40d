-- folder: the folder of a measurement's predictions and reports: runs/NNNN/fitness for a candidate's first, a scratch
-- folder for one that is measured again. A killed measurement of the same files is continued; a finished one is never
-- reused. Called by fitness/scoring.
local fs = require "apsis.fs"
local json = require "apsis.json"

local folder = {}

-- A component's folder in it.
function folder.of(dir, name)
  local path = dir .. "/" .. name
  local ok, message = fs.mkdir(path)
  if not ok then return nil, message end
  return path
end

-- The files of a component that record the measurement. A command may find and overwrite them; so only their content
-- counts from when its own harness ended, or when the measurement was continued.
local files = { "predictions.csv", "summary.json" }

-- The state of scoring in a slot: { begun: the folder was made, done: its result was written, files: the content of
-- each folder, parts: the score of each component }.
function folder.notes(slot)
  slot.measuring = slot.measuring or { files = {} }
  return slot.measuring
end

function folder.keep(slot, dir)
  local held = {}
  for _, name in ipairs(files) do
    local stat = fs.stat(dir .. "/" .. name, { follow = false })
    held[name] = stat and stat.type == "file" and fs.read(dir .. "/" .. name) or nil
  end
  folder.notes(slot).files[dir] = held
end

-- Restores the saved files of a component's folder and removes the others.
function folder.restore(slot, dir)
  local held = folder.notes(slot).files[dir] or {}
  for _, name in ipairs(files) do
    local path = dir .. "/" .. name
    local stat = fs.stat(path, { follow = false })
    local as_it_was = held[name] and stat and stat.type == "file" and fs.read(path) == held[name]
    if stat and not as_it_was then fs.remove_tree(path) end
    if held[name] and not as_it_was then fs.write(path, held[name]) end
  end
  fs.remove_tree(dir .. "/report.json")
end

-- Beside the commands' scratch folder: in it they could make it a link to a folder of the user's.
function folder.scratch(job, turn)
  local path = ("%s-fitness-again-%d"):format(job.scratch, turn)
  local files_of = folder.notes(job.slot).files
  for dir in pairs(files_of) do
    if dir:sub(1, #path + 1) == path .. "/" then files_of[dir] = nil end
  end
  fs.remove_tree(path)
  job.world:need(fs.mkdir(path))
  return path
end

-- What the rows of a folder belong to: the candidate's files and the way of measuring.
local function stamp_of(self, job)
  local own = {}
  for _, component in ipairs(self.components) do own[component.name] = component.stamp end
  return json.encode({ tree = job.record.tree, fitness = self.spec, seed = self.world.seed, own = own },
    { sorted = true }) .. "\n"
end

-- { dir, own, again }: again: not the first measurement of this candidate in its slot.
function folder.open(self, job, request)
  local slot = job.slot
  local own, notes = job.record.id == ("c%04d"):format(slot.number), folder.notes(slot)
  if not own or notes.done or request.repeats then return { dir = folder.scratch(job, 1), again = true } end
  local dir = slot.dir .. "/fitness"
  if not notes.begun then
    notes.begun = true
    local stamp = stamp_of(self, job)
    if fs.read(dir .. "/unfinished.json") ~= stamp then
      fs.remove_tree(dir)
      self.world:need(fs.mkdir(dir))
      self.world:need(fs.write(dir .. "/unfinished.json", stamp))
    end
    for _, component in ipairs(self.components) do folder.keep(slot, dir .. "/" .. component.name) end
  end
  return { dir = dir, own = true }
end

-- goes_on: more of the same measurement follows.
function folder.close(_, job, place, goes_on)
  if place.own and not goes_on then
    fs.remove(place.dir .. "/unfinished.json")
    folder.notes(job.slot).done = true
  end
  local above, own = job.scratch:match "^(.*)/([^/]*)$"
  own = own .. "-fitness-"
  for _, name in ipairs(fs.list(above) or {}) do
    if name:sub(1, #own) == own then fs.remove_tree(above .. "/" .. name) end
  end
  for _, name in ipairs(fs.list(job.scratch) or {}) do
    if name:find("^fitness%-") then fs.remove_tree(job.scratch .. "/" .. name) end
  end
end

return folder
