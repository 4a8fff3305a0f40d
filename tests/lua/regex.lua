-- regex: PCRE2 in the shape of the string library; bad patterns are told, catastrophic ones end.
local tap = require "tap"
local regex = require "apsis.regex"
local test, equal, raises = tap.test, tap.equal, tap.raises

local function all(...) return { n = select("#", ...), ... } end
local function re(pattern, flags) return assert(regex.compile(pattern, flags)) end

test("match gives the captures, or the whole match without groups", function()
  equal(all(re("\\d+"):match("ab 12 cd")), { n = 1, "12" })
  equal(all(re("(\\w)=(\\d+)"):match("a=1 b=2")), { n = 2, "a", "1" })
  equal(all(re("x"):match("abc")), { n = 1 })
  equal(all(re("(a)|(b)"):match("b")), { n = 2, false, "b" })
  equal(all(re("(a)|b"):match("b")), { n = 1, false })
  equal(all(re("()a"):match("a")), { n = 1, "" })
  equal(re("a\\0b"):match("xa\0b"), "a\0b")
end)

test("init is as in string.match", function()
  local pattern = re("a(\\d)")
  equal(pattern:match("a1a2", 2), "2")
  equal(pattern:match("a1a2", -2), "2")
  equal(pattern:match("a1a2", -100), "1")
  equal(pattern:match("a1a2", 100), nil)
  equal(pattern:match("a1a2", 0), "1")
  equal(pattern:match("a1a2", math.mininteger), "1")
  equal(pattern:match("a1a2", math.maxinteger), nil)
  equal(re(""):match("ab", 3), "")
  equal(re(""):match("ab", 4), nil)
  equal(re("^b"):match("ab", 2), nil)
  equal(re("(?<=a)b"):match("ab", 2), "b")
end)

test("find gives the span, then the captures", function()
  equal(all(re("b(c)?"):find("abcd")), { n = 3, 2, 3, "c" })
  equal(all(re("b"):find("abcd")), { n = 2, 2, 2 })
  equal(all(re(""):find("abc", 3)), { n = 2, 3, 2 })
  equal(all(re("x"):find("abc")), { n = 1 })
end)

test("flags: i, m, s, x and u", function()
  equal(re("ABC", "i"):match("xabc"), "abc")
  equal(re("^b$"):match("a\nb\nc"), nil)
  equal(re("^b$", "m"):match("a\nb\nc"), "b")
  equal(re("a.b"):match("a\nb"), nil)
  equal(re("a.b", "s"):match("a\nb"), "a\nb")
  equal(re("a b # c", "x"):match("ab"), "ab")
  equal(re("^.$"):match("é"), nil)
  equal(re("^.$", "u"):match("é"), "é")
  equal(re("É", "iu"):match("é"), "é")
  raises("unknown flag 'g' %(known: i m s x u%)", regex.compile, "a", "g")
end)

test("with u, bytes that are no UTF-8 are no error", function()
  equal(re("\\d+", "u"):match("\xFF\xFE 12 \xC3"), "12")
  equal(re(".", "u"):match("\xFFa"), "a")
  equal((re("a", "u"):gsub("\xFFa\xFFa", "b")), "\xFFb\xFFb")
end)

test("a bad pattern is refused with its offset", function()
  local value, message, code = regex.compile("a(b")
  equal({ value, code }, { nil, "EREGEX" })
  tap.matches(message, "^EREGEX: missing closing parenthesis at offset 3$")
  for _, pattern in ipairs { "[", "*", "a{2,1}", "(?<n>a)(?<n>b)", "\\", "(?P<", ("("):rep(1000) } do
    equal(select(3, regex.compile(pattern)), "EREGEX", pattern)
  end
end)

test("a catastrophic pattern ends with EREGEX_LIMIT", function()
  for _, pattern in ipairs { "(a+)+$", "(?:a|a)*$", "(a*)*b", "^(([a-z])+.)+[A-Z]([a-z])+$" } do
    local value, message, code = re(pattern):match(("a"):rep(60) .. "!")
    if value == nil and message ~= nil then
      equal(code, "EREGEX_LIMIT", pattern)
      tap.matches(message, "^EREGEX_LIMIT: ")
    end
  end
  equal(select(3, re("(a+)+$"):match(("a"):rep(60) .. "!")), "EREGEX_LIMIT")
  equal(select(3, re("(a+)+$"):find(("a"):rep(60) .. "!")), "EREGEX_LIMIT")
  equal(select(3, re("(a+)+$"):gsub(("a"):rep(60) .. "!", "")), "EREGEX_LIMIT")
  raises("EREGEX_LIMIT", function()
    for _ in re("(a+)+$"):gmatch(("a"):rep(60) .. "!") do end
  end)
end)

test("a long subject that needs much stack still matches", function()
  local subject = ("ab"):rep(100000)
  equal(re("^(?:(a)|b)*$"):match(subject) ~= nil, true)
end)

test("gmatch goes over all matches, empty ones too", function()
  local function list(pattern, subject, flags)
    local out = {}
    for a, b in re(pattern, flags):gmatch(subject) do out[#out + 1] = b and a .. ":" .. b or a end
    return out
  end
  equal(list("\\w+", "one two"), { "one", "two" })
  equal(list("(\\w)=(\\d)", "a=1,b=2"), { "a:1", "b:2" })
  equal(list("x*", "axb"), { "", "x", "", "" })
  equal(list("", "ab"), { "", "", "" })
  equal(list("", "é", "u"), { "", "" })
  equal(list("$", "a\nb", "m"), { "", "" })
  equal(list("a", ""), {})
  equal(list("(?=a)", "aa"), { "", "" })
  equal(list("a\\K", "aa"), { "", "" })
  local closed = re "a"
  closed:close()
  raises("closed", closed.gmatch, closed, "a")
  for _, wrong in ipairs { {}, false } do raises("string expected, got", re("a").gmatch, re("a"), wrong) end
end)

test("gsub replaces by a string with %0 to %9", function()
  equal(all(re("(\\w+) (\\w+)"):gsub("one two", "%2 %1 %0 %%")), { n = 2, "two one one two %", 1 })
  equal((re("\\d"):gsub("a1b2", "<%0>")), "a<1>b<2>")
  equal((re("\\d"):gsub("a1b2", "<%1>")), "a<1>b<2>")
  equal(all(re("a"):gsub("aaa", "b", 2)), { n = 2, "bba", 2 })
  equal(all(re("a"):gsub("aaa", "b", 0)), { n = 2, "aaa", 0 })
  equal((re("x*"):gsub("abc", "-")), "-a-b-c-")
  equal((re("(a)|b"):gsub("ab", "[%1]")), "[a][]")
  equal(all(re("(a)|b"):gsub(("b"):rep(99), "%1-%1")), { n = 2, ("-"):rep(99), 99 })
  equal((re("", "u"):gsub("éa", "-")), "-é-a-")
  equal((re("a"):gsub("a", "%%1\0")), "%1\0")
  equal((re("\\n"):gsub("a\nb", ("x"):rep(5000))), "a" .. ("x"):rep(5000) .. "b")
  raises("use %%0 to %%9", re("a").gsub, re("a"), "a", "%x")
  raises("use %%0 to %%9", re("a").gsub, re("a"), "b", "x%")
  equal((re("b"):gsub("abc", "<%0%1>%%")), "a<bb>%c")
  raises("there is no group %%2", re("b").gsub, re("b"), "b", "%2")
  raises("there is no group %%2", re("(a)").gsub, re("(a)"), "b", "%2")
end)

test("gsub calls a function with the captures; nil and false keep the match", function()
  equal(all(re("(\\w)(\\d)"):gsub("a1 b2", function(a, b) return b .. a end)), { n = 2, "1a 2b", 2 })
  equal((re("\\d"):gsub("a1b2", function(d) return d == "1" and 10 or nil end)), "a10b2")
  raises("must return a string, not a table", re("a").gsub, re("a"), "a", function() return {} end)
  raises("boom", re("a").gsub, re("a"), "a", function() error "boom" end)
end)

test("a function given to gsub may use the same regex, and may not close it unseen", function()
  local pattern = re("(\\d)")
  equal((pattern:gsub("1 2", function(d) return pattern:match("9" .. d) .. (pattern:gsub(d, "%1%1")) end)), "911 922")
  raises("closed its regex", pattern.gsub, pattern, "1 2", function() pattern:close() end)
  raises("closed", pattern.match, pattern, "1")
end)

test("a function given to gsub may yield in a coroutine's sense only by an error", function()
  local pattern = re("a")
  local co = coroutine.create(function() return pattern:gsub("a", coroutine.yield) end)
  equal(coroutine.resume(co), false)
end)

test("names gives the index of each named group", function()
  equal(re("(?<year>\\d+)-(x)-(?<day>\\d+)"):names(), { year = 1, day = 3 })
  equal(re("a"):names(), {})
end)

test("close is idempotent, and mistakes in the call raise", function()
  local pattern = re("a")
  pattern:close()
  pattern:close()
  raises("closed", pattern.match, pattern, "a")
  raises("expected", regex.compile, {})
  raises("expected", re("a").match, re("a"))
  raises("expected", re("a").gsub, re("a"), "a")
  do local _ <close> = re("a") end
end)

tap.done()
