-- packed: a folded history as text, and a history from such a text, with which the same fold goes on at the next line.
-- Without what only experiments ask for (twins). Knows no file; live/checkpoint.lua does.
local json = require "apsis.json"

local packed = {}

local VERSION = 7 -- raise it when a fold makes something else of the same lines

local counters = { "count", "last_experiment", "run", "since_kept", "since_best", "began", "renewed", "oldest" }
local totals = { "totals", "run_totals" }
local records = { "best", "current", "baseline", "newest", "newest_baseline" }

-- What a fold depends on beside the lines.
local function terms_of(history)
  local metric = history.given
  return { version = VERSION, metric = metric.name, direction = metric.direction, epsilon = metric.epsilon,
    of_branch = history.of_branch }
end

-- ---- numbers ----

local AT_A_TIME = 128

-- Two functions: adds a number to a list of texts; adds those that it holds back.
local function packer(parts)
  local waiting = {}
  local function flush()
    parts[#parts + 1] = ("<" .. ("j"):rep(#waiting)):pack(table.unpack(waiting))
    waiting = {}
  end
  return function(number)
    waiting[#waiting + 1] = number
    if #waiting == AT_A_TIME then flush() end
  end, flush
end

local function unpacked(text, at, count)
  local list = {}
  for from = 1, count, AT_A_TIME do
    local some = math.min(AT_A_TIME, count - from + 1)
    table.move({ ("<" .. ("j"):rep(some)):unpack(text, at + 8 * (from - 1)) }, 1, some, from, list)
  end
  return list
end

-- ---- to text ----

local function head_of(history)
  local head = { terms = terms_of(history), more = {}, epochs = json.array {}, records = {}, gain = history.gain,
    bar = history.bar, judged = history.judged, outcomes = history.outcomes }
  for _, name in ipairs(counters) do head[name] = history[name] end
  for _, name in ipairs(totals) do
    head[name] = {}
    for key, sum in pairs(history[name]) do head[name][key] = ("%q"):format(sum) end -- JSON has 2.0 as 2
  end
  for id, values in pairs(history.more) do head.more[id] = json.array(table.move(values, 1, #values, 1, {})) end
  for index, epoch in ipairs(history.classes) do
    head.epochs[index] = { from = epoch.from, name = epoch.metric.name, direction = epoch.metric.direction }
  end
  for _, name in ipairs(records) do
    local record = history[name]
    if record then
      head.records[name] = { at = history:line_of(record.experiment), retained = rawget(record, "retained") }
    end
  end
  return head
end

-- Adds the history as text to a list of texts (it may be long: nobody copies it once more).
function packed.add(parts, history)
  local head, first = head_of(history), #parts + 1
  parts[first] = ""
  local add, flush = packer(parts)
  local marks = history.source:known()
  head.marks, head.kept = #marks, #history.kept_lines
  for _, offset in ipairs(marks) do add(offset) end
  for _, index in ipairs(history.kept_lines) do add(index) end
  if history.moved then
    head.moved = 0
    for number, index in pairs(history.moved) do
      add(number)
      add(index)
      head.moved = head.moved + 1
    end
  end
  flush()
  parts[first] = json.encode(head) .. "\n"
end

-- ---- from text ----

local function is_count(value) return math.type(value) == "integer" and value >= 0 end

local function all(map, fits)
  if type(map) ~= "table" then return false end
  for key, value in pairs(map) do
    if not fits(value, key) then return false end
  end
  return true
end

local function is_number(value) return type(value) == "number" end

local kinds = { gain = "table", bar = "number", judged = "boolean" } -- where they are there

local function is_epoch(epoch)
  return type(epoch) == "table" and is_count(epoch.from) and type(epoch.name) == "string"
    and (epoch.direction == "higher" or epoch.direction == "lower")
end

local function is_record(one)
  return type(one) == "table" and is_count(one.at) and (one.retained == nil or is_number(one.retained))
end

-- Whether a head is one that head_of made for a history with the same terms; numbers: bytes that follow it.
local function is_whole(history, head, numbers)
  for key, value in pairs(terms_of(history)) do
    if type(head.terms) ~= "table" or head.terms[key] ~= value then return false end
  end
  local sizes = { head.marks or -1, head.kept or -1, head.moved or 0 }
  if not all(sizes, is_count) or numbers ~= 8 * (sizes[1] + sizes[2] + 2 * sizes[3]) then return false end
  for _, name in ipairs(counters) do
    if not is_number(head[name]) then return false end
  end
  for _, name in ipairs(totals) do
    if type(head[name]) ~= "table" then return false end
    for key in pairs(history[name]) do
      if type(head[name][key]) ~= "string" or not tonumber(head[name][key]) then return false end
    end
  end
  for name, kind in pairs(kinds) do
    if head[name] ~= nil and type(head[name]) ~= kind then return false end
  end
  return is_count(head.count) and all(head.outcomes, is_count) and all(head.epochs, is_epoch)
    and all(head.more, function(values) return all(values, is_number) end) and all(head.records, is_record)
end

local function take_numbers(history, head, text, at)
  history.source:resume(unpacked(text, at, head.marks), head.count)
  at = at + 8 * head.marks
  history.kept_lines = unpacked(text, at, head.kept)
  at = at + 8 * head.kept
  if not head.moved then return end
  history.moved = {}
  for pair = 1, head.moved, AT_A_TIME do
    local some = 2 * math.min(AT_A_TIME, head.moved - pair + 1)
    local list = unpacked(text, at + 16 * (pair - 1), some)
    for place = 1, some, 2 do history.moved[list[place]] = list[place + 1] end
  end
end

-- Makes a new history what the packed one was, if that was folded under the same terms: true; or false: it is of no
-- use then. The text begins at byte `from` of the one given.
function packed.restore(history, text, from)
  local stop = text:find("\n", from, true)
  local head = stop and json.decode(text:sub(from, stop - 1), true)
  if type(head) ~= "table" or not is_whole(history, head, #text - stop) then return false end
  for _, name in ipairs(counters) do history[name] = head[name] end
  for _, name in ipairs(totals) do
    for key in pairs(history[name]) do history[name][key] = tonumber(head[name][key]) end
  end
  history.outcomes, history.gain, history.bar, history.judged = head.outcomes, head.gain, head.bar, head.judged
  for id, values in pairs(head.more) do history.more[id] = table.move(values, 1, #values, 1, {}) end
  for _, epoch in ipairs(head.epochs) do history:begin_metric(epoch.name, epoch.direction, epoch.from) end
  take_numbers(history, head, text, stop + 1)
  for name, one in pairs(head.records) do
    if not history.source:read(one.at) then return false end
    history[name] = history:at(one.at)
    if not history[name] then return false end
    history[name].retained = one.retained
  end
  return true
end

return packed
