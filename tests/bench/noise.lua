-- noise: what apsis.acceptance keeps and what it costs, over noises and both presets, by simulation without an engine. Prints a table;
-- fixed seeds. Run as: apsis exec tests/bench/noise.lua [RUNS] (default 1000, two minutes; a quarter as many for 20 of 100).
package.path = (arg[0]:match "^(.*/)" or "./") .. "?.lua;" .. package.path
local acceptance = require "apsis.acceptance"
local noisy = require "noisy"

local runs = math.tointeger(arg[1] or 1000) or error("how many runs, as a whole number?")
local presets = { { "default", effect = 2, length = 320 }, { "sensitive", effect = 1, length = 800 } }

-- The sums over runs of what a run found; false keeps also as runs that had any.
local function sums(count, one)
  local all = { runs = count, spoilt = 0, covered = 0, gained = 0.0, compared = 0 }
  for seed = 1, count do
    local found = one(seed)
    for key, value in pairs(found) do
      if type(value) == "number" then all[key] = (all[key] or 0) + value end
    end
    if found.kept_null > 0 then all.spoilt = all.spoilt + 1 end
    local gain = found.gain
    if gain and gain.low and found.truth > 0 then
      all.compared, all.gained = all.compared + 1, all.gained + gain.gain
      if gain.low <= found.truth and found.truth <= gain.high then all.covered = all.covered + 1 end
    end
  end
  return all
end

local function share(part, whole)
  return whole and whole > 0 and ("%.2f %%"):format(100 * part / whole) or "-"
end

-- Each column's title, and what it says of the sums of four kinds of run.
local columns = {
  { "runs with a false keep", function(of) return share(of.null.spoilt, of.null.runs) end },
  { "measured a null", function(of) return ("%.2f"):format(of.null.measured_null / of.null.null) end },
  { "one: kept", function(of) return share(of.one.kept_real, of.one.real) end },
  { "measured", function(of) return ("%.1f"):format(of.one.measured_real / of.one.real) end },
  { "20: kept", function(of) return share(of.mixed.kept_real, of.mixed.real) end },
  { "false of keeps", function(of) return share(of.mixed.kept_null, of.mixed.kept_null + of.mixed.kept_real) end },
  { "gain/true", function(of) return ("%.3f"):format(of.mixed.gained / of.mixed.truth) end },
  { "covered", function(of) return share(of.mixed.covered, of.mixed.compared) end },
  { "strict: false keeps a run", function(of) return ("%.1f"):format(of.strict.kept_null / of.strict.runs) end },
  { "gain/true", function(of) return ("%.2f"):format(of.climbed.reported / of.climbed.truth) end },
}

local function row(settings, preset, kind)
  local effect, length = preset.effect, preset.length
  return {
    null = sums(runs, function(seed) return noisy.run(settings, kind, seed, noisy.effects(0, 0, seed), length) end),
    one = sums(runs, function(seed) return noisy.run(settings, kind, 1000000 + seed, noisy.one(effect, seed), length) end),
    mixed = sums(runs // 4 + 1, function(seed)
      return noisy.run(settings, kind, 2000000 + seed, noisy.effects(20, effect, seed), 1.5 * length)
    end),
    strict = sums(runs, function(seed) return noisy.climb(kind, seed, noisy.effects(0, 0, seed), 100) end),
    climbed = sums(runs, function(seed) return noisy.climb(kind, seed, noisy.effects(20, effect, seed), 100) end),
  }
end

for _, preset in ipairs(presets) do
  local settings = assert(acceptance.settings { preset = preset[1] })
  io.write(("%-15s"):format(("%s, %g sd"):format(preset[1], preset.effect)))
  for _, column in ipairs(columns) do io.write("  ", column[1]) end
  print()
  for _, kind in ipairs(noisy.names) do
    local of = row(settings, preset, kind)
    io.write(("%-15s"):format(kind))
    for _, column in ipairs(columns) do io.write("  ", ("%" .. #column[1] .. "s"):format(column[2](of))) end
    print()
  end
end
