-- baseline: `apsis baseline` with several measurements: how many there are, and what they show: how noisy the metric
-- is, and, if many were asked for, whether it drifts and which improvements acceptance would find at what cost.
local acceptance = require "apsis.acceptance"
local once = require "apsis.live.once"
local show = require "apsis.cli.table"
local spread_text = require "apsis.cli.spread"
local repeats = require "apsis.noise.repeats"
local stats = require "apsis.stats"
local wait = require "apsis.wait"

local baseline = {}

local FEW = 5 -- fewer measurements give no useful spread
local DRIFT = 1.5 -- the two deviations differ by more than chance, for 20 measurements
local EFFECTS, TRIALS, GOOD = { 0.5, 1, 1.5, 2, 3 }, 300, 0.8
-- The settings of both presets, with the manifest's own for its preset.
local function settings_of(given)
  given = given or {}
  local list = {}
  for _, preset in ipairs { "default", "sensitive" } do
    local own = (given.preset or "default") == preset and given or { preset = preset, confidence = given.confidence }
    list[#list + 1] = { preset = preset, settings = assert(acceptance.settings(own)) }
  end
  return list
end

-- How often improvements of some sizes would be found: { preset, rows = { { effect (in sd), amount, relative, kept,
-- measurements }... } }.
local function power_of(found, given)
  local list = {}
  for index, one in ipairs(settings_of(given)) do
    local rows = acceptance.power(one.settings, { effects = EFFECTS, trials = TRIALS, seed = 1 })
    for _, row in ipairs(rows) do
      row.amount = row.effect * found.sd
      row.relative = found.relative and row.effect * found.relative
    end
    list[index] = { preset = one.preset, rows = rows }
  end
  return list
end

-- { measurements, median, sd, ordinary_sd, relative (to the median's size), drift, power } of values in the order in
-- which they were measured; sd 0 if all are equal. nil for fewer than two. given: the manifest's acceptance, if it
-- has one.
local function noise_of(values, sd, given)
  if #values < 2 then return nil end
  local found = { measurements = #values, median = stats.median(values), sd = sd, ordinary_sd = stats.sd(values) }
  if not (found.ordinary_sd < math.huge) then found.ordinary_sd = sd end -- the squares overflowed
  if stats.min(values) == stats.max(values) then found.sd, found.ordinary_sd = 0, 0 end
  if found.median ~= 0 then found.relative = found.sd / math.abs(found.median) end
  found.drift = #values >= FEW and found.ordinary_sd > DRIFT * found.sd
  if found.sd > 0 and #values >= FEW then found.power = power_of(found, given) end
  return found
end

local function percent(share)
  return share and (" (%.2g %%)"):format(100 * share) or ""
end

local function print_power(found)
  local head, rows, right = { "improvement", "in sd" }, {}, { true, true }
  for _, one in ipairs(found.power) do
    head[#head + 1], head[#head + 2] = one.preset .. ": kept", "measurements"
    right[#head - 1], right[#head] = true, true
  end
  head[#head + 1] = ""
  for index, effect in ipairs(EFFECTS) do
    local first = found.power[1].rows[index]
    local row = { ("%.4g%s"):format(first.amount, percent(first.relative)), ("%.2g"):format(effect) }
    for _, one in ipairs(found.power) do
      row[#row + 1] = ("%.0f of 100"):format(100 * one.rows[index].kept)
      row[#row + 1] = ("%.0f"):format(one.rows[index].measurements)
    end
    row[#row + 1] = ""
    rows[index] = row
  end
  for _, text in ipairs(show.columns(head, rows, right)) do print("  " .. text) end
end

-- The smallest improvement of a preset's rows that is kept in most cases, and its size in words; or nil.
local function detectable(rows)
  for _, row in ipairs(rows) do
    if row.kept >= GOOD then
      return row, row.relative and ("%.2g %%"):format(100 * row.relative) or ("%.4g"):format(row.amount)
    end
  end
end

-- The same of each preset.
local function print_detectable(found)
  for _, one in ipairs(found.power) do
    local row, size = detectable(one.rows)
    if row then
      print(show.wrap(("`acceptance: %s`: an improvement of %s needs about %.0f measurements a candidate, its own "
          .. "and the best's "
          .. "(kept in %.0f of 100)"):format(one.preset, size, row.measurements, 100 * row.kept), show.width(), "  "))
    end
  end
end

local function print_drift(found)
  if not found.drift then return end
  print(show.wrap(("drift? The ordinary sd is %.4g: there were slow changes, or a first measurement unlike the "
    .. "others. acceptance uses the smaller sd: that causes no false keeps, but it finds less. A quiet "
    .. "machine, or a ratio to something measured beside it, helps; if only first runs are unlike the others, "
    .. "`verification: {warmup: 1}` leaves them out"):format(found.ordinary_sd), show.width(), "  "))
end

-- asked: how many measurements were wanted.
local function print_noise(found, asked)
  if found.sd == 0 then
    local stopped = found.measurements < asked and (", so it stopped after %d of %d"):format(found.measurements, asked)
      or ""
    print(show.wrap(("noise: %d equal measurements%s: the metric has no spread, and one measurement "
      .. "decides"):format(found.measurements,
      stopped), show.width(), "  "))
    return
  end
  print(("noise: sd %.4g%s over %d measurements%s"):format(found.sd, percent(found.relative), found.measurements,
    found.measurements < FEW and ", too few to rely on: take 20" or ""))
  print_drift(found)
  if not found.power then return end
  print(("what acceptance would keep of improvements of these sizes (simulated, gaussian noise, %d "
    .. "candidates each):"):format(TRIALS))
  print_power(found)
  print_detectable(found)
end

local UNKNOWN <const> = "measured once: its noise is unknown"

-- The same as in_words of a baseline of several metrics, each with its own noise.
local function of_several(record, names)
  local noted, texts, noisy = record.notes and record.notes.noise or {}, {}, false
  if (record.measurements or 1) < 2 then return UNKNOWN, true end
  for index, name in ipairs(names) do
    local sd, value = noted[name] or 0, record.metrics[name]
    noisy = noisy or sd > 0
    texts[index] = ("%s sd %.4g%s"):format(name, sd, sd > 0 and value and value ~= 0 and percent(sd / math.abs(value))
      or "")
  end
  if not noisy then return ("none in %d equal measurements"):format(record.measurements), false end
  return table.concat(texts, ", ") .. "; one measurement decides, so luck may join the front", true
end

-- The noise of a folded baseline and what acceptance finds in it, in a line, and whether luck may be kept; given: the
-- manifest's acceptance; names: of the metrics that make up the value, or nil. nil without a value.
function baseline.in_words(record, name, given, names)
  local values = record.value and record.samples
  if not values then return nil end
  if names then return of_several(record, names) end
  local noted = record.notes and record.notes.noise or {}
  local found = noise_of(values, noted[name] or #values > 1 and stats.sd(values) or 0, given)
  if not found then return UNKNOWN, true end
  if found.sd == 0 then return ("none in %d equal measurements"):format(found.measurements), false end
  local text = ("sd %.4g%s"):format(found.sd, percent(found.relative))
  if not given then return text .. "; one measurement decides, so luck may be kept", true end
  local own = found.power and found.power[given.preset == "sensitive" and 2 or 1]
  local row, size = detectable(own and own.rows or {})
  return row and ("%s; an improvement of %s is kept in %.0f of 100"):format(text, size, 100 * row.kept) or text, false
end

-- The guards' metrics: how noisy they are relative to their limits.
local function print_guards(record, list)
  local found = record.notes and record.notes.noise or {}
  for _, guard in ipairs(list or {}) do
    local value, sd = record.metrics[guard.metric], found[guard.metric]
    if value and sd then
      print(("guard %s: %s, sd %.4g%s; at most %s worse is allowed"):format(guard.metric, show.number(value), sd,
        value ~= 0 and percent(sd / math.abs(value)) or "", guard.max_regression))
    end
  end
end

local Several = {}
Several.__index = Several

-- How the session's baseline is measured: options of engine:baseline.
function Several:options(session)
  local judge, asked, began = session.engine.judge, self.args.repeats, wait.now()
  self.brief = not asked and not judge
  local wanted = not asked and judge and judge:repeats() or { repeats = asked or once.MOST }
  local options = { run = repeats.run, repeats = wanted.repeats }
  function options.enough(values)
    if self.brief and #values == 1 then
      options.repeats, self.why_once = once.times(wait.now() - began, session.manifest)
    end
    self.asked = options.repeats
    if self.asked > 1 then
      session.progress_line:note(("measurement %d of %d: %s"):format(#values, self.asked, show.number(values[#values])))
    end
    return #values >= self.asked or wanted.enough ~= nil and wanted.enough(values)
  end
  return options
end

-- The noise in the measured baseline `outcome`: see noise_of. nil if there is nothing to report.
function Several:found(session, outcome)
  local record = outcome.record
  local sd = record.notes and record.notes.noise and record.notes.noise[session.engine.metric.name]
  return record.value and sd and noise_of(outcome.values, sd, session.manifest.acceptance) or nil
end

-- How often it was measured and what the spread is, for the line of the value; nil if somebody asked for N.
function Several:brief_text(values)
  if not self.brief then return nil end
  return values[2] and spread_text.text(values) or self.why_once and "measured once: " .. self.why_once or nil
end

function Several:print(session, outcome)
  if self.brief then
    local advice = spread_text.advice(outcome.values, session.engine.metric)
    if advice then print(show.wrap(advice .. " Add it, then `apsis baseline --again`.", show.width(), "")) end
    return
  end
  local found = self:found(session, outcome)
  if not found then return end
  print_noise(found, self.asked)
  print_guards(outcome.record, session.manifest.guards)
end

-- args: the command's. Its metadata for repeated measurements; false and what is wrong.
function baseline.several(args)
  if args.repeats and args.repeats < 1 then
    return false, ("--repeats: must be 1 or more, not %d"):format(args.repeats)
  end
  return setmetatable({ args = args }, Several)
end

-- nil, or what a baseline lacks for the comparison with one of the manifest's guards.
function baseline.lacks(manifest, record)
  for index, guard in ipairs(manifest.guards or {}) do
    if not record.metrics[guard.metric] then
      local key = ("guards[%d].metric"):format(index)
      return ("%s: %s: the baseline %s has no METRIC %s=NUMBER to compare with: have it printed, or remove the guard, "
        .. "and run "
        .. "`apsis baseline --again`"):format(manifest.where(key), key, record.id, guard.metric)
    end
  end
end

return baseline
