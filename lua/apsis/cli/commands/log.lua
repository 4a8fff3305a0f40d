-- log: the experiments so far, from the journal: a table, its lines, two other schemas, or the
-- lineage drawn.
local common = require "apsis.cli.common"
local graph = require "apsis.cli.log_graph"
local json = require "apsis.json"
local lines = require "apsis.core.line"
local near_miss = require "apsis.live.near_miss"
local protocol = require "apsis.cli.autoresearch"
local reader = require "apsis.live.reader"
local show = require "apsis.cli.table"
local suggest = require "apsis.suggest"

local log = { place = 80, summary = "the experiments so far", example = "apsis log -n 20 --outcome kept,baseline" }

function log.options(parser)
  common.project_argument(parser)
  parser:option("--format",
    "text; json: the journal's lines; autoresearch: the METRIC protocol's; pi-autoresearch: its log's")
    :choices { "text", "json", "autoresearch", "pi-autoresearch" }:default "text"
  parser:flag("--json", "the same as --format json")
  parser:flag("--graph", "draw the lineage, newest candidate first, with operator, island and value")
  parser:option("-n --count", "only the newest N"):convert(math.tointeger):argname "N"
  parser:option("--outcome", "only these, separated by commas: kept,reverted_worse_metric"):argname "OUTCOMES"
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

-- Keeps the newest `count` items.
local function newest(count)
  local list, first = {}, 1
  return {
    add = function(item)
      list[#list + 1] = item
      if count and #list - first >= count then
        list[first] = false
        first = first + 1
      end
    end,
    all = function() return table.move(list, first, #list, 1, {}) end,
  }
end

local function row_of(line, dir)
  local parents = line.proposal and line.proposal.measure or line.parents
  return { tostring(line.experiment), line.candidate or "-", line.outcome, show.number(line.primary_metric),
    show.delta(line.delta), show.mark(line), show.line(line.operator, 16), table.concat(parents or {}, " "),
    show.lines(line.changed_lines), show.what(line, dir) }
end

local head = { "#", "candidate", "outcome", "value", "delta", "", "operator", "parents", "lines", "what" }
local right = { true, false, false, true, true, false, false, false, true }
local spare = { 9, 8, 7, 5, 1 } -- columns that a narrow terminal drops: --graph and show have them

local function say_near_misses(self)
  local near = self.last.near_misses
  if type(near) ~= "table" or not near.line then return end
  print("near misses: " .. near_miss.first(near, show.line))
end

local function print_table(self, rows)
  print(("%s, %s"):format(self.metric.name, self.metric:words()))
  print(table.concat(show.columns(head, rows, right, show.width(), spare), "\n"))
  say_near_misses(self)
end

-- The journal's lines, byte for byte.
local function print_lines(self, args, wanted)
  local kept = newest(args.count)
  for text in self.session.journal:lines() do
    if not wanted or wanted[json.decode(text).outcome] then kept.add(text) end
  end
  for _, text in ipairs(kept.all()) do print(text) end
end

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

local takers = {
  text = row_of,
  json = function() end,
  graph = function(line, dir) return line.candidate and graph.node(line, dir) or nil end,
}
takers.autoresearch = function(line) return line.status and line or nil end
takers["pi-autoresearch"] = takers.autoresearch

function log.run(args)
  if args.count and args.count < 1 then return 2, ("-n: must be 1 or more, not %d"):format(args.count) end
  local wanted, unknown = wanted_outcomes(args.outcome)
  if wanted == false then return 2, unknown end
  local form, clash = form_of(args)
  if not form then return 2, clash end
  local kept = newest(args.count)
  local self, message, code = reader.configure(args.dir)
  if not self then return code, message end
  local take = takers[form]
  local ok
  ok, message, code = self:fold(function(line)
    if wanted and not wanted[line.outcome] then return end
    local item = take(line, self.home)
    if item then kept.add(item) end
  end)
  if not ok then return code, message end
  if self.history.count == 0 then
    return 3, ("no experiments yet: run `apsis baseline%s` first"):format(show.at(args.dir))
  end
  if form == "json" then print_lines(self, args, wanted)
  elseif form == "graph" then
    local width = show.width()
    for _, text in ipairs(graph.draw(kept.all(), width)) do print(show.cut(text, width)) end
  elseif form == "autoresearch" then protocol.write(self, kept.all())
  elseif form == "pi-autoresearch" then protocol.write_pi(self, kept.all())
  else print_table(self, kept.all()) end
  return 0
end

return log
