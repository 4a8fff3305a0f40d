-- problems: the hall's list: how each problem's changes are made, and what is known about it. hall.lua runs them in
-- this order and prints the table; provider.lua takes `search`: the C program, the columns of the answer and how many
-- changes one call tries, and `arguments`, the program's others. best and alphaevolve: a value with the digits that
-- were published, and where and when; docs/explain/results.md has the sources.

local AE, AE2, AD = "AlphaEvolve, May 2025", "AlphaEvolve, Nov 2025", "auto-discovery, March 2026"

local circles = { program = "../circle-packing/search.c", columns = 3, changes = 40 }
local networks = { program = "networks.c", columns = 2, changes = 200000 }
local kernels = { program = "kernels.c", columns = 3, changes = 1000000 }
local products = { program = "products.c", columns = 3, changes = 2000000 }

return {
  { name = "circles-26", title = "26 circles in a unit square, sum of radii", search = circles,
    best = { 2.635983085, AE2 }, alphaevolve = { 2.635862756, AE } },
  { name = "circles-32", title = "32 circles in a unit square, sum of radii", search = circles,
    best = { 2.939572771, AE2 }, alphaevolve = { 2.937944, AE } },
  { name = "circles-21", title = "21 circles in a rectangle of perimeter 4, sum of radii", search = circles,
    arguments = { "rectangle" }, best = { 2.365832376, AD }, alphaevolve = { 2.365832133, AE } },
  { name = "network-9", title = "sorting network for 9 values, comparators", search = networks, arguments = { "9" },
    best = { 25, "Floyd, 1964; optimal: Codish et al., 2016" } },
  { name = "network-10", title = "sorting network for 10 values, comparators", search = networks, arguments = { "10" },
    best = { 29, "Waksman, 1969; optimal: Codish et al., 2016" } },
  { name = "network-11", title = "sorting network for 11 values, comparators", search = networks, arguments = { "11" },
    best = { 35, "Shapiro and Green, 1969; optimal: Harder, Dec 2020" } },
  { name = "network-12", title = "sorting network for 12 values, comparators", search = networks, arguments = { "12" },
    best = { 39, "Shapiro and Green, 1969; optimal: Harder, Dec 2020" } },
  { name = "network-13", title = "sorting network for 13 values, comparators", search = networks, arguments = { "13" },
    best = { 45, "Juille" } },
  { name = "kernel-3", title = "branch-free x86 kernel that sorts 3 registers (mov, cmp, cmov), instructions",
    search = kernels, arguments = { "3" }, best = { 11, "AlphaDev, June 2023; optimal: Ullrich and Hack, 2025" } },
  { name = "kernel-4", title = "branch-free x86 kernel that sorts 4 registers (mov, cmp, cmov), instructions",
    search = kernels, arguments = { "4" }, best = { 20, "AlphaDev, June 2023; optimal: Ullrich and Hack, 2025" } },
  { name = "product-3", title = "3x3 matrix product over Z2, products", search = products,
    best = { 23, "Laderman, Jan 1976" }, alphaevolve = { 23, AE .. ", over Z" } },
  { name = "product-4", title = "4x4 matrix product over Z2, products", search = products,
    best = { 47, "AlphaTensor, Oct 2022" } },
  { name = "points-14", title = "14 points in space, (largest / smallest distance)^2",
    search = { program = "points.c", columns = 3, changes = 60 }, best = { 4.165783475, AD },
    alphaevolve = { 4.165849767, AE } },
  { name = "triangles-11", title = "Heilbronn: 11 points in a triangle, smallest area",
    search = { program = "triangles.c", columns = 2, changes = 200 }, best = { 0.036529890, AE },
    alphaevolve = { 0.036529890, AE } },
  { name = "steps-50", title = "second autocorrelation inequality with 50 steps, ratio",
    search = { program = "steps.c", columns = 1, changes = 5 }, best = { 0.905304, "LLM4AD, 2026, steps not stated" },
    alphaevolve = { 0.896280, AE } },
  { name = "ruler-11", title = "Golomb ruler with 11 marks, length",
    search = { program = "rulers.c", columns = 1, changes = 40 }, best = { 72, "optimal" } },
}
