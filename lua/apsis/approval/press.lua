-- press: the key of `apsis watch`: asks about the first candidate that waits: one without an answer, then one whose
-- answer no run has taken up yet.
local approve = require "apsis.approval.commands.approve"
local direction = require "apsis.direction"
local held = require "apsis.live.held"

-- "c0007 = 118 (+18 %), and 2 more"
local function label_of(view, one, answer, more)
  local fields = one.line
  local share = fields.primary_metric and direction.percent_text(fields.primary_metric, view.history.bar)
  return table.concat { fields.candidate, " = ",
    fields.primary_metric and ("%.6g"):format(fields.primary_metric) or "?", share and (" (%s%s)"):format(share,
      view.reader.metric:better(fields.primary_metric, view.history.bar) and "" or ", no longer better") or "",
    answer and ", answered: " .. (answer:match "^%a+" or "?") or "", more > 0 and (", and %d more"):format(more) or "",
    ": y approves, n rejects, then why: " }
end

return function(app)
  local view, open, answered = app.view, {}, {}
  for _, one in ipairs(held.waiting(view.home, view.history)) do
    table.insert(held.answer(view.home, one.experiment) and answered or open, one)
  end
  local one = open[1] or answered[1]
  if not one then return app:say "nothing waits for approval" end
  local answer = not open[1] and held.answer(view.home, one.experiment) or nil
  app:ask(label_of(view, one, answer, (open[1] and #open or #answered) - 1), function(text)
    local word, reason = text:match "^%s*([yYnN])%a*%s*(.-)%s*$"
    if not word then return app:say "neither y nor n: nothing is answered" end
    app:command(approve, { id = one.line.candidate, reject = word:lower() == "n", later = true,
      reason = reason ~= "" and reason or nil })
  end)
end
