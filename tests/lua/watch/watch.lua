-- watch: its parts that need no terminal: keys, the curve, what a screen lets through, the best path.
local columns = require "apsis.cli.columns"
local captured = require "apsis.cli.captured"
local curves = require "apsis.view.curve"
local keys = require "apsis.watch.keys"
local lists = require "apsis.watch.list"
local now = require "apsis.watch.now"
local paths = require "apsis.watch.path"
local plots = require "apsis.watch.plot"
local screen = require "apsis.watch.screen"
local tap = require "tap"
local wait = require "apsis.wait"
local words = require "apsis.cli.words"

tap.test("an experiment that is measured elsewhere shows where, and for how long it has been there", function()
  local slot = { experiment = 12, phase = "VERIFY", operator = "exploitation", parents = { "c0011" },
    started = wait.time() - 100, since = wait.time() - 61, where = "on n2" }
  tap.matches(now.worker(slot), "^    12  measuring      1:0%d  exploitation of c0011 on n2$")
  tap.matches(words.flight({ slot, slot }, true), "^experiment 12: measuring on n2 for 1:0%d %(exploitation%)\nexp")
  slot.where = "queued on main"
  tap.matches(now.worker(slot), "^    12  queued         1:0%d  exploitation of c0011 on main$")
  tap.matches(words.flight({ slot }, true), "^experiment 12: queued on main for 1:0%d %(exploitation%)$")
  tap.equal(words.flight({ slot }, false), "experiment 12: queued on main when apsis last looked (exploitation)")
  slot.where = nil
  tap.matches(now.worker(slot), "^    12  measuring      1:4%d  exploitation of c0011$")
end)

tap.test("keys have names, whatever sequence a terminal sends for them", function()
  tap.equal({ keys.read "a\27[A\27OB\27[5~\27[1;5C\r\127é" }, { { "a", "up", "down", "pageup", "right", "enter",
    "backspace", "é" }, "" })
end)

tap.test("half a key waits for its rest, an unknown sequence is no key", function()
  tap.equal({ keys.read "x\27" }, { { "x" }, "\27" })
  tap.equal({ keys.read "x\27[1" }, { { "x" }, "\27[1" })
  tap.equal({ keys.read "x\xC3" }, { { "x" }, "\xC3" })
  tap.equal({ keys.read "\27[99~\27[?25h\0\1y\xFF\xFFz" }, { { "y", "z" }, "" })
  tap.equal({ keys.read "\27q" }, { { "esc", "q" }, "" })
  tap.equal({ keys.read "\27[<0;10;10Mq\27[[Aq\27[200~q" }, { { "q", "q", "q" }, "" })
  tap.equal({ keys.read "\27[\3" }, { { "esc", "[", "ctrl-c" }, "" })
  tap.equal({ keys.read "x\27[[" }, { { "x" }, "\27[[" })
end)

tap.test("no text controls the terminal: a row shows escape sequences, C1 and marks of direction as text", function()
  local hostile = "a\27]0;PWNED\7b\u{9b}31mc\u{202e}d\ne\tf\xFFg\0h"
  local text = screen.compose({ { hostile, "red" }, { hostile } }, 200)
  tap.equal(text:find "[%c\127-\xFF]", nil)
  tap.matches(text, "PWNED")
end)

tap.test("a row is no wider than the screen, by columns: wide characters take two, marks none", function()
  tap.equal(columns.of "\u{65E5}\u{672C}e\u{301}\u{1F680}\xE2\x96\x87\u{2827}", 9)
  tap.equal(columns.of "ab\xFF", 3)
  tap.equal(screen.compose({ { "\u{65E5}\u{672C}" }, { "\u{8A9E}\u{1F680}" } }, 7), "\u{65E5}\u{672C}\u{8A9E}~")
  tap.equal(screen.compose({ { "\u{65E5}\u{672C}" }, { "\u{8A9E}" } }, 6), "\u{65E5}\u{672C}\u{8A9E}")
  tap.equal(columns.cut("e\u{301}e\u{301}e\u{301}", 2), "e\u{301}~")
  tap.equal(screen.compose({ { "ééé" }, { "ééé" } }, 5), "éééé~")
  tap.equal(screen.compose("0123456789", 10), "0123456789")
  tap.equal(screen.compose({ { "0123456789" }, { "more" } }, 10), "0123456789")
end)

-- A curve of `count` lines, of which the values fall.
local function falling(count)
  local curve = curves.new()
  for number = 1, count do
    local value = 1000 - number / 100
    curve:add(number % 10 == 1 and "kept" or "reverted_worse_metric", number % 7 > 0 and value or nil, value)
  end
  return curve
end

tap.test("a curve has a point for each line, and few of very many; none of the range is lost", function()
  tap.equal(#falling(500):points(), 500)
  local long = falling(50000)
  tap.equal(#long:points() <= 1024 and #long:points() >= 512, true, #long:points() .. " points")
  tap.equal(long.series.lines, 50000)
  local low, high = math.huge, -math.huge
  for _, point in ipairs(long:points()) do
    low, high = math.min(low, point.low or low), math.max(high, point.high or high)
  end
  tap.equal({ low, high }, { 500.0, 999.99 })
  tap.equal(long:points()[#long:points()].best, 500.0)
end)

tap.test("one far value does not hide the others, every best is in sight", function()
  local curve = curves.new()
  curve:add("baseline", 10, 10)
  for number = 1, 40 do curve:add("reverted_worse_metric", 9 + number % 3, 10) end
  curve:add("reverted_worse_metric", 1e9, 10)
  curve:add("kept", -20, -20)
  tap.equal(curve:range(), { low = -20, high = 11 })
end)

tap.test("values that are no numbers are not drawn", function()
  local curve = curves.new()
  for _, value in ipairs { 0 / 0, math.huge, -math.huge } do curve:add("reverted_worse_metric", value, value) end
  tap.equal(plots.rows(curve, 60, 8, false), {})
  curve:add("kept", 3, 3)
  tap.equal(#plots.rows(curve, 60, 8, false), 8)
  tap.equal(plots.rows(curve, 12, 8, false), {})
end)

local function text_of(rows)
  local lines = {}
  for index, row in ipairs(rows) do lines[index] = screen.compose(row, 40) end
  return table.concat(lines, "\n")
end

tap.test("a picture in ASCII: the best so far as a line, kept candidates and others as marks", function()
  local curve = curves.new()
  curve:add("baseline", 10, 10)
  curve:add("reverted_worse_metric", 5, 10)
  curve:add("kept", 0, 0)
  tap.equal((text_of(plots.rows(curve, 32, 3, false)):gsub(" +\n", "\n"):gsub(" +$", "")),
    "        10 *--------------------\n" .. (" "):rep(21) .. ".         -\n         0" .. (" "):rep(21) .. "*")
end)

tap.test("a list keeps what is selected in sight, and stays within its ends", function()
  local list = lists.new { count = function() return 100 end, row = function(place) return "row " .. place end }
  local function shown() return screen.compose(list:rows(20, 5)[1], 20) end
  shown()
  for _ = 1, 7 do list:key "down" end
  tap.equal(shown(), "  row 4")
  list:key "end"
  tap.equal(shown(), "  row 96")
  list:key "pagedown"
  list:key "home"
  list:key "up"
  tap.equal(shown(), "> row 1")
  tap.equal(list:key "x", false)
end)

tap.test("a path ends where a journal names a candidate as its own ancestor", function()
  local a = { id = "c0001", experiment = 1, outcome = "kept", value = 1, parents = { "c0002" }, commit = "a" }
  local b = { id = "c0002", experiment = 2, outcome = "kept", value = 2, parents = { "c0001" }, commit = "b" }
  local known = { c0001 = a, c0002 = b }
  local page = paths.new { history = { best = a, get = function(_, id) return known[id] end }, home = "/",
    reader = { metric = require "apsis.direction".new { name = "x" } } }
  tap.equal(page:count(), 1)
end)

tap.test("what a command prints is taken, its message too, and its failure leaves print as it was", function()
  local before = print
  tap.equal({ captured(function(args)
    print("a", args.x)
    io.stdout:write "b"
    io.stderr:write "c\n"
    return 2, "d"
  end, { x = 1 }) }, { "a\t1\nbc\nd\n", 2 })
  tap.raises("broken", captured, function() error "broken" end, {})
  tap.equal(print == before and io.type(io.stdout), "file")
end)

tap.done()
