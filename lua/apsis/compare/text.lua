-- text: prints `apsis show ID --against OTHER`, made safe for a terminal. Decides nothing. Called by against.
local pieces = require "apsis.live.pieces"
local show = require "apsis.cli.table"

local text = {}

local MOST_ITEMS = 20
local ID_WIDTH, PREDICTION_WIDTH = 100, 60

local function plural(count, word)
  return ("%d %s%s"):format(count, word, count == 1 and "" or "s")
end

local function relation(record, other)
  for _, id in ipairs(record.parents or {}) do
    if id == other.id then return ", its parent" end
  end
  return ""
end

-- "-0.2: worse" of a value against another.
local function difference(delta, mark)
  local parts = {}
  if delta and delta ~= 0 then parts[1] = show.delta(delta) end
  parts[#parts + 1] = mark
  return table.concat(parts, ", ")
end

local function value_text(self, made)
  local words = difference(made.delta, made.mark)
  return ("%s = %s, %s has %s%s (%s)"):format(show.line(self.metric.name), show.number(made.record.value),
    made.other.id, show.number(made.other.value), words ~= "" and ": " .. words or "", self.metric:words())
end

local function metric_lines(made)
  for _, metric in ipairs(made.metrics) do
    local words = difference(metric.delta, metric.mark)
    print(("  %s: %s, was %s%s"):format(show.line(metric.name), show.number(metric.value), show.number(metric.against),
      words ~= "" and " (" .. words .. ")" or ""))
  end
end

local function quoted(prediction)
  return prediction and '"' .. show.line(prediction, PREDICTION_WIDTH) .. '"' or "none"
end

local function entry_line(entry)
  local line = ("  %s: %s -> %s"):format(show.line(entry.item, ID_WIDTH), show.number(entry.against),
    show.number(entry.value))
  if not entry.prediction and not entry.against_prediction then return line end
  return ("%s, prediction %s -> %s"):format(line, quoted(entry.against_prediction), quoted(entry.prediction))
end

-- A heading with its count, and at most that many lines below it.
local function listed(heading, list, line_of)
  if #list == 0 then return end
  print(("%s: %s"):format(heading, plural(#list, "item")))
  for index = 1, math.min(#list, MOST_ITEMS) do print(line_of(list[index])) end
  if #list > MOST_ITEMS then print(("  and %d more: --json has all"):format(#list - MOST_ITEMS)) end
end

-- The predictions of an item without a score.
local function changed_line(entry)
  return ("  %s: %s -> %s"):format(show.line(entry.item, ID_WIDTH), quoted(entry.against_prediction),
    quoted(entry.prediction))
end

-- A finding and its place.
local function finding_line(entry)
  local component, name = entry.item:match "^([^:]+):(.*)$"
  return ("  %s: %s"):format(component, show.line(entry.prediction or entry.against_prediction or name, ID_WIDTH))
end

local function single_line(entry)
  local value = entry.value or entry.against
  return ("  %s: %s"):format(show.line(entry.item, ID_WIDTH), value and show.number(value)
    or quoted(entry.prediction or entry.against_prediction))
end

local function item_lines(made)
  local found = made.found
  if not found then
    local without = not made.mine and not made.theirs and "neither candidate has any" or (made.mine and made.other.id
      or made.record.id)
      .. " has none"
    print(("items: %s; only the metric is compared"):format(without))
    return
  end
  listed("regressed", found.regressed, entry_line)
  for _, target in ipairs(made.targets) do
    if target.component and not target.finding then
      print(("regressed as a whole: %s: %s -> %s"):format(show.line(target.component), show.number(target.want),
        show.number(target.value)))
    end
  end
  listed("fixed", found.fixed, entry_line)
  listed("changed", found.changed, changed_line)
  listed("new findings", found.new_findings, finding_line)
  listed("findings that are gone", found.gone_findings, finding_line)
  listed("only in " .. made.record.id, found.only_here, single_line)
  listed("only in " .. made.other.id, found.only_there, single_line)
  print(("unchanged: %s%s"):format(plural(found.unchanged, "item"),
    found.reworded > 0 and (", %d of them with another prediction"):format(found.reworded) or ""))
end

local function piece_lines(made)
  if not made.pieces then
    print("hunks: " .. show.line(made.unread, 400))
    return
  end
  print(("from %s to %s: %s"):format(made.other.id, made.record.id, plural(#made.pieces, "hunk")))
  for number, piece in ipairs(made.pieces) do
    local title = piece.hunk and piece.path or pieces.title(piece)
    print(("hunk %d of %d: %s"):format(number, #made.pieces, show.line(title, 400)))
    show.raw(piece.text)
    if piece.text:sub(-1) ~= "\n" then print() end
  end
  for _, group in ipairs(made.pieces.groups) do
    if #group > 1 then print(pieces.words(group) .. " depend on each other: they can only be taken back together") end
  end
end

local function what_regressed(targets)
  local all_items = true
  for _, target in ipairs(targets) do all_items = all_items and target.item ~= nil and not target.finding end
  if #targets > 1 then return ("all %d%s that regressed"):format(#targets, all_items and " items" or "") end
  if all_items then return "the item that regressed" end
  local target = targets[1]
  if target.finding then return "the lack of the new finding" end
  if target.guard then return "the guard " .. show.line(target.guard) end
  return target.component and show.line(target.component) or "the metric"
end

-- Why nothing names a piece to revert.
local function unknown(made)
  local first, reason = made.targets[1], made.record.rollback_reason
  local regressed = first.item or first.component
  local sources = regressed and (reason and "neither what regressed nor the reason" or "what regressed") or reason
    and "the reason"
  if not sources then return "nothing names a file that was changed" end
  return ("%s names %s that was changed"):format(sources, sources:find "^neither" and "a file" or "no file")
end

-- The pieces to revert, as far as texts name them.
local function suspect_line(made, measures)
  if #made.pieces.groups == 1 then
    print(("revert: no part of it: %s everything changed since %s, so go back, or fix it"):format(
      #made.pieces == 1 and "hunk 1 is" or pieces.words(made.pieces.groups[1]) .. " are", made.other.id))
  elseif #made.suspects > 0 then
    print(("revert: perhaps %s: %s names %s%s"):format(pieces.words(made.suspects), made.by_reason and "the reason"
      or "what regressed",
      #made.suspects == 1 and "it" or "them", measures and "" or "; --bisect measures"))
  elseif not measures then
    print(("revert: not known, for %s: --bisect measures"):format(unknown(made)))
  end
end

local function go_back_line(made)
  local to = made.go_back
  if not to then
    print(("go back to: %s has no ancestor in the journal"):format(made.record.id))
    return
  end
  if not to.generations then
    local why = to.instead_of and "it is better than the ancestor " .. to.instead_of
      or made.record.id .. " has no ancestor in the journal"
    print(("go back to: %s (%s, no ancestor): %s"):format(to.candidate, show.number(to.value), why))
    return
  end
  local where = to.generations == 1 and "its parent" or ("%d generations back"):format(to.generations)
  local first = made.targets[1]
  local passes = "has no worse a value"
  if #made.targets == 1 and first.guard then passes = "holds " .. what_regressed(made.targets)
  elseif #made.targets == 1 and first.finding then passes = "does not have the new finding"
  elseif first.item or first.component then passes = "passes " .. what_regressed(made.targets) end
  local why = to.passes and "the nearest ancestor that " .. passes or "the nearest ancestor of both; none " .. passes
  print(("go back to: %s (%s, %s): %s"):format(to.candidate, where, show.number(to.value), why))
end

-- Prints the comparison. measures: measurements follow.
function text.comparison(self, made, measures)
  local record, other = made.record, made.other
  show.facts {
    { "candidate", ("%s (%s)"):format(record.id, record.outcome) },
    { "against", ("%s (%s%s)"):format(other.id, other.outcome, relation(record, other)) },
    { "value", value_text(self, made) },
    { "reason", record.rollback_reason and show.line(record.rollback_reason, 400) or nil },
    { "metrics", #made.metrics > 0 and plural(#made.metrics, "other metric") .. " changed" or nil },
  }
  metric_lines(made)
  item_lines(made)
  piece_lines(made)
  if #made.targets == 0 then
    local why = record.outcome ~= "kept" and record.rollback_reason and "; the reason above is another" or ""
    print(("revert: nothing; neither an item nor %s is worse%s"):format(show.line(self.metric.name), why))
    return
  end
  if made.pieces and #made.pieces > 0 then suspect_line(made, measures) end
  go_back_line(made)
end

function text.nothing_to_bisect(made)
  if #made.targets == 0 then return "bisect: nothing regressed, so nothing was measured" end
  if #made.pieces > 0 then return "bisect: there is no part to leave out, so nothing was measured" end
  return ("bisect: %s and %s have the same files, so nothing was measured: the difference is noise, or of the "
    .. "evaluation")
    :format(made.record.id, made.other.id)
end

local function step_rows(self, result)
  local rows = {}
  for index, one in ipairs(result.steps) do
    local outcome = one.value and show.number(one.value) or show.line(one.reason or one.status)
    rows[index] = { #one.without == 0 and "nothing" or table.concat(one.without, " "), ("%d of %d"):format(one.count,
      #result.targets), outcome }
  end
  return show.columns({ "without hunk", "restores", self.metric.name }, rows, { false, true, false }, show.width())
end

-- How to revert the pieces in a checkout of the candidate. from: the tree without them, and the patch.
local function patch_lines(made, from)
  print(("in a checkout of it (git switch --detach %s):"):format(made.record.commit))
  print(("  git diff-tree -p --binary %s %s | git apply -R"):format(from.tree, made.record.commit))
  print "which takes this back:"
  show.raw(from.patch or "")
end

local function no_answer(made, result)
  if #result.targets == 0 then
    return ("measured again, %s does not regress: the journal's value was chance, or the evaluation has changed since")
      :format(made.record.id)
  end
  if result.ended == "interrupted" then return "interrupted before any hunk was found at fault" end
  if result.ended == "limit" then
    return ("no answer within %d measurements: --most %d allows more"):format(result.most, 2 * result.most)
  end
  return ("even without all of it %s not restored: the hunks are not the only cause; the values that were recorded "
    .. "may have been chance")
    :format(#result.targets == 1 and "what regressed is" or "all that regressed is")
end

-- The pieces that restore everything, and whether to revert them.
local function found_line(self, made, result)
  local words, what, name = pieces.words(result.found), what_regressed(result.targets), show.line(self.metric.name)
  local value = show.number(result.value)
  if result.whole then
    print(("revert nothing: %swithout %s, which is all that was changed since %s, %s would be restored; go back, "
      .. "or fix it"):format(
      result.minimal and "only " or "", words, made.other.id, what))
  elseif result.costs then
    print(("%s restores %s, but costs more than it restores: %s would be %s, and is %s with %s"):format("taking back "
      .. words, what, name,
      value, show.number(result.steps[1].value), #result.found == 1 and "it" or "them"))
  else
    print(("revert %s: that restores %s; %s would be %s (%s has %s, %s %s)"):format(words, what, name, value,
      made.record.id, show.number(made.record.value), made.other.id, show.number(made.other.value)))
  end
  for _, numbers in ipairs(result.others) do
    print(("or only %s, which restores as much"):format(pieces.words(numbers)))
  end
  if not result.minimal then
    print(("perhaps fewer would do: %s"):format(result.ended == "interrupted" and "interrupted"
      or ("--most %d allows more measurements"):format(2 * result.most)))
  end
end

-- The step with the best value, if it does not restore everything.
local function best_line(self, result)
  local best = result.best
  if not best then return end
  print(("best of what was measured: without %s, %s is %s (as it is: %s), and %d of %d restored"):format(
    pieces.words(best.without), show.line(self.metric.name), show.number(best.value),
    show.number(result.steps[1].value), best.count, #result.targets))
end

-- The result of the measurements.
function text.bisect(self, made, result)
  local took = result.tokens > 0 and (", %.0f tokens, %.4g USD"):format(result.tokens, result.cost) or ""
  print(("bisect: %s of at most %d%s"):format(plural(result.measured, "measurement"), result.most, took))
  for _, line in ipairs(step_rows(self, result)) do print("  " .. line) end
  if #result.unrepeated > 0 and #result.targets > 0 then
    print(("%d of the regressions did not recur (perhaps they were chance), and %s left out"):format(#result.unrepeated,
      #result.unrepeated == 1 and "is" or "are"))
  end
  if result.found then found_line(self, made, result) else print(no_answer(made, result)) end
  best_line(self, result)
  local from = result.advised and result or result.best
  if from then patch_lines(made, from) end
end

return text
