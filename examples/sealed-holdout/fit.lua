-- Prints how far the polynomial of coefficients.txt is from the points of a file: the root of the mean square.
local coefficients, sum, count = {}, 0, 0
for line in io.lines "coefficients.txt" do coefficients[#coefficients + 1] = assert(tonumber(line), "not a number") end
for line in io.lines(arg[1]) do
  local x, y = line:match "^(%S+) (%S+)$"
  local value = 0
  for power = #coefficients, 1, -1 do value = value * tonumber(x) + coefficients[power] end
  sum, count = sum + (value - tonumber(y)) ^ 2, count + 1
end
print(("METRIC error=%.10g"):format(math.sqrt(sum / count)))
