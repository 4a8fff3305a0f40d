-- regex: every function of apsis.regex, for allocations.c: `return run, prepare`.
return function(step)
  local regex = require "apsis.regex"
  step("compile refuses", function()
    local re, message, code = regex.compile "("
    assert(re == nil and code == "EREGEX", message)
  end)
  step("match, find, names", function()
    local re <close> = assert(regex.compile("(?<key>\\w+)=(?<value>\\d+)(x)?", "imsxu"))
    local key, value, third = re:match "some key=12 there"
    assert(key == "key" and value == "12" and third == false)
    local first, last = re:find("a=1 b=2", 4)
    assert(first == 5 and last == 7 and re:names().value == 2)
    assert(re:match "nothing" == nil)
  end)
  step("gmatch", function()
    local found = {}
    for word in assert(regex.compile "[a-z]+"):gmatch "one two three" do found[#found + 1] = word end
    assert(table.concat(found, ",") == "one,two,three")
  end)
  step("gsub", function()
    local re = assert(regex.compile "(\\d)(\\d)")
    assert(re:gsub("12 34 56", "%2%1", 2) == "21 43 56")
    assert(re:gsub("12 34", function(a) return a == "1" and "one" or nil end) == "one 34")
    assert(re:gsub(("12"):rep(300), "%0%0") == ("1212"):rep(300))
    re:close()
    re:close()
  end)
  step("gsub raises", function()
    local re = assert(regex.compile "(a)")
    for _, bad in ipairs { "%9", "%" } do
      local ok, message = pcall(re.gsub, re, "a", bad)
      assert(not ok)
      if message:find "memory" then error(message, 0) end
    end
    local ok, message = pcall(re.gsub, re, "a", function() error "mine" end)
    assert(not ok)
    if not message:find "mine" then error(message, 0) end
  end)
  step("a limit", function()
    local re = assert(regex.compile "(a+)+$")
    local found, message, code = re:match(("a"):rep(60) .. "b")
    assert(found == nil and (code == nil or code == "EREGEX_LIMIT"), message)
  end)
end
