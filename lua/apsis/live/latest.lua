-- latest: runs/latest, the newest experiment's folder, and history.json in it: what came of each experiment, with
-- goalseek's keys. Two files take turns: the one in runs/latest is whole at any moment, also after a kill, because only
-- the other one is written to; it grows at its end, so an experiment costs the same however many there were. Called by
-- world.
local files = require "apsis.live.files"
local fs = require "apsis.fs"
local json = require "apsis.json"
local links = require "apsis.project.links"

local latest = {}

local Latest = {}
Latest.__index = Latest

local TAIL = "\n]\n"
local AT_A_TIME = 1000 -- experiments formatted per write
local TITLE_BYTES = 4096

-- spare: the file that is not shown; shown: the one that is, nil before the first; lacks: the entries that only the
-- shown one has.
function latest.new(runs)
  return setmetatable({ runs = runs, spare = runs.root .. "/.history.json", lacks = {} }, Latest)
end

-- The first line of an experiment's plan, the only text of an experiment that changed nothing.
local function title_of(self, folder)
  local path = folder .. "/plan.md"
  return links.none(self.runs.home, path) and files.first_line(fs.read(self.runs.home .. "/" .. path, TITLE_BYTES))
end

local function entry_of(self, line)
  local baseline = line.outcome == "baseline"
  local folder = self.runs:dir(line.experiment, baseline):sub(#self.runs.home + 2)
  local summary = baseline and "Baseline" or files.first_line(line.hypothesis) or files.first_line(line.description)
    or title_of(self, folder) or "Iteration " .. line.experiment
  return json.encode({ iteration = line.experiment, run_dir = folder, hypothesis_summary = summary,
    iteration_score = line.primary_metric or json.null, iteration_result = line.outcome }, { sorted = true })
end

-- Whether no link is on the way to a file of the runs.
local function is_own(self, path) return links.none(self.runs.home, path:sub(#self.runs.home + 2)) end

-- Shows the spare file in a folder, to which runs/latest then points; the one shown until then becomes the spare.
local function show(self, folder)
  local before = self.shown
  self.shown = folder .. "/history.json"
  if not is_own(self, self.shown) or not fs.rename(self.spare, self.shown) then return nil end
  fs.symlink(folder:match "([^/]+)$", self.runs.root .. "/latest", { replace = true })
  return not before or before == self.shown or fs.rename(before, self.spare)
end

local wanted = { experiment = true, hypothesis = true, description = true, outcome = true, primary_metric = true }

-- The file that an earlier process left in runs/latest, or nil.
local function left(self)
  local folder = (fs.readlink(self.runs.root .. "/latest") or ""):match "^%d+[_%a]*$"
  local path = folder and ("%s/%s/history.json"):format(self.runs.root, folder)
  return path and is_own(self, path) and fs.stat(path) and path
end

-- Writes both files again from the whole journal.
local function begin(self, journal, folder)
  local second, count, parts = self.spare .. "~", 0, {}
  local write, written = fs.write, true
  local function flush()
    local text = table.concat(parts)
    written = written and write(self.spare, text) and write(second, text)
    write, parts = fs.append, {}
  end
  journal:each(function(line)
    parts[#parts + 1] = (count > 0 and ",\n" or "[\n") .. entry_of(self, line)
    count = count + 1
    if #parts == AT_A_TIME then flush() end
  end, wanted)
  parts[#parts + 1] = TAIL
  flush()
  self.shown = left(self)
  return written and show(self, folder) and fs.rename(second, self.spare)
end

local function grow(self)
  local file <close> = io.open(self.spare, "r+b")
  return file and file:seek("end", -#TAIL) and file:write(",\n", table.concat(self.lacks, ",\n"), TAIL) and file:flush()
end

-- After a line was appended to the journal: its entry, shown in its experiment's folder. Where a file cannot be
-- written, the next line begins with the whole journal again.
function Latest:add(journal, line)
  local folder = self.runs:dir(line.experiment, line.outcome == "baseline")
  local done
  fs.mkdir(folder) -- a strategy may have failed before there was one
  if self.shown then
    local entry = entry_of(self, line)
    table.insert(self.lacks, entry)
    done = grow(self) and show(self, folder)
    self.lacks = { entry }
  else
    done = begin(self, journal, folder)
  end
  if not done then self.shown, self.lacks = nil, {} end
end

function Latest:close()
  if self.shown then fs.remove(self.spare) end
end

return latest
