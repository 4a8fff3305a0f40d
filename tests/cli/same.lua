-- same: `apsis exec same.lua OLD NEW [KEY...]`: whether each value of one JSON text, or of its lines, is in another one
-- too. So what an old program printed is compared with what a newer one prints, which may print more. KEYs are not
-- compared.
local json = require "apsis.json"

local ignored, problems = {}, {}
for index = 3, #arg do ignored[arg[index]] = true end

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "a"
  file:close()
  local whole = json.decode(text)
  if whole then return whole end
  local lines = {}
  for line in text:gmatch "[^\n]+" do lines[#lines + 1] = assert(json.decode(line)) end
  return lines
end

local function compare(old, new, path)
  if type(old) ~= "table" or type(new) ~= "table" then
    if old ~= new then problems[#problems + 1] = ("%s: %s, was %s"):format(path, tostring(new), tostring(old)) end
    return
  end
  if #new ~= #old then problems[#problems + 1] = ("%s: %d entries, were %d"):format(path, #new, #old) end
  for key, value in pairs(old) do
    if not ignored[key] then compare(value, new[key], path .. "." .. key) end
  end
end

compare(read(arg[1]), read(arg[2]), "")
table.sort(problems)
print(table.concat(problems, "\n", 1, math.min(#problems, 20)))
os.exit(#problems == 0 and 0 or 1)
