-- tie_break: the tie-break by changed lines (the manifest's `tie_breaker: changed_loc`). For strategies.
local tie_break = {}

-- true and the reason if a candidate that ties with the best is kept because it changes fewer lines; else false.
function tie_break.wins(run, candidate)
  if run.tie_breaker == "changed_loc" and candidate.changed_lines < (run.best.changed_lines or 0)
    and run.metric:tied(candidate, run.best) then
    return true, "tied, with fewer changed lines"
  end
  return false
end

return tie_break
