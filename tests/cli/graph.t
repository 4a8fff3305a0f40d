#!/bin/sh
# log --graph of a population: operator, island and value, crossovers as joined lanes, and lanes that run out.
. tests/cli/lib.sh
scripted p
cat > islands.lua <<'LUA'
local plans = {
  { parents = { "c0000" }, operator = "exploration", notes = { island = 1 } },
  { parents = { "c0000" }, operator = "exploration", notes = { island = "sp\27[31marse" } },
  { parents = { "c0001", "c0002" }, operator = "crossover", notes = { island = 2.0 } },
  { parents = { "c0003", "c0002" }, operator = "migration", notes = { island = { "no name" } } },
}
return { plan = function(run) return plans[run.experiment] end }
LUA
printf '%s\n' '1 one' '1.5 two' '1.25 both' '1.7512345678 grafted' > edits.txt
commit "islands"
"$APSIS" baseline > /dev/null 2>&1
apsis run --strategy islands.lua --workers 1 -q
is "the run ends well" "$code" 0
is "a crossover is a commit with two parents" "$(git rev-list --parents -n 1 refs/apsis/p/c0003 | wc -w)" 3
is "and so is a migration" "$(git rev-list --parents -n 1 refs/apsis/p/c0004 | wc -w)" 3
apsis log --graph
is "log --graph draws it" "$code" 0
line "an island's number" "$out" 'c0001 kept exploration island 1 '
line "an island's name, without its escape sequence" "$out" 'c0002 kept exploration island sp \[31marse '
line "a whole number has no fraction; the value follows" "$out" 'c0003 [a-z_]+ crossover island 2 [0-9.]+ \('
line "what is no name is no island" "$out" 'c0004 [a-z_]+ migration -?[0-9.]+ \('
is "both parents of a crossover are joined" "$(printf '%s\n' "$out" | sed 's/  c0.*//')" '*-.
o-+
| *
*-+
  *'
if script -qec true /dev/null > /dev/null 2>&1; then
    out=$(script -qec "stty cols 60; NO_COLOR=1 APSIS_PAGER=cat '$APSIS' log --graph" /dev/null | tr -d '\r')
    is "a line fits the terminal" "$(printf '%s\n' "$out" | wc -L)" 60
    line "with operator, island and value" "$out" "crossover island 2 [0-9.]+ "
fi

cat > drawn.lua <<'LUA'
return function(nodes, width)
  local known, lines = {}, {}
  for _, node in ipairs(nodes) do known[node.id] = true end
  local place = require "apsis.cli.log_graph".draw(function(id) return known[id] end, width)
  for index = #nodes, 1, -1 do lines[#lines + 1] = place(nodes[index]) end
  return lines
end
LUA
cat > many.lua <<'LUA'
local nodes = {}
local function add(id, ...) nodes[#nodes + 1] = { id = id, parents = { ... }, kept = false, text = id .. " told" } end
for number = 1, 99 do add("p" .. number) end
for number = 1, 98 do add("k" .. number, "p" .. number, "p" .. number + 1) end
local width, places, named = tonumber(arg[1]), 0, 0
local lines = dofile "drawn.lua"(nodes, width)
for _, line in ipairs(lines) do
  places = math.max(places, #line:match "^(.-)%w+ ?[%w<,]* told$")
  local list = line:match "<(%S+)"
  for _ in (list or ""):gmatch "p%d+" do named = named + 1 end
end
print(#lines, places, named > 0, lines[1])
local drawn = {}
for _, line in ipairs(lines) do drawn[line:match "([pk]%d+)"] = true end
for _, node in ipairs(nodes) do assert(drawn[node.id], node.id) end
LUA
apsis exec many.lua
is "hundreds of parents do not make hundreds of lanes: others are named" "$out" "197	43	true	o-.  k98 told"
apsis exec many.lua 80
is "on a terminal of 80 columns, most are left for the text" "$out" "197	21	true	o-.  k98 told"
apsis exec many.lua 20
is "a narrow one has some lanes too" "$out" "197	11	true	o-.  k98 told"
cat > few.lua <<'LUA'
local nodes = {}
for text in ("a b c d e f:a,b g:c,d h:e,a"):gmatch "%S+" do
  local id, list = text:match "^(%a):?(.*)$"
  local parents = {}
  for parent in list:gmatch "%a" do parents[#parents + 1] = parent end
  nodes[#nodes + 1] = { id = id, parents = parents, kept = true, text = id .. " told" }
end
for _, line in ipairs(dofile "drawn.lua"(nodes, 1)) do print(line) end
LUA
apsis exec few.lua
is "a parent without a lane is named after its child" "$out" \
    '*-.  h told
| | *-.  g told
| +-|-|-*  f <b told
* | | |  e told
  | | *  d told
  | *  c told
* |  b told
  *  a told'
finish
