-- index: all projects of a repository, and a page with a row for each: the figures that its own page's header has. A
-- project keeps its number while the server runs.
local config = require "apsis.project.config"
local files = require "apsis.live.projects"
local host = require "apsis.host"
local json = require "apsis.json"
local projects = require "apsis.serve.project"
local rooms = require "apsis.core.rooms"

local index = {}

local Index = {}
Index.__index = Index

local MOST <const> = 200 -- projects that are opened

-- The entry of a project's file: { number, path, project, or problem and code }.
local function entry_of(self, path)
  local entry = self.by_path[path]
  if not entry then
    entry = { number = #self.entries + 1, path = path }
    self.by_path[path], self.entries[entry.number] = entry, entry
  end
  if not entry.project then
    entry.project, entry.problem, entry.code = projects.open(path, self.settings)
  end
  return entry
end

-- Looks for the repository's projects. dir's own comes first if git ignores it.
local function find(self)
  local paths, root = files.of(self.dir)
  local first, has = self.first and self.first.path, {}
  paths = paths or {}
  for _, path in ipairs(paths) do has[path] = true end
  if first and not has[first] then table.insert(paths, 1, first) end
  self.root, self.left_out, self.shown = root or self.dir, math.max(0, #paths - MOST), {}
  for at = 1, math.min(MOST, #paths) do self.shown[at] = entry_of(self, paths[at]) end
end

-- The projects of dir's repository; `first` is dir's own, if it has one. nil, message, code without any.
-- settings: as of a project.
function index.open(dir, settings)
  local self = setmetatable({ settings = settings, entries = {}, by_path = {}, dir = dir or "." }, Index)
  local path, nowhere = config.find(self.dir)
  if path then
    self.first = entry_of(self, path)
    self.dir = path:match "^(.*)/[^/]*$"
    if self.first.project then return self end
    return nil, self.first.problem, self.first.code
  end
  find(self)
  for _, entry in ipairs(self.entries) do
    if entry.project then return self end
  end
  return nil, nowhere, 2
end

-- The project of a number; nil if there is none.
function Index:project(number)
  local entry = self.entries[number]
  return entry and entry.project
end

local function row_of(self, entry)
  local project, row = entry.project, { problem = entry.problem and entry.problem:match "[^\n]*" }
  if project then
    project:follow()
    row = project:row()
  end
  row.number = entry.number
  row.file = entry.path:sub(1, #self.root + 1) == self.root .. "/" and entry.path:sub(#self.root + 2) or entry.path
  return row
end

local function data_of(self)
  local rows = json.array()
  for at, entry in ipairs(self.shown) do rows[at] = row_of(self, entry) end
  return { repository = self.root:match "[^/]*$", rows = rows, left_out = self.left_out,
    beside = rooms.has "beside" }
end

-- The page as HTML.
function Index:page()
  local script = assert(host.read "lua/apsis/serve/index.js", "index.js is missing")
  find(self)
  return self.settings.tools.projects(data_of(self), { style = "", script = script })
end

-- The page of some projects' runs side by side, as HTML | nil, message, status. numbers: "1,3"; by: "strategies" or
-- "runs".
function Index:beside(by, numbers)
  local sources = {}
  for number in numbers:gmatch "%d+" do
    local project = self:project(math.tointeger(tonumber(number)))
    if not project then return nil, ("there is no project %s"):format(number), 404 end
    sources[#sources + 1] = { dir = project.dir }
  end
  local data, message = rooms.first("beside", sources, by == "runs")
  if not data then return nil, message or "this program has no lab, which makes that page" end
  return self.settings.tools.lab(data)
end

-- The event with what the page shows now.
function Index:event()
  if not self.shown then find(self) end
  return projects.event("index", nil, self.settings.tools.json(data_of(self)))
end

return index
