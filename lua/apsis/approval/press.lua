-- press: the key of `apsis watch`: asks about the first candidate that waits and has no answer.
local approve = require "apsis.approval.commands.approve"
local direction = require "apsis.direction"
local held = require "apsis.live.held"

-- "c0007 = 118 (+18 %), and 2 more"
local function label_of(view, list)
  local fields = list[1].line
  local share = fields.primary_metric and direction.percent_text(fields.primary_metric, view.history.bar)
  return ("%s = %s%s%s: y approves, n rejects, then why: "):format(fields.candidate,
    fields.primary_metric and ("%.6g"):format(fields.primary_metric) or "?", share and (" (%s)"):format(share) or "",
    #list > 1 and (", and %d more"):format(#list - 1) or "")
end

return function(app)
  local view, list = app.view, {}
  for _, one in ipairs(held.waiting(view.home, view.history)) do
    list[#list + 1] = not held.answer(view.home, one.experiment) and one or nil
  end
  if not list[1] then return app:say "nothing waits for approval" end
  app:ask(label_of(view, list), function(text)
    local word, reason = text:match "^%s*([yYnN])%a*%s*(.-)%s*$"
    if not word then return app:say "neither y nor n: nothing is answered" end
    app:command(approve, { id = list[1].line.candidate, reject = word:lower() == "n", later = true,
      reason = reason ~= "" and reason or nil })
  end)
end
