-- ledger: logs/holdout.jsonl: each scoring of the holdout, which no hook reads, and what is shown of it: also whether a
-- run went on afterwards.
local direction = require "apsis.direction"
local fs = require "apsis.fs"
local json = require "apsis.json"
local show = require "apsis.cli.table"
local state = require "apsis.state"

local ledger = {}

local function path_of(home) return home .. "/logs/holdout.jsonl" end

-- The newest scoring; nil if there is none, or the file is damaged at that line.
function ledger.last(home)
  local text, last = fs.read(path_of(home)), nil
  for line in (text or ""):gmatch "[^\n]+" do last = json.decode(line) or last end
  return last
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

-- The newest scoring with `contaminated`: whether lines were added since; nil if there is none.
function ledger.facts(home, history)
  local last = ledger.last(home)
  if last then last.contaminated = history.count ~= last.lines end
  return last
end

-- What a reader must know of a scoring: that it was not the first, or not the end.
local function marks(scoring)
  return (scoring.forced and "; scored again by --force" or "")
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
