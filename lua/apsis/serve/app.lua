-- app: answers browsers, and sends them what a run has written since. Waits for both; does nothing while nobody looks.
local addresses = require "apsis.serve.address"
local control = require "apsis.serve.control"
local projects = require "apsis.serve.project"
local wait = require "apsis.wait"

local app = {}

local App = {}
App.__index = App

local FOLLOW_S <const> = 1 -- between two looks at what a run has written
local QUIET_S <const> = 15 -- then a stream is sent a comment, which shows whether somebody is still there

local HTML <const> = "text/html; charset=utf-8"
local RETRY <const> = "retry: 1000\n\n" -- ms, after a connection is lost

local headers = {
  ["Cache-Control"] = "no-store", ["X-Content-Type-Options"] = "nosniff", ["X-Frame-Options"] = "DENY",
  ["Referrer-Policy"] = "no-referrer", ["Cross-Origin-Resource-Policy"] = "same-origin",
}

-- index: the projects that are served.
function app.new(server, index)
  return setmetatable({ server = server, address = addresses.new(server:port()), index = index, streams = {},
    tasks = {}, due = 0 }, App)
end

-- Has a project's data gathered beside serving, unless it is already; then calls done(message or nil).
local function gather(self, project, done)
  local after = project.gathering
  if after then return table.insert(after, done) end
  project.gathering = { done }
  self:beside(function()
    local _, wrong = project:gather(coroutine.yield)
    after, project.gathering = project.gathering, nil
    for _, tell in ipairs(after) do tell(wrong) end
  end)
end

-- ---- answers ----

local function answer(self, request, status, kind, body)
  local all = { ["Content-Type"] = kind }
  for name, value in pairs(headers) do all[name] = value end
  if status == 405 then all.Allow = "GET" end
  self.server:answer(request.id, status, all, body)
end

local function plain(self, request, status, text)
  answer(self, request, status, "text/plain; charset=utf-8", text .. "\n")
end

-- Answers with what was made, or with why it could not be.
local function give(self, request, kind, made, message, status)
  if made then return answer(self, request, 200, kind, made) end
  plain(self, request, status or 503, message)
end

-- The same with what make(project) makes; once the page's data is gathered, if it must be.
local function give_of(self, request, project, kind, make)
  local function done(wrong)
    if wrong then return give(self, request, kind, nil, wrong) end
    give(self, request, kind, make(project))
  end
  project:follow()
  if project:is_fresh() then return done() end
  gather(self, project, done)
end

-- Begins a stream: what the browser lacks, then what comes.
local function begin_stream(self, request, project, place)
  answer(self, request, 200, "text/event-stream", nil)
  local stream = { id = request.id, project = project, sent = wait.now() }
  self.streams[request.id] = stream
  project:follow()
  local from = project:lines_at(request.headers["last-event-id"] or place)
  local facts = project:facts()
  self:send(stream, RETRY .. (from and project:lines(from) or projects.again()) .. facts)
  stream.count, stream.generation, stream.facts = project.reader.history.count, project.generation, facts
end

local function act(self, request, project, name)
  if request.method ~= "POST" then return plain(self, request, 405, "POST does it") end
  if not project.control then
    return plain(self, request, 403, "this page is to look at: `apsis report --serve --control` serves one that acts")
  end
  if not request.body then return plain(self, request, 413, "an action's text has at most 64 KiB") end
  plain(self, request, control(project.dir, name, request.body))
  self.due = 0
end

-- Begins a stream of the index.
local function begin_index(self, request)
  answer(self, request, 200, "text/event-stream", nil)
  local stream = { id = request.id, project = self.index, shown = self.index:event() }
  self.streams[request.id] = stream
  self:send(stream, RETRY .. stream.shown)
end

local function route(self, request, path)
  local number, rest = path:match "^(%d+)/(.*)$"
  local project = self.index:project(math.tointeger(tonumber(number)))
  local action = project and rest:match "^do/(%l+)$"
  if action then return act(self, request, project, action) end
  if request.method ~= "GET" and request.method ~= "HEAD" then return plain(self, request, 405, "only GET") end
  if path == "" then return answer(self, request, 200, HTML, self.index:page()) end
  if path == "events" and request.method == "GET" then return begin_index(self, request) end
  local by, numbers = path:match "^beside/(%l+)/(%d[%d,]*)$"
  if by == "strategies" or by == "runs" then return give(self, request, HTML, self.index:beside(by, numbers)) end
  if not project then return plain(self, request, 404, "there is no such page") end
  if rest == "" then return give_of(self, request, project, HTML, project.page) end
  if rest == "data" then return give_of(self, request, project, "application/json", project.data) end
  local place = rest:match "^events/([%d-]+)$"
  if place and request.method == "GET" then return begin_stream(self, request, project, place) end
  plain(self, request, 404, "there is no such page")
end

function App:handle(request)
  local path, refused = self.address:path(request)
  if not path then return plain(self, request, 403, refused) end
  route(self, request, path)
end

-- ---- streams ----

function App:send(stream, text)
  stream.sent = wait.now()
  if not self.server:send(stream.id, text) then self.streams[stream.id] = nil end
end

-- Sends what a stream lacks, or at times a comment.
local function keep(self, stream, text)
  if text ~= "" then self:send(stream, text)
  elseif wait.now() - stream.sent >= QUIET_S then self:send(stream, ":\n\n") end
end

local function bring_index(self, streams)
  local text = self.index:event()
  for _, stream in ipairs(streams) do
    keep(self, stream, text ~= stream.shown and text or "")
    stream.shown = text
  end
end

-- The streams by project, or index.
local function by_project(self)
  local found = {}
  for _, stream in pairs(self.streams) do
    found[stream.project] = found[stream.project] or {}
    table.insert(found[stream.project], stream)
  end
  return found
end

-- What a project's streams lack.
local function bring(self, project, streams)
  project:follow()
  local facts, known = project:facts(), {}
  if not project.problem and project:is_due() then
    gather(self, project, function(wrong) project.news = not wrong end)
  end
  local again = project.news and projects.again()
  project.news = nil
  for _, stream in ipairs(streams) do
    local count = stream.count
    known[count] = known[count] or project:lines(count)
    local other = stream.generation ~= project.generation
    local text = (other and "" or known[count]) .. (stream.facts ~= facts and facts or "")
    text = text .. (other and projects.again() or again or "") -- last: with it a browser closes the stream
    stream.count, stream.generation, stream.facts = project.reader.history.count, project.generation, facts
    keep(self, stream, text)
  end
end

-- ---- the loop ----

local function take_requests(self)
  local request = self.server:take()
  while request do
    self:handle(request)
    request = self.server:take()
  end
end

-- Has work() done beside serving: when it yields, others come first, or until the handle that it yields is done.
function App:beside(work)
  self.tasks[{ co = coroutine.create(work) }] = true
end

local function resume(self, task)
  wait.task(task.co)
  local ok, handle = coroutine.resume(task.co)
  wait.task(nil)
  if not ok then error(handle, 0) end
  task.handle = handle
  if coroutine.status(task.co) == "dead" then self.tasks[task] = nil end
end

-- Waits for a request, for what is due, and for what tasks wait for. Returns the tasks that can go on.
local function wait_for_any(self)
  local handles, waiting, ready = { self.server }, {}, {}
  for task in pairs(self.tasks) do
    if task.handle then
      handles[#handles + 1] = task.handle
      waiting[#handles] = task
    else
      ready[#ready + 1] = task
    end
  end
  local looked_at = next(self.streams) ~= nil
  local done = wait.any(handles, ready[1] and 0 or looked_at and math.max(0, self.due - wait.now()) or nil)
  for _, at in ipairs(done or {}) do ready[#ready + 1] = waiting[at] end
  return ready
end

-- Until a signal comes.
function App:run()
  local before = wait.interrupts()
  while true do
    local ready = wait_for_any(self)
    if wait.interrupts() > before then break end
    take_requests(self)
    for _, task in ipairs(ready) do resume(self, task) end
    if wait.now() >= self.due then
      for project, streams in pairs(by_project(self)) do
        if project == self.index then bring_index(self, streams) else bring(self, project, streams) end
      end
      self.due = wait.now() + FOLLOW_S
    end
  end
  for task in pairs(self.tasks) do coroutine.close(task.co) end
end

return app
