-- explained: prints what the command explain has found, for people and as JSON. Decides nothing. Called by explain.
local json = require "apsis.json"
local pieces = require "apsis.live.pieces"
local show = require "apsis.cli.table"

local explained = {}

local function plural(count, word)
  return ("%d %s%s"):format(count, word, count == 1 and "" or "s")
end

-- "40 s", "12 min", "3.5 h".
function explained.duration(seconds)
  if seconds < 100 then return ("%.2g s"):format(seconds) end
  if seconds < 6000 then return ("%.0f min"):format(seconds / 60) end
  return ("%.1f h"):format(seconds / 3600)
end

-- What will be measured, before it is.
function explained.budget(made)
  return ("%s against %s: %s; at most %s (--max)"):format(made.record.id, made.base.id, plural(#made.pieces, "hunk"),
    plural(made.most, "measurement"))
end

-- "1-3, 7".
local function ranges(numbers)
  local words, index = {}, 1
  while index <= #numbers do
    local last = index
    while numbers[last + 1] == numbers[last] + 1 do last = last + 1 end
    words[#words + 1] = last == index and tostring(numbers[index]) or ("%d-%d"):format(numbers[index], numbers[last])
    index = last + 1
  end
  return table.concat(words, ", ")
end

-- The hunk's place, its first new line, else its first old one, and how many it adds and deletes if these are more.
local function about(piece)
  if not piece.hunk then return pieces.title(piece) end
  local line = piece.text:match "\n(%+[^\n]*%S[^\n]*)" or piece.text:match "\n(%-[^\n]*%S[^\n]*)" or "\n"
  local added, deleted = select(2, piece.text:gsub("\n%+", "")), select(2, piece.text:gsub("\n%-", ""))
  local more = math.max(added, deleted) > 1 and (" (+%d -%d)"):format(added, deleted) or ""
  return ("%s:%d  %s %s%s"):format(piece.path, math.max(piece.hunk.new_start, 1), line:sub(1, 1),
    show.line(line:match "^.%s*(.*)", 150), more)
end

-- What a part is about: its first hunk, and how many more.
local function about_part(made, set)
  local numbers = made.hunks(set)
  local more = #numbers > 1 and (" (and %d more)"):format(#numbers - 1) or ""
  return show.line(about(made.pieces[numbers[1]]), 200) .. more
end

local function percent(share)
  return (math.abs(share) < 0.001 and share ~= 0 and "%.1g %%" or "%.1f %%"):format(100 * share)
end

local function cells(self, made, part, inner)
  local result, unit = made.result, self.manifest.metric.unit
  local share, interval, value = "all", "", "fails"
  if part.share then
    share, value = percent(part.share), show.number(part.value and tonumber(("%.5g"):format(part.value)), unit)
    interval = result.noisy and ("%.1f..%.1f"):format(100 * part.low, 100 * part.high) or ""
  end
  local numbers = made.hunks(part.set)
  if part.members then return { share, interval, value, "", plural(#numbers, "hunk") .. " that interact:" } end
  local idle = inner and not part.matters
  return { inner and "(" .. (idle and "0" or share) .. ")" or share, inner and "" or interval, idle and "" or value,
    ranges(numbers), about_part(made, part.set) }
end

-- The parts with an effect, the greatest loss first, and the numbers of the other hunks.
local function sorted(made)
  local list, idle = {}, {}
  for _, part in ipairs(made.result.units) do
    if part.matters then list[#list + 1] = part
    elseif not part.unknown then
      for _, number in ipairs(made.hunks(part.set)) do idle[#idle + 1] = number end
    end
  end
  table.sort(list, function(a, b)
    local x, y = a.share or math.huge, b.share or math.huge
    if x ~= y then return x > y end
    return a.set[1] < b.set[1]
  end)
  return list, idle
end

local function rows_of(self, made, list)
  local rows = {}
  for _, part in ipairs(list) do
    rows[#rows + 1] = cells(self, made, part)
    for _, member in ipairs(part.members or {}) do rows[#rows + 1] = cells(self, made, member, true) end
  end
  if not made.result.noisy then
    for _, row in ipairs(rows) do table.remove(row, 2) end
  end
  return rows
end

local function say(text) print(show.wrap(text, show.width(), "  ")) end

local function facts(self, made)
  local result = made.result
  local noise = ", without noise: a value is the same when measured again"
  if result.noisy then
    noise = (", under noise: %s in random order; the intervals hold for all parts together, at 95 %%"):format(
      plural(result.turns, "turn"))
  end
  local before = result.reused > 0 and (", %d more kept from before"):format(result.reused) or ""
  local took = result.tokens > 0 and (", %.0f tokens, %.4g USD"):format(result.tokens, result.cost) or ""
  say(("measured %s%s%s%s"):format(plural(result.used, "time"), before, took, noise))
  local name = show.line(self.metric.name)
  if result.scale == "ratio" then say(("losses multiply here: shares are of the logarithm of %s"):format(name)) end
  if result.scale == "rate" then say(("losses add up in 1/%s here: shares are of that"):format(name)) end
end

-- The smallest patch, and how to take it.
local function patch_lines(self, made)
  local patch = made.result.patch
  local gone, added, deleted = {}, 0, 0
  for _, number in ipairs(patch.hunks) do gone[number] = true end
  local keep = {}
  for number, piece in ipairs(made.pieces) do
    if not gone[number] then
      keep[#keep + 1] = number
      added, deleted = added + (piece.added or 0), deleted + (piece.deleted or 0)
    end
  end
  if #patch.hunks == 0 then return say "smallest patch that keeps 95 %: all hunks" end
  local interval = made.result.noisy and (" [%.1f..%.1f]"):format(100 * patch.low, 100 * patch.high) or ""
  say(("smallest patch that keeps 95 %%: %s of %d, +%d -%d lines (%s)"):format(plural(#keep, "hunk"), #made.pieces,
    added, deleted, ranges(keep)))
  say(("  it keeps %s%s: %s %s"):format(percent(patch.keeps), interval, show.line(self.metric.name),
    show.number(tonumber(("%.5g"):format(patch.value)), self.manifest.metric.unit)))
  print(("  git diff-tree -p --binary %s %s | git apply"):format(made.base.commit:sub(1, 12), patch.tree:sub(1, 12)))
end

local function ended_line(made)
  local result = made.result
  local blocks = {}
  for _, part in ipairs(result.units) do
    if part.matters and not part.members and #part.set > 1 then blocks[#blocks + 1] = part end
  end
  if result.ended == "limit" then
    say(("stopped at %d measurements, so not all that belongs together is found: --max %d goes on from here"):format(
      made.most, 2 * made.most))
  elseif result.noisy and #result.units > 0 and not result.patch then
    say(("the noise hides which hunks make the rest: --max %d measures more often"):format(2 * made.most))
  elseif #blocks > 0 then
    say(("%s not divided further: --max %d allows it"):format(#blocks == 1 and "one part was"
      or plural(#blocks, "part") .. " were", 2 * made.most))
  end
end

-- Prints the shares and the smallest patch.
local function print_result(self, made)
  local result, unit = made.result, self.manifest.metric.unit
  local function rounded(value) return value and tonumber(("%.6g"):format(value)) end
  say(("%s against %s: %s"):format(made.record.id, made.base.id, show.line(self.metric.name) .. " "
    .. show.number(rounded(result.value), unit) .. ", " .. self.metric:against_text(rounded(result.value),
    rounded(result.base), unit, made.base.outcome == "baseline" and "baseline" or "candidate " .. made.base.id)))
  facts(self, made)
  local list, idle = sorted(made)
  local head, right = { "share", "interval", "without it", "hunk", "change" }, { true, true, true, true }
  if not result.noisy then
    table.remove(head, 2)
    table.remove(right)
  end
  local lines = #list > 0 and show.columns(head, rows_of(self, made, list), right, show.width()) or {}
  for _, line in ipairs(lines) do print(line) end
  if #idle > 0 then
    say(("no effect%s: %d of %s (%s)"):format(result.noisy and " shown" or "", #idle, plural(#made.pieces, "hunk"),
      ranges(idle)))
  end
  if result.patch then patch_lines(self, made) end
  ended_line(made)
end

-- Prints the hunks and the budget.
local function print_plan(made)
  print(explained.budget(made))
  local rows = {}
  for number, piece in ipairs(made.pieces) do rows[number] = { tostring(number), show.line(about(piece), 200) } end
  for _, line in ipairs(show.columns({ "hunk", "change" }, rows, { true }, show.width())) do print(line) end
end

local function plain_part(made, part)
  local one = { hunks = json.array(made.hunks(part.set)), matters = part.matters, fails = part.failed,
    measured = not part.unknown, value = part.value, share = part.share, low = part.low, high = part.high,
    reason = part.reason }
  for index, member in ipairs(part.members or {}) do
    one.members = one.members or {}
    one.members[index] = plain_part(made, member)
  end
  return one
end

-- All of it for JSON; without a result: what would be measured.
local function plain(self, made)
  local result = made.result
  local all = { candidate = made.record.id, against = made.base.id, metric = self.metric.name,
    direction = self.metric.direction, most = made.most, hunks = json.array(pieces.plain(made.pieces)),
    dry_run = not result }
  if not result then return all end
  local parts = {}
  for index, part in ipairs(result.units) do parts[index] = plain_part(made, part) end
  for name, value in pairs { value = result.value, baseline = result.base, noisy = result.noisy, turns = result.turns,
    measurements = result.used, reused = result.reused, ended = result.ended, scale = result.scale,
    tokens = result.tokens, cost = result.cost, parts = json.array(parts) } do all[name] = value end
  local patch = result.patch
  if patch then
    all.patch = { without = json.array(patch.hunks), keeps = patch.keeps, low = patch.low, high = patch.high,
      value = patch.value, tree = patch.tree, text = patch.text }
  end
  return all
end

-- Prints it: the result, or without one the plan.
function explained.show(self, args, made)
  if args.json then print(json.encode(plain(self, made), { pretty = true }))
  elseif made.result then print_result(self, made)
  else print_plan(made) end
end

return explained
