-- trust: what a reader should know before believing the figures of a run.
local evaluator = require "apsis.live.evaluator"
local json = require "apsis.json"
local near_miss = require "apsis.live.near_miss"
local plain = require "apsis.project.plain"
local rooms = require "apsis.core.rooms"
local session = require "apsis.live.session"
local ways = require "apsis.live.cage.ways"

local trust = {}

local function given(what) return what ~= nil and what ~= json.null and what or nil end

local function one_line(text) return (plain.text(text):gsub("%s+", " ")) end

-- What measures now and did not when the baseline was measured: a text; nil if nothing, or if it cannot be known here.
local function evaluator_change(dir, baseline)
  local opened = session.configure(dir)
  if not opened or not baseline then return nil end
  function opened.log() end -- nothing is written, neither to the project nor to the screen
  function opened.say() end
  local known, changed = pcall(function()
    return opened:open_world(nil, true) and evaluator.changed(opened.world, baseline)
  end)
  opened:close()
  return known and changed or nil
end

-- What takes a moment to find: whether commands are confined here, whether the same measures as before, and what each
-- room adds: { label, text, doubt }... doubt: something is wrong.
function trust.slow(reader, dir)
  local mode = reader.manifest.sandbox.mode
  local way = mode ~= "off" and ways.find() or nil
  local free = not way or way == "none"
  local text = free and mode == "required" and "none works here, so nothing is run"
    or free and "commands may read and write whatever you may" or way
  local list = { { "sandbox", ("%s: %s"):format(mode, text), free } }
  local changed = evaluator_change(dir, reader.history.baseline)
  if changed then
    list[2] = { "evaluator", changed .. ": not what it was at the baseline, so values would not be comparable", true }
  end
  for _, facts in rooms.each "trust" do
    for _, fact in ipairs(facts(reader)) do list[#list + 1] = fact end
  end
  return list
end

-- All of it: slow's list and what the facts of live/standing.lua show.
function trust.of(slow, facts, history)
  local near, failed = given(facts.near_misses), history.outcomes.skipped_provider_failure or 0
  local list = table.move(slow, 1, #slow, 1, {})
  local function doubt(label, text) list[#list + 1] = text and { label, text, true } or nil end
  doubt("paused", facts.paused and not facts.running and "the next run waits; `apsis resume` goes on" or nil)
  doubt("altered", given(facts.altered))
  doubt("near miss", near and ("experiment %s, %s"):format(near.experiment, near_miss.at(near, one_line)))
  doubt("baseline", history.began > 1 and ("new: results before experiment %d are not compared"):format(
    history.baseline.experiment) or nil)
  doubt("branch", given(facts.branch_left)
    and ("%s does not have the best: %s"):format(facts.branch, facts.branch_left))
  doubt("provider", failed > 0 and ("%d of %d experiments failed at the provider"):format(failed, facts.experiments)
    or nil)
  return list
end

return trust
