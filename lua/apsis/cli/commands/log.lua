-- log: the experiments so far, from the journal: a table (newest first), its lines, two other schemas, or the lineage
-- drawn.
local common = require "apsis.cli.common"
local graph = require "apsis.cli.log_graph"
local lines = require "apsis.core.line"
local near_miss = require "apsis.live.near_miss"
local plain = require "apsis.project.plain"
local protocol = require "apsis.cli.autoresearch"
local reader = require "apsis.live.reader"
local show = require "apsis.cli.table"
local suggest = require "apsis.suggest"
local terminal = require "apsis.cli.terminal"

local log = { place = 80, pages = true, summary = "the experiments so far, most recently finished first",
  example = "apsis log -n 20 --outcome kept,baseline" }

function log.options(parser)
  common.project_argument(parser)
  parser:option("--format",
    "text; json: the journal's lines; autoresearch: the METRIC protocol's; pi-autoresearch: its log's")
    :choices { "text", "json", "autoresearch", "pi-autoresearch" }:default "text"
  parser:flag("--json", "the same as --format json")
  parser:flag("--graph", "draw the lineage, newest candidate first, with operator, island and value")
  parser:option("-n --count", "only the newest N; also -N, as in apsis log -3"):convert(math.tointeger):argname "N"
  parser:flag("--reverse", "oldest first; --json and --format always are")
  parser:option("--outcome", "only these, separated by commas: kept,reverted_worse_metric"):argname "OUTCOMES"
  parser:option("--operator", "only these operators' experiments, separated by commas"):argname "OPERATORS"
end

-- The wanted outcomes as a set; nil for all; false and a message if one is unknown.
local function wanted_outcomes(text)
  if not text then return nil end
  local wanted, known = {}, show.sorted(lines.status_of)
  for name in text:gmatch("[^,%s]+") do
    if lines.status_of[name] == nil then
      return false, ("--outcome: no outcome %q%s; outcomes: %s"):format(name, suggest.sentence(name, known),
        table.concat(known, ", "))
    end
    wanted[name] = true
  end
  return wanted
end

local head = { "#", "candidate", "outcome", "value", "delta", "", "operator", "parents", "lines", "what" }
local right = { true, false, false, true, true, false, false, false, true }
local OUTCOME, VALUE, colours = 3, 4, { outcome = "bold", baseline = "bold", kept = "green" }
local spare = { 9, 8, 7, 5, 1 } -- columns that a narrow terminal drops: --graph and show have them

-- names: of the metrics that make up the value, which have columns of their own.
local function row_of(line, dir, names)
  local parents = line.proposal and line.proposal.measure or line.parents
  local row = { tostring(line.experiment), line.candidate or "-", line.outcome, show.number(line.primary_metric),
    show.delta(line.delta), show.marked(line), show.line(line.operator, 16),
    show.line(table.concat(parents or {}, " ")), show.lines(line.changed_lines), show.what(line, dir) }
  for index, name in ipairs(names) do
    table.insert(row, VALUE + index, show.number((line.secondary_metrics or {})[name]))
  end
  return row
end

-- Head, alignment and spare columns with columns for these metrics after the value's.
local function with_columns(names)
  local first, to_right, droppable = table.move(head, 1, #head, 1, {}), table.move(right, 1, #right, 1, {}), {}
  for index, name in ipairs(names) do
    table.insert(first, VALUE + index, show.line(name, 20))
    table.insert(to_right, VALUE + index, true)
  end
  for index, column in ipairs(spare) do droppable[index] = column > VALUE and column + #names or column end
  if #names > 0 then droppable[#droppable + 1] = VALUE end
  return first, to_right, droppable
end

local function say_near_misses(self)
  local near = self.last.near_misses
  if type(near) ~= "table" or not near.line then return end
  print("near misses: " .. near_miss.first(near, show.line))
end

-- Every record from the newest to the oldest, until visit(index) is true. true | nil, message.
local function backward(history, visit)
  for index = history.count, 1, -1 do
    local record, refused = history:whole(index)
    if not record then return nil, refused end
    if visit(index, record) then break end
  end
  return true
end

-- The records to show, as walk(visit), which calls visit(record, index, text) for each, newest first (without the text)
-- if asked, and at most the args.count newest ones. fits(record): which.
local function chosen(self, args, fits, newest_first)
  local history, journal = self.history, self.session.journal
  if not args.count and not newest_first then
    return function(visit)
      return history:each(function(record, index, text)
        if fits(record) then visit(record, index, text) end
      end)
    end
  end
  return function(visit)
    local list, count = {}, 0
    local ok, refused = backward(history, function(index, record)
      if not fits(record) then return false end
      count = count + 1
      if newest_first then visit(record, index) else list[count] = index end
      return count == args.count
    end)
    if not ok then return nil, refused end
    for place = #list, 1, -1 do visit(history:at(list[place]), list[place], journal:text(list[place])) end
    return true
  end
end

local printers = {}

function printers.text(self, walk)
  local heading = ("%s, %s\n"):format(self.metric.name, self.metric:words())
  local names = self.manifest.metric.names or {}
  local first, to_right, droppable = with_columns(names)
  local ok, message = show.table(first, function(visit)
    return walk(function(line) visit(row_of(line, self.home, names)) end)
  end, to_right, show.width(), droppable, nil, function(line, row)
    io.stdout:write(terminal.safe(heading .. terminal.paint(line, colours[row[OUTCOME]])), "\n")
    heading = ""
  end)
  if ok then say_near_misses(self) end
  return ok, message
end

-- The journal's lines, byte for byte, but for what a terminal would not show: a journal may come from elsewhere.
function printers.json(_, walk)
  return walk(function(_, _, text) print(plain.json(text)) end)
end

-- Newest first.
function printers.graph(self, walk)
  local history, shown, width = self.history, {}, show.width()
  local ok, message = walk(function(_, index) shown[index] = true end)
  if not ok then return nil, message end
  local place = graph.draw(function(id)
    local record = history:get(id)
    return record ~= nil and shown[history:line_of(record.experiment)]
  end, width)
  for index = history.count, 1, -1 do
    if shown[index] then print(show.cut(place(graph.node(history:at(index), self.home)), width)) end
  end
  return true
end

printers.autoresearch, printers["pi-autoresearch"] = protocol.write, protocol.write_pi

-- The form that --graph, --json and --format ask for; nil and a message if they contradict.
local function form_of(args)
  local form = args.json and "json" or args.format
  if args.json and args.format:find "autoresearch" then
    return nil, ("--json is --format json, not %s: leave one of them out"):format(args.format)
  end
  if not args.graph then return form end
  if form ~= "text" then
    return nil, ("--graph is drawn as text: leave it out, or %s"):format(args.json and "--json" or "--format " .. form)
  end
  return "graph"
end

-- Which records a form can show.
local shows = {
  graph = function(line) return line.candidate ~= nil end,
  autoresearch = function(line) return line.status ~= nil end,
}
shows["pi-autoresearch"] = shows.autoresearch

-- Whether a record is asked for and can be shown; nil and a message if the options name what does not exist.
local function filter(args, form)
  local wanted, unknown = wanted_outcomes(args.outcome)
  if wanted == false then return nil, unknown end
  local operators
  for name in (args.operator or ""):gmatch "[^,%s]+" do
    operators = operators or {}
    operators[name] = true
  end
  return function(line)
    return (not wanted or wanted[line.outcome] ~= nil) and (not operators or operators[line.operator] ~= nil)
      and (not shows[form] or shows[form](line))
  end
end

function log.run(args)
  if args.count and args.count < 1 then return 2, ("-n: must be 1 or more, not %d"):format(args.count) end
  local form, clash = form_of(args)
  if not form then return 2, clash end
  local fits, unknown = filter(args, form)
  if not fits then return 2, unknown end
  local self, message, code = reader.with_lines(args.dir)
  if not self then return code, message end
  local ok, refused = printers[form](self, chosen(self, args, fits, form == "text" and not args.reverse))
  if not ok then return 3, refused end
  return 0
end

return log
