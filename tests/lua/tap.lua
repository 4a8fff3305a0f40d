-- tap: what a Lua test needs. A test file is run by `apsis exec`; it names behaviours with test(), and ends with done().
local host = require "apsis.host"
local json = require "apsis.json"

local tap = { count = 0, failed = 0 }

local function show(value)
  if type(value) == "table" then
    local ok, text = pcall(json.encode, value)
    return ok and text or tostring(value)
  end
  return type(value) == "string" and string.format("%q", value) or tostring(value)
end

local function same(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then return a == b end
  for key, value in pairs(a) do
    if not same(value, b[key]) then return false end
  end
  for key in pairs(b) do
    if a[key] == nil then return false end
  end
  return true
end

-- Runs body; the test fails where it raises.
function tap.test(name, body)
  tap.count = tap.count + 1
  local ok, message = xpcall(body, debug.traceback)
  print((ok and "ok " or "not ok ") .. tap.count .. " - " .. name)
  if not ok then
    tap.failed = tap.failed + 1
    io.stderr:write("# ", tostring(message):gsub("\n", "\n# "), "\n") -- prove hides what is on standard output
  end
  io.stdout:flush()
end

-- A test that needs another feature room than its own: skipped in an apsis that is built without it (make check-rooms).
function tap.with_room(room, name, body)
  for _, path in ipairs(host.list "lua/apsis/") do
    if path == ("lua/apsis/%s/room.lua"):format(room) then return tap.test(name, body) end
  end
  tap.count = tap.count + 1
  print(("ok %d - %s # SKIP without %s"):format(tap.count, name, room))
end

function tap.equal(got, expected, what)
  if not same(got, expected) then
    error((what and what .. ": " or "") .. "got " .. show(got) .. ", expected " .. show(expected), 2)
  end
end

function tap.matches(text, pattern, what)
  if type(text) ~= "string" or not text:find(pattern) then
    error((what and what .. ": " or "") .. "got " .. show(text) .. ", expected a match of " .. pattern, 2)
  end
end

function tap.raises(pattern, body, ...)
  local ok, message = pcall(body, ...)
  if ok then error("expected an error matching " .. pattern, 2) end
  tap.matches(tostring(message), pattern)
end

function tap.done()
  print("1.." .. tap.count)
  os.exit(tap.failed == 0 and 0 or 1, true)
end

return tap
