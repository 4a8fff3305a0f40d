-- journal: the screen of experiments, newest first, of those that contain what is looked for. Lines are read as they
-- come into sight; what is looked for is looked for a little at a time.
local list = require "apsis.watch.list"
local progress = require "apsis.cli.progress"
local show = require "apsis.cli.table"
local wait = require "apsis.wait"

local journal = { name = "journal" }

local Page = {}
Page.__index = Page

local colours = { baseline = "bold", kept = "green" }
local FORM <const> = "%6s  %-7s %-24s %12s  %-18s %s"
local NARROW <const>, NARROW_FORM <const> = 100, "%-7s %-7s %10s  %-17s %s" -- columns; the form for fewer of them

-- A record as a line of the list: what log shows of it. narrow: without its number, and with its status in place of its
-- outcome.
function journal.line(record, home, narrow)
  local value = record.primary_metric and progress.number(record.primary_metric) or "-"
  local marked, what = show.marked(record), show.what(record, home)
  if narrow then
    local status = show.line(record.status or record.outcome, 8)
    return NARROW_FORM:format(record.candidate or record.experiment, status, value, marked, what)
  end
  return FORM:format(record.experiment, record.candidate or "-", show.line(record.outcome, 24), value, marked, what)
end

function journal.new(view)
  local self = setmetatable({ view = view, name = journal.name }, Page)
  self.list = list.new { count = function(wanted) return self:count(wanted) end,
    row = function(place, width) return self:row(place, width) end }
  self:look_for ""
  return self
end

-- Shows only lines that contain a text, in any case; "": all.
function Page:look_for(text)
  self.wanted, self.list.at, self.list.top = text:lower(), 1, 1
  self.found, self.newer = {}, self.view.history.count -- newest first; lines of the journal up to here are looked at
  self.older = self.newer
  self.goal = 0
end

local function fits(self, index)
  local record = self.view.history:whole(index)
  if not record then return false end
  local text = journal.line(record, self.view.home) .. " " .. (record.operator or "")
  return text:lower():find(self.wanted, 1, true) ~= nil
end

-- Looks for about these seconds; whether anything was looked at, so that there may be more before the screen is full.
function Page:work(seconds)
  if self.wanted == "" then return false end
  local until_then, looked = wait.now() + seconds, 0
  for index = self.newer + 1, self.view.history.count do
    if fits(self, index) then
      table.insert(self.found, 1, index)
      if self.list.at > 1 then self.list.at, self.list.top = self.list.at + 1, self.list.top + 1 end
    end
    self.newer, looked = index, looked + 1
  end
  while self.older > 0 and #self.found < self.goal do
    if fits(self, self.older) then self.found[#self.found + 1] = self.older end
    self.older, looked = self.older - 1, looked + 1
    if looked % 50 == 0 and wait.now() >= until_then then return true end
  end
  return looked > 0
end

-- Stays at the same line when there are new ones, unless it is the newest.
local function keep_place(self)
  local count = self.view.history.count
  local more = count - (self.counted or count)
  self.counted = count
  if self.wanted == "" and self.list.at > 1 and more > 0 then
    self.list.at, self.list.top = self.list.at + more, self.list.top + more
  end
end

function Page:count(wanted)
  if self.wanted == "" then return self.view.history.count end
  self.goal = math.max(self.goal, wanted)
  return #self.found
end

local function index_of(self, place)
  if self.wanted ~= "" then return self.found[place] end
  return self.view.history.count + 1 - place
end

function Page:row(place, width)
  local record, refused = self.view.history:whole(index_of(self, place))
  if not record then return refused end
  return journal.line(record, self.view.home, width < NARROW), colours[record.outcome]
end

function Page:rows(_, width, height)
  keep_place(self)
  local head = width - 2 < NARROW and NARROW_FORM:format("", "", "value", "", "what")
    or FORM:format("#", "", "outcome", "value", "", "what")
  local rows = { { { "  " .. head, "dim" } } }
  if self.wanted ~= "" then
    local looked = self.older > 0 and "looked at the newest %d lines" or "all %d lines"
    rows[1] = { { ("%d of them contain %q (%s); Esc: all"):format(#self.found, self.wanted,
      looked:format(self.view.history.count - self.older)), "cyan" } }
  end
  local shown = self.list:rows(width, height - 1)
  table.move(shown, 1, #shown, 2, rows)
  if #shown == 0 then rows[2] = self.wanted == "" and "  no experiments yet" or "" end
  return rows
end

-- Whether the key did something.
function Page:key(key, app)
  if self.list:key(key) then return true end
  local index = index_of(self, self.list.at)
  if key == "enter" and index and index >= 1 then
    local record = self.view.history:at(index)
    if record.candidate then app:look_at(record)
    else app:say "this experiment has no candidate" end
    return true
  elseif key == "/" then
    app:ask("look for: ", function(text) self:look_for(text) end)
    return true
  elseif key == "esc" and self.wanted ~= "" then
    self:look_for ""
    return true
  end
  return false
end

return journal
