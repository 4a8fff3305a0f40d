-- ledger: logs/holdout.jsonl: each scoring of the holdout, which no hook reads, and what is shown of it: also whether a
-- run went on afterwards.
local direction = require "apsis.direction"
local fs = require "apsis.fs"
local json = require "apsis.json"
local show = require "apsis.cli.table"
local state = require "apsis.state"

local ledger = {}

local function path_of(home) return home .. "/logs/holdout.jsonl" end

-- All scorings, the oldest first, but those whose lines are damaged.
local function all(home)
  local list = {}
  for line in (fs.read(path_of(home)) or ""):gmatch "[^\n]+" do list[#list + 1] = json.decode(line) end
  return list
end

-- The newest scoring; nil if there is none.
function ledger.last(home)
  local list = all(home)
  return list[#list]
end

-- Appends a scoring, on disk when this returns true; else nil, message.
function ledger.append(home, scoring)
  local file, message = state.journal(path_of(home))
  if not file then return nil, message end
  local ok
  ok, message = file:append(json.encode(scoring, { sorted = true }))
  file:close()
  return ok, message
end

-- The newest scoring with `contaminated`: whether experiments were run after any scoring, in this journal or in one
-- that a reset put away; nil if there is none.
function ledger.facts(home, history)
  local list = all(home)
  local last = list[#list]
  if not last then return nil end
  local scored = history:get(last.best)
  last.contaminated = history.count ~= last.lines or last.commit and (not scored or scored.commit ~= last.commit)
  for _, one in ipairs(list) do last.contaminated = last.contaminated or one.lines ~= last.lines end
  return last
end

-- What a reader must know of a scoring: that it was not the first, or not the end.
local function marks(scoring)
  return (scoring.forced and "; not the first score (--force)" or "")
    .. (scoring.contaminated and "; contaminated: experiments were run after it was known" or "")
end

-- The gain there, in words.
local function gained(scoring)
  local metric = direction.new { direction = scoring.direction, name = scoring.metric }
  if scoring.best == scoring.original then return "the baseline itself" end
  return metric:gained_text({ value = scoring.value }, { value = scoring.baseline })
end

function ledger.text(scoring)
  return ("%s = %s, %s%s"):format(scoring.best, show.number(scoring.value), gained(scoring), marks(scoring))
end

-- The same for the report: { label, value, detail }.
function ledger.fact(scoring)
  return { label = "on the holdout", value = show.number(scoring.value),
    detail = ("%s, %s%s"):format(scoring.best, gained(scoring), marks(scoring)) }
end

return ledger
