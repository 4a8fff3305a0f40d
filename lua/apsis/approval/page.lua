-- page: the screen of `apsis watch` with what waits for approval, and its key: it opens the screen; there, and on the
-- screen of a candidate that waits, it asks about that candidate. What has no answer yet comes first.
local held = require "apsis.live.held"
local show = require "apsis.cli.table"

local page = {}

local Page = {}
Page.__index = Page

-- "118 (+18 %)"
local function value_text(view, one)
  local value, gain = one.line.primary_metric, held.gain_text(view.reader, one)
  return value and ("%.6g%s"):format(value, gain and (" (%s)"):format(gain) or "") or "?"
end

-- What waits; `answered`: the word of an answer that no run has taken up yet.
local function waiting(view)
  local open, answered = {}, {}
  for _, one in ipairs(held.waiting(view.home, view.history)) do
    local answer = held.answer(view.home, one.experiment)
    one.answered = answer and (answer:match "^%a+" or "?")
    table.insert(answer and answered or open, one)
  end
  return table.move(answered, 1, #answered, #open + 1, open)
end

local function ask(app, one)
  local fields = one.line
  local label = ("%s = %s%s: y approves, n rejects, then why: "):format(fields.candidate, value_text(app.view, one),
    one.answered and ", answered: " .. one.answered or "")
  app:ask(label, function(text)
    local word, reason = text:match "^%s*([yYnN])%a*%s*(.-)%s*$"
    if not word then return app:say "neither y nor n: nothing is answered" end
    app:command("approve", { id = fields.candidate, reject = word:lower() == "n", later = true,
      reason = reason ~= "" and reason or nil })
  end)
end

local FORM <const> = "%-7s %-18s %-6s %s"

function page.new(app)
  local view = app.view
  local self = setmetatable({ view = view, name = "approval", waiting = waiting(view) }, Page)
  self.list = app.new_list { count = function() return #self.waiting end, row = function(place)
    local one = self.waiting[place]
    return FORM:format(one.line.candidate, value_text(view, one), one.answered or "",
      show.line(one.line.hypothesis or one.line.description, 200))
  end }
  return self
end

function Page:rows(_, width, height)
  self.waiting = waiting(self.view)
  local rows = { { { "  what waits for approval: a answers, Enter shows its diff, Esc goes back", "dim" } } }
  if #self.waiting == 0 then rows[2] = "  nothing" end
  local shown = self.list:rows(width, height - 1)
  return table.move(shown, 1, #shown, 2, rows)
end

function Page:key(key, app)
  if self.list:key(key) then return true end
  local one = self.waiting[self.list.at]
  if key == "a" and one then ask(app, one)
  elseif key == "enter" and one then
    local record, message = self.view.reader:find(one.line.candidate, true)
    if record then app:look_at(record, "diff") else app:say(message) end
  else return false end
  return true
end

-- The key, on another screen.
function page.press(app)
  local record = app:front().record
  for _, one in ipairs(waiting(app.view)) do
    if record and one.experiment == record.experiment then return ask(app, one) end
  end
  if getmetatable(app:front()) ~= Page then app:open(page.new(app)) end
end

return page
