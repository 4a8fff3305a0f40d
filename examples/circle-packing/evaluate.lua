-- evaluate: the metric. Prints the sum of the radii of packing.lua; exits 1 without a metric if the packing is
-- invalid.
local circles, reason = dofile("rules.lua").read("packing.lua")
if not circles then
  io.stderr:write("invalid packing: ", reason, "\n")
  os.exit(1)
end
local sum = 0
for _, circle in ipairs(circles) do sum = sum + circle[3] end
print(("METRIC sum_radii=%.15g"):format(sum))
