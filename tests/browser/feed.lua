-- feed.lua JOURNAL FROM TO: appends lines of experiments to a journal, with words that would do harm as markup.
local json = require "apsis.json"
local path, from, to = arg[1], tonumber(arg[2]), tonumber(arg[3])
local words = { '</script><script>window.harm = "script"</script>', '<img src=x onerror="window.harm=1">',
  "a\r\n\r\ndata: {}\nevent: whole\n\n", "\u{2028}\u{2029}\u{202e}\27[31m\27]0;t\7", "<!--<script>",
  "'\"><svg onload=window.harm=2>", "__proto__", "constructor" }
local out = assert(io.open(path, "a"))
for number = from, to do
  local text, first = words[number % #words + 1], number == 0
  out:write(json.encode { experiment = number, candidate = ("c%04d"):format(number), primary_metric = number, best = number,
    outcome = first and "baseline" or number % 3 == 0 and "reverted_worse_metric" or "kept", operator = text, strategy = text,
    description = text, hypothesis = text, parents = json.array(first and {} or { ("c%04d"):format(number - 1), text }),
    notes = { island = text }, seconds = 6, tokens = 3, cost = 0.5, run = 1 }, "\n")
end
out:close()
