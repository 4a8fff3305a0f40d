-- app: the full-screen program: waits for keys and for what a run writes, and draws the page in front. Its actions are
-- the commands pause, resume and direct, and those that rooms add. Called by the command.
local again = require "apsis.watch.again"
local columns = require "apsis.cli.columns"
local candidates = require "apsis.watch.candidate"
local captured = require "apsis.cli.captured"
local health = require "apsis.watch.health"
local help = require "apsis.watch.help"
local journal = require "apsis.watch.journal"
local keys = require "apsis.watch.keys"
local lists = require "apsis.watch.list"
local now = require "apsis.watch.now"
local path = require "apsis.watch.path"
local rooms = require "apsis.core.rooms"
local screens = require "apsis.watch.screen"
local wait = require "apsis.wait"

local app = {}

local App = {}
App.__index = App

local FOLLOW_S <const> = 1 -- between two looks at what a run has written
local TICK_S <const> = 0.25 -- between two looks at the terminal's size; after so long an escape is the key of that name
local WORK_S <const> = 0.02 -- at a time on what may take long
local GLIMPSE_S <const> = 0.3 -- between two pictures of what is being read
local KEYS <const> = 4096 -- bytes

function app.new(view, screen)
  return setmetatable({ view = view, screen = screen, rest = "", above = {}, place = 1, due = 0, glimpse = 0,
    stale = true }, App)
end

-- ---- pages ----

-- The first pages, of the project as it was opened last.
local function begin(self)
  if self.opened == self.view.opened then return end
  self.opened, self.above = self.view.opened, {}
  self.pages = { now, journal.new(self.view), path.new(self.view), health.new(self.view) }
end

-- Shows a page above the others.
function App:open(page) table.insert(self.above, page) end

-- Shows the page of a candidate, first of all these of its texts (default "facts").
function App:look_at(record, first) self:open(candidates.new(self.view, record, first)) end

-- For the pages of rooms.
App.new_list = lists.new

-- The page that is seen.
function App:front() return self.above[#self.above] or self.pages[self.place] end

-- Shows a text in the last row until the next key.
function App:say(text) self.said = text end

-- Asks for a line of text, and calls done(text) unless it is given up.
function App:ask(label, done) self.asked = { label = label, text = "", done = done } end

-- ---- drawing ----

local function title_row(self, width)
  local title, status = now.title(self.view), self.view.facts.status
  local gap = math.max(1, width - columns.of(title) - #status)
  return { { title, "bold" }, { (" "):rep(gap) }, { status, self.view.facts.running and "green" or "yellow" } }
end

local function last_row(self)
  if self.asked then return { { self.asked.label, "bold" }, { self.asked.text .. "_" } } end
  if self.said then return { { self.said, "cyan" } } end
  local row = {}
  for index, page in ipairs(self.pages) do
    local chosen = #self.above == 0 and index == self.place
    row[#row + 1] = { (chosen and "[%d %s]" or " %d %s "):format(index, page.name), chosen and "reverse" or nil }
  end
  row[#row + 1] = { " / find  p pause  d direct  ? help  q quit", "dim" }
  return row
end

-- Draws, if there is anything new to draw.
function App:draw()
  local width, height = self.screen:size()
  local shape = width * 1000 + height
  if not self.stale and shape == self.shape then return true end
  self.stale, self.shape = false, shape
  local rows = self:front():rows(self, width, height - 2)
  rows = table.move(rows, 1, math.min(#rows, height - 2), 2, { title_row(self, width) })
  rows[height] = last_row(self)
  for at = 1, height do rows[at] = rows[at] or "" end
  return self.screen:draw(rows)
end

-- ---- keys ----

-- What a command answers, in the last row.
function App:command(name, args)
  args.dir, args.directory = self.view.dir, self.view.dir or "."
  self:say((captured(require(rooms.commands()[name]).run, args):gsub("\n+$", "")))
  self.due = 0
end

local function ask_key(self, key)
  local asked = self.asked
  if key == "enter" then
    self.asked = nil
    asked.done(asked.text)
  elseif key == "esc" then self.asked = nil
  elseif key == "backspace" then asked.text = asked.text:sub(1, (utf8.offset(asked.text, -1) or 1) - 1)
  elseif key == "ctrl-u" then asked.text = ""
  elseif #key == 1 or key:byte() >= 0x80 then asked.text = asked.text .. key
  end
end

local function direct(self)
  self:ask("note for the next prompts: ", function(text)
    if text:find "%S" then self:command("direct", { message = text }) end
  end)
end

local function back(self)
  if #self.above > 0 then table.remove(self.above) else self.quit = true end
end

local actions = {
  q = back,
  ["?"] = function(self) if self:front() ~= help then self:open(help) end end,
  ["ctrl-l"] = function(self) self.screen:forget() end,
  p = function(self) self:command(self.view.facts.paused and "resume" or "pause", {}) end,
  d = direct,
  m = again.begin,
  tab = function(self) self.place, self.above = self.place % #self.pages + 1, {} end,
  backtab = function(self) self.place, self.above = (self.place - 2) % #self.pages + 1, {} end,
  esc = function(self) table.remove(self.above) end,
  ["/"] = function(self)
    self.place, self.above = 2, {}
    self.pages[2]:key("/", self)
  end,
}

for _, keys_of in rooms.each "watch_keys" do
  for _, one in ipairs(keys_of()) do actions[one.key] = one.press end
end

-- One key. After Ctrl-C and q on a first page `quit` is set.
function App:key(key)
  self.said, self.stale = nil, true
  if key == "ctrl-c" then self.quit = true
  elseif self.asked then ask_key(self, key)
  elseif self:front():key(key, self) then return
  elseif actions[key] then actions[key](self)
  elseif self.pages[tonumber(key)] then self.place, self.above = tonumber(key), {} end
end

-- ---- the loop ----

-- What came from the terminal; "": it is gone.
function App:take(bytes)
  if bytes == "" then self.quit, self.gone = true, true end
  local list
  list, self.rest = keys.read(self.rest .. bytes)
  for _, key in ipairs(list) do self:key(key) end
end

-- Takes in what is new. true: there is more to do at once; nil, message, code.
function App:follow()
  if wait.now() >= self.due then
    local was_running = self.view.facts.running
    local changed, message, code = self.view:follow()
    if changed == nil then return nil, message, code end
    self.due = wait.now() + FOLLOW_S
    self.stale = self.stale or changed or was_running or self.view.facts.running -- seconds pass
  end
  begin(self)
  local more, message, code = self.view:read(WORK_S)
  if more == nil then return nil, message, code end
  more = self.pages[2]:work(WORK_S) or more
  if self.more ~= more or more and wait.now() >= self.glimpse then
    self.more, self.stale, self.glimpse = more, true, wait.now() + GLIMPSE_S
  end
  return more
end

-- A task that hands over what is typed.
local function listen(self)
  return coroutine.create(function()
    while not self.quit do
      local bytes, _, interrupted = wait.input(KEYS)
      if not interrupted then self:take(bytes) end
    end
  end)
end

-- Goes on with the task until it waits; what it waits for.
local function resume(task)
  wait.task(task)
  local ok, handle = coroutine.resume(task)
  wait.task(nil)
  if not ok then error(handle, 0) end
  return handle
end

-- Until somebody leaves. true | nil, message, code.
function App:run()
  local before = wait.interrupts()
  begin(self)
  self:draw()
  local task = listen(self)
  local handle = resume(task)
  while not self.quit do
    local more, message, code = self:follow()
    if more == nil then return nil, message, code end
    if not self:draw() then return true end
    local done = wait.any({ handle, self.measuring and self.measuring.handle }, more and 0 or TICK_S)
    if wait.interrupts() > before then return nil, nil, 130 end
    if self.measuring then again.finish(self) end
    if done and done[1] == 1 then handle = resume(task)
    elseif self.rest == "\27" then
      self.rest = ""
      self:key "esc"
    end
  end
  return true
end

-- Fills the terminal until somebody leaves. true | nil, message, code.
function app.fill(view)
  local trapped, message, code = wait.trap()
  if not trapped then return nil, message, code end
  local screen <close>, refused = screens.open()
  if not screen then return nil, refused, 2 end
  return app.new(view, screen):run()
end

return app
