-- graph: draws a lineage with merges, a branch that ends and lanes that are used again; for reading.t.
local graph = require "apsis.cli.log_graph"

local nodes = {}
for line in ("a:+ b:a+ c:a+ d:b- e:bc+ f:c- g:e+ h:ed+ i:z+"):gmatch("%S+") do
  local id, parents, kept = line:match("^(.):(.*)(.)$")
  local list = {}
  for parent in parents:gmatch(".") do list[#list + 1] = parent end
  nodes[#nodes + 1] = { id = id, parents = list, kept = kept == "+", text = id }
end
local known = {}
for _, node in ipairs(nodes) do known[node.id] = true end
local place = graph.draw(function(id) return known[id] end)
for index = #nodes, 1, -1 do print(place(nodes[index])) end
