-- fuzz_regex: flags in the first line, a pattern in the second, the subject below. Whatever they are, each function answers or refuses
-- with the documented codes, matches lie in the subject and are the same for all of them; of a pattern without a special character
-- string.find is the second opinion.
local regex = require "apsis.regex"

debug.sethook() -- of apsis only C runs here

local SUBJECT_BYTES <const> = 100 -- a pattern may use up its limit at each place, which takes milliseconds

local function refused(code, message)
  assert(code == "EREGEX" or code == "EREGEX_LIMIT", code)
  assert(message:sub(1, #code + 2) == code .. ": ")
end

local function check_captures(subject, captures)
  for index = 1, captures.n do
    local capture = captures[index]
    assert(capture == false or type(capture) == "string" and subject:find(capture, 1, true), "a capture that is not in the subject")
  end
end

-- The first match from init; whether there was one.
local function check_first(re, subject, init)
  local found, matched = table.pack(re:find(subject, init)), table.pack(re:match(subject, init))
  if found[1] == nil then
    assert(matched[1] == nil and matched.n == found.n)
    if found.n > 1 then refused(found[3], found[2]) end
    return false
  end
  local first, last = found[1], found[2]
  assert(first >= 1 and first <= #subject + 1 and last >= first - 1 and last <= #subject, "a match outside the subject")
  local captures = table.pack(table.unpack(found, 3, found.n))
  check_captures(subject, captures)
  if captures.n == 0 then
    assert(matched.n == 1 and matched[1] == subject:sub(first, last))
  else
    assert(matched.n == captures.n)
    for index = 1, matched.n do assert(matched[index] == captures[index]) end
  end
  return true, first, last
end

-- All matches: gmatch and gsub find as many; what keeps every match keeps the subject.
local function check_all(re, subject)
  local count = 0
  local ok, message = pcall(function()
    for capture in re:gmatch(subject) do
      assert(capture == false or type(capture) == "string")
      count = count + 1
    end
  end)
  assert(count <= 2 * #subject + 1, "more matches than places")
  if not ok then refused(message:match "(EREGEX[_A-Z]*): ", message:match "EREGEX.*") end
  for _, replacement in ipairs { "%0", function() end } do
    local text, changes, code = re:gsub(subject, replacement)
    if text == nil then
      refused(code, changes)
      assert(not ok)
    else
      assert(ok and changes == count and text == subject, "gsub is not what gmatch finds")
    end
  end
end

return function(bytes)
  local flags, pattern, subject = bytes:match "^([imsxu]*)\n([^\n]*)\n?(.*)$"
  if not flags then return end
  subject = subject:sub(1, SUBJECT_BYTES)
  local compiled, message, code = regex.compile(pattern, flags)
  if not compiled then
    assert(code == "EREGEX")
    local offset = message:match "^EREGEX: .+ at offset (%d+)$"
    assert(tonumber(offset) <= #pattern)
    return
  end
  local re <close> = compiled
  local matched, first, last = check_first(re, subject)
  if not flags:find "[ix]" and not pattern:find "[^%w ,;:<>=_-]" then
    local start, stop = subject:find(pattern, 1, true)
    assert(matched == (start ~= nil) and first == start and last == stop, "string.find says otherwise")
  end
  check_first(re, subject, #subject // 2 + 1)
  check_first(re, subject, -1)
  check_all(re, subject)
  for name, index in pairs(re:names()) do assert(#name > 0 and index >= 1) end
end
