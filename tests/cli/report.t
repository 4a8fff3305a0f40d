#!/bin/bash
# apsis report, and the page that `lab --html` writes: of an empty journal, a baseline, a run that goes on, ten thousand lines, and
# names that would do harm as markup; opened in headless Chromium at the width of a phone and of a desk, in light and dark. What
# runs in the browser is not ours to sanitize: under APSIS_SANITIZED that part is left out.
. "$(dirname "$0")/lib.sh"

item "an empty journal makes a page that says so, and a word on stderr"
new_project empty
apsis report
is "exit" "$code" 0
is "the path is printed" "$out" "$PWD/runs/report.html"
like "the next step is said" "$err" "no experiments yet.*apsis baseline"
cp runs/report.html "$T/empty.html"
end_item

item "a baseline alone is a page"
new_project baseline
apsis baseline
apsis report --out "$T/baseline.html"
is "exit" "$code" 0
is "the path is printed" "$out" "$T/baseline.html"
is "nothing else is said" "$err" ""
ok "nothing is written elsewhere" test ! -e runs/report.html
end_item

item "a finished run: the same bytes each time, to a file or to standard output"
apsis run --iterations 12 -q
apsis report -C . --out "$T/run.html"
"$APSIS" report --out - >"$T/again.html"
ok "the same" cmp "$T/run.html" "$T/again.html"
apsis report --json
is "exit" "$code" 0
like "its data as JSON" "$out" '"best":\{"id":"c0012","value":12\}'
like "the direction is in it" "$out" '"words":"higher is better"'
end_item

item "--svg is a picture of the same run: a mark for each measured candidate, the best so far as a line"
apsis report --svg
is "the path is printed" "$out" "$PWD/runs/report.svg"
is "a mark for each" "$(grep -c '<circle' runs/report.svg)" 13
ok "it is XML" python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' runs/report.svg
ok "the same bytes each time" cmp runs/report.svg <("$APSIS" report --svg --out -)
sed -i 's/^metric: {name: score/metric: {name: "<b>\&\"x"/; s/METRIC score/METRIC x/' manifest.yaml
apsis report --svg
ok "a name is text" python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' runs/report.svg
git checkout -q manifest.yaml
new_project nothing
apsis report --svg
like "without experiments it says so" "$(cat runs/report.svg)" "nothing is measured yet"
cd ../baseline || exit 1
end_item

item "what cannot be is refused, and nothing is written"
apsis report --json --out x.html
is "--json and --out" "$code" 2
ok "no file" test ! -e x.html
apsis report --out "$T/no/such/dir/x.html"
is "a folder that is not there" "$code" 3
like "is named" "$err" "no/such/dir"
apsis report --open perhaps
is "--open is yes or no" "$code" 2
apsis report "$T/home"
is "no project" "$code" 2
printf '{"experiment":\n' >>logs/results.jsonl
apsis report --out x.html
is "a damaged journal" "$code" 3
like "its line is named" "$err" "results.jsonl:14"
ok "no file" test ! -e x.html
end_item

item "a run that goes on can be looked at, and goes on"
new_project live
PROVIDER="provider: {kind: command, run: [sh, -c, 'touch $T/started; exec sleep 30'], timeout_sec: 60, retries: 0}"
write_manifest
git add -A && git commit -qm slow
apsis baseline
"$APSIS" run --iterations 1 -q >/dev/null 2>&1 &
runner=$!
at_end+=("kill -INT $runner 2>/dev/null; wait $runner 2>/dev/null")
for _ in $(seq 1200); do [ -e "$T/started" ] && break; nap 0.1; done
apsis report --json
like "it runs" "$out" '"status":"running"'
ok "and still does" kill -0 "$runner"
kill -INT "$runner"
wait "$runner"
apsis report --json
like "it was interrupted" "$out" '"status":"interrupted"'
end_item

item "ten thousand lines are a page of less than 2 MB"
new_project many
mkdir logs
count_of_lines=10000
[ -z "${APSIS_SANITIZED:-}" ] || count_of_lines=1000
apsis exec "$ROOT/tests/browser/journal.lua" logs/results.jsonl "$count_of_lines"
apsis report --out "$T/many.html"
is "exit" "$code" 0
ok "its size" test "$(stat -c %s "$T/many.html")" -lt 2000000
end_item

item "what a model or a user said is data, not markup"
new_project hostile
cat >"$T/lines.lua" <<'LUA'
local json = require "apsis.json"
local said = { '</script><script>window.harm = "script"</script>', '<img src=x onerror="window.harm=1">',
  "\u{2028}\u{2029}\u{202e}\27[31m\27]0;t\7", "<!--<script>", "{{data}}{{script}}%1", "'\"><svg onload=window.harm=2>", "__proto__" }
local out = io.open("logs/results.jsonl", "w")
for number = 0, 20 do
  local text = said[number % #said + 1]
  out:write(json.encode { experiment = number, candidate = ("c%04d"):format(number), primary_metric = number, best = number,
    outcome = number == 0 and "baseline" or "kept", operator = text, strategy = text, description = text, hypothesis = text,
    parents = json.array(number > 0 and { ("c%04d"):format(number - 1), text } or { text }), secondary_metrics = { [text] = 1 },
    notes = { cell = text, island = text, features = { [text] = text, size = number } },
    seconds = 1, tokens = 3, cost = 0.1, run = 1 }, "\n")
end
LUA
mkdir logs
apsis exec "$T/lines.lua"
sed -i "s|^metric:.*|metric: {name: '<i>score</i>', direction: lower, extractor: {type: stdout_regex, regex: 'score=(.*)'}}|" manifest.yaml
sed -i "s|name: tiny|name: tiny, description: '</title><script>window.harm=3</script>'|" manifest.yaml
apsis report --out "$T/hostile.html"
is "exit" "$code$err" 0
"$APSIS" exec "$ROOT/tests/browser/lab.lua" >"$T/lab-hostile.html"
"$APSIS" exec "$ROOT/tests/browser/lab.lua" empty >"$T/lab-empty.html"
for page in hostile lab-hostile; do
    unlike "$page: nothing of it is an element" "$(cat "$T/$page.html")" '<(img|i>|svg)'
done
end_item

item "a run whose first steps are steep"
new_project steep
cat >"$T/steep.lua" <<'LUA'
local json = require "apsis.json"
local out = io.open("logs/results.jsonl", "w")
for number = 0, 200 do
  local value = number < 20 and number / 20 or 1 + number * 1e-9
  out:write(json.encode { experiment = number, candidate = ("c%04d"):format(number), primary_metric = value, best = value, run = 1,
    outcome = number == 0 and "baseline" or "kept", parents = json.array {}, operator = "exploitation" }, "\n")
end
LUA
mkdir logs
apsis exec "$T/steep.lua"
apsis report --out "$T/steep.html"
is "exit" "$code$err" 0
end_item

item "runs under noise: one whose gain was measured anew, one whose best was kept since, and one that gained nothing"
new_project noisy
cat >"$T/noisy.lua" <<'LUA'
local json = require "apsis.json"
local kind = arg[1]
local out = io.open("logs/results.jsonl", "w")
local function add(number, fields)
  fields.experiment, fields.run, fields.operator = number, 1, fields.operator or "exploitation"
  fields.parents = json.array { number > 0 and "c0000" or nil }
  if fields.outcome ~= "measured" then fields.candidate = ("c%04d"):format(number) end
  out:write(json.encode(fields), "\n")
end
add(0, { outcome = "baseline", primary_metric = 10, best = 10, acceptance = { state = {} } })
add(1, { outcome = "reverted_worse_metric", primary_metric = 19, best = 10,
  acceptance = { verdict = "rejected", why = "screened out after 7 <i>measurements</i>" } })
add(2, { outcome = "kept", primary_metric = 16, best = 16, acceptance = { verdict = "kept", why = "kept: capital" } })
local gain = { gain = 3.25, low = 1.5, high = 5, relative = 0.3251, pairs = 20, candidate = "c0002", original = "c0000" }
if kind == "nothing" then gain.low = -1.5 end
if kind == "exact" then gain.low, gain.high, gain.exact, gain.pairs = 3.25, 3.25, true, 1 end
add(3, { outcome = "measured", operator = "final", best = 16, acceptance = { final = true, gain = gain } })
if kind == "since" then add(4, { outcome = "kept", primary_metric = 15, best = 15, acceptance = { verdict = "kept", why = "kept" } }) end
LUA
mkdir logs
for kind in gained since nothing exact; do
    apsis exec "$T/noisy.lua" "$kind"
    apsis report --out "$T/$kind.html"
    is "$kind: exit" "$code$err" 0
done
end_item

item "the picture that an evaluator left is an image, whatever is in it"
new_project picture
cat >evaluate.sh <<'SH'
cat >"$APSIS_ARTIFACTS/picture.svg" <<'SVG'
<svg xmlns="http://www.w3.org/2000/svg" width="300" height="200" onload="window.top.harm = 'onload'; window.harm = 1">
<script>window.top.harm = "script"; parent.harm = "script"</script><image href="https://example.org/x.png" width="9" height="9"/>
<foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="https://example.org/"></iframe></foreignObject>
<rect width="300" height="200" fill="#07c"/></svg>
SVG
echo METRIC score=1
SH
git commit -qam picture
apsis baseline
apsis report --out "$T/picture.html"
is "exit" "$code$err" 0
unlike "nothing of it is markup" "$(cat "$T/picture.html")" '<svg|foreignObject|onload'
like "it is in the page's data" "$(cat "$T/picture.html")" '"picture":\{"id":"c0000","source":"data:image/svg\+xml;base64,[A-Za-z0-9+/=]+"\}'
drawn=runs/0000_baseline/artifacts/picture.svg
mv $drawn "$T/real.svg" && ln -s "$T/real.svg" $drawn
apsis report --out "$T/linked.html"
unlike "a link is not followed" "$(cat "$T/linked.html")" "image/svg"
rm $drawn && mkfifo $drawn
apsis report --out "$T/fifo.html"
unlike "a FIFO is not read" "$(cat "$T/fifo.html")" "image/svg"
rm $drawn && head -c 1048577 /dev/zero >$drawn
apsis report --out "$T/large.html"
unlike "more than 1 MiB is left out" "$(cat "$T/large.html")" "image/svg"
end_item

item "a page of a journal that somebody changed is marked, and so is the JSON"
rm $drawn
apsis report --json
is "not changed" "$(json altered)" null
sed -i 's/"primary_metric":1,/"primary_metric":1000,/' logs/results.jsonl
apsis report --out "$T/altered.html"
is "exit" "$code" 0
like "in the page's data" "$(cat "$T/altered.html")" '"altered":"logs/results.jsonl:1: this is not the line that apsis wrote there'
apsis report --json
like "as JSON" "$(json altered)" "logs/results.jsonl:1: this is not the line"
end_item

item "lab --html writes its page"
apsis lab hillclimb openevolve --world onemax:n=10 --world sphere --seeds 3 --evaluations 60 --html "$T/lab.html"
is "exit" "$code" 0
told=$out
ok "a page" grep -q 'data-kind="lab"' "$T/lab.html"
end_item

if [ -n "${APSIS_SANITIZED:-}" ]; then
    finish
fi

cd "$T" || exit 1
LIMIT=300 capture python3 "$ROOT/tests/browser/browse.py" --views phone,desktop,phone-dark empty.html baseline.html run.html many.html \
    hostile.html steep.html gained.html since.html nothing.html exact.html picture.html altered.html lab-hostile.html lab-empty.html lab.html
printf '%s\n' "$out" >looked
is "the browser opens every page" "$code $(wc -l <looked)$err" "0 45"
code='' out='' err=''

# of_all EXPRESSION: the pages and views of which it is not true, of what was found there, d.
of_all() {
    python3 - "$1" <<'PY'
import json, sys
for line in open("looked"):
    d = json.loads(line)
    if not eval(sys.argv[1]):
        print(d["page"], d["view"], {key: d[key] for key in d if key in sys.argv[1]})
PY
}

# of_page PAGE EXPRESSION: its value for a page on the phone.
of_page() {
    python3 - "$1" "$2" <<'PY'
import json, sys
for line in open("looked"):
    d = json.loads(line)
    if (d["page"], d["view"]) == (sys.argv[1], "phone"):
        print(eval(sys.argv[2]))
PY
}

is "every page is drawn to its end" "$(of_all 'd["drawn"]')" ""
is "no page complains in the console" "$(of_all 'd["errors"] == []')" ""
is "no page asks the network for anything" "$(of_all 'd["requests"] == [] and d["images"] == (d["page"] == "picture.html")')" ""
is "no page is wider than its window" "$(of_all 'd["overflow"] <= 0 and d["wide"] == []')" ""
is "on a phone no cell and no bar's text is cut or out of sight" "$(of_all 'd["view"] == "desktop" or d["cut"] == []')" ""
is "every chart has points, and is painted" "$(of_all 'all(one["points"] > 0 and one["painted"] for one in d["canvases"])')" ""
is "every chart and table says what it is" "$(of_all 'd["unlabelled"] == 0 and all(one["label"] for one in d["canvases"])')" ""
is "light is light, and dark is dark" \
    "$(of_all '(sum(map(int, __import__("re").findall(r"\d+", d["background"]))) < 200) == d["view"].endswith("dark")')" ""
is "nothing said by a model or a user has run, or become an element" \
    "$(of_all 'd["harm"] == "none" and not {"img", "iframe", "i"} & set(d["elements"]) - ({"img"} if d["page"] == "picture.html" else set())')" ""
is "a picture is drawn, and keeps to the window" "$(of_all 'd["page"] != "picture.html" or d["pictures"] == [300]')" ""

item "the page of a run shows what happened"
is "its charts" "$(of_page run.html 'len(d["canvases"])')" 2
like "the first says how it went, in words" "$(of_page run.html 'd["canvases"][0]["label"]')" \
    "score over 13 lines of the journal, higher is better: the best is 12 \(c0012\); 13 kept, 0 rejected"
is "the whole tree" "$(of_page run.html 'd["trees"]')" "[13]"
like "the direction" "$(of_page run.html 'd["text"]')" "higher is better"
is "ten thousand candidates are in the tree" "$(of_page many.html 'd["trees"]')" "[10000]"
is "a steep beginning is marked at the edge, and in the picture when asked for" "$(of_page steep.html 'd["ranges"]')" \
    "[['best so far baseline and kept (181) rejected (0) kept, beyond the axis (20)', 'best so far baseline and kept (201) rejected (0)', \
'best so far baseline and kept (181) rejected (0) kept, beyond the axis (20)']]"
is "others have no such switch" "$(of_page many.html 'd["ranges"]')" "[]"
is "values that differ by little are told apart" \
    "$(of_page steep.html 'len({row[1] for name, rows in d["tables"] if name == "The best candidates" for row in rows})')" 20
like "a change of the journal stands on the page" "$(of_page altered.html 'd["text"]')" "Altered: logs/results.jsonl:1: this is not the line"
unlike "of others it does not" "$(of_page run.html 'd["text"]')" "Altered"
like "how much was gained" "$(of_page run.html 'd["text"]')" "\+12 against the baseline's 0, in 12 experiments"
like "and each step of it" "$(of_page run.html 'd["text"]')" $'\nc0012[^\n]*\n\\+1, 8.{1,2}% of the gain, to 12\n'
like "who proposed what was kept, over the run" "$(of_page run.html \
    '[row for name, rows in d["tables"] if name == "Kept by operator" for row in rows]')" "^\\[\\['exploitation', '12', '12', '100.*%', ''\\]\\]\$"
like "what to know before believing it" "$(of_page run.html 'd["text"]')" "Trust.*sandbox"
is "an empty page has no chart" "$(of_page empty.html 'd["canvases"], d["trees"]')" "([], [])"
like "and says why" "$(of_page empty.html 'd["text"]')" "No experiments yet"
is "a baseline is a tree of one" "$(of_page baseline.html 'd["trees"]')" "[1]"
end_item

item "the page of a run under noise tells what was gained, and not luck"
gained=$(of_page gained.html 'd["text"]')
like "the gain with its interval, of whom" "$gained" $'gained, measured again\n3.25 \\[1.5..5\\]\n32.5.{1,2}%, c0002 against c0000'
like "and how it was measured" "$gained" "Each was measured 20 times more, in random order, after everything was chosen"
unlike "instead of the difference by what chose it" "$gained" $'against the baseline\n|no gain is shown|not been measured again'
is "what was kept stands in the table" "$(of_page gained.html \
    '[[row[0] for row in rows] for name, rows in d["tables"] if name == "The best candidates"]')" "[['c0002', 'c0000']]"
is "what was rejected has its own, with the reason" "$(of_page gained.html \
    '[row[:3] for name, rows in d["tables"] if name == "Rejected candidates" for row in rows]')" \
    "[['c0001', '19', 'screened out after 7 <i>measurements</i>']]"
is "the final comparison is no operator" "$(of_page gained.html '"\nfinal" in d["text"]')" False
since=$(of_page since.html 'd["text"]')
like "of a best that was kept since, the difference is by what chose it" "$since" \
    $'against the baseline\n\\+5\nfrom 10 \\(\\+50.%\\), by the measurements that chose it'
like "and the gain is the earlier one's" "$since" "c0002, the best before, had gained 3.25 \[1.5..5\] against c0000"
like "an interval around 0 shows no gain" "$(of_page nothing.html 'd["text"]')" "0 is within it: no gain is shown"
like "what did not vary has no interval" "$(of_page exact.html 'd["text"]')" $'\n3.25\n32.5.{1,2}%, c0002'
like "and says why" "$(of_page exact.html 'd["text"]')" "Both were the same when they were measured again"
unlike "a run without acceptance says nothing of it" "$(of_page run.html 'd["text"]')" "chose|measured again|Rejected|luck"
end_item

item "the page of a campaign shows each world"
for heading in "onemax:n=10" sphere "Best so far" Runtimes Operators Islands Comparisons; do
    is "$heading" "$(of_page lab.html "'$heading' in d['headings']")" True
done
is "better is said where the verdict says so: in words, the overview and the comparisons of the hostile page" \
    "$(of_page lab-hostile.html 'd["text"].split("\n").count("worse") + sum(line.endswith("\tworse") for line in d["text"].split("\n"))')" 4
# The order of the strategies in each world's table is the terminal's.
for world in onemax sphere; do
    is "the best stands first on $world" \
        "$(of_page lab.html "[row[0].split()[0] for name, rows in d['tables'] if name.startswith('Results on $world') for row in rows]")" \
        "$(printf '%s\n' "$told" | sed -n "/^$world/,/^\$/{n;n;n;p;n;p;q}" | awk '{printf "%s\047%s\047", (NR > 1 ? ", " : "["), $1} END {print "]"}')"
done
is "the one that leads stands first: no gain is negative, no ratio above 1" "$(of_page lab.html \
    '[row for name, rows in d["tables"] if name.startswith("Comparisons") for row in rows if row[2][0] not in "+0"
        and not (row[2][0] == "×" and float(row[2][1:].split()[0]) <= 1)]')" "[]"
solved=$(printf '%s\n' "$told" | awk '/^onemax/ {on = 1} on && $1 == "openevolve" {print $4; exit}')
like "solved as in the terminal, and of how many" "$(of_page lab.html \
    '{row[0].split()[0]: row[3] for name, rows in d["tables"] if name == "Results on onemax:n=10" for row in rows}["openevolve"]')" \
    "^${solved%\%} % \([0-3] of 3\)\$"
is "the verdicts over all worlds, as the terminal has them" "$(of_page lab.html \
    '[(row[1], row[4], row[5]) for name, rows in d["tables"] if name == "Over all worlds" for row in rows][:1]')" "[('no difference shown', '0 of 2', '0')]"
is "a verdict, its ratio, and the worlds behind it" "$(of_page lab-hostile.html \
    '[row[1:6] for name, rows in d["tables"] if name == "Over all worlds" for row in rows]')" "[['better', '×0.50 [0.40, 0.65]', '0.02', '4 of 6', '1']]"
is "Nemenyi's p of a pair" "$(of_page lab-hostile.html '[row[1] for name, rows in d["tables"] if name == "Pairs by rank" for row in rows]')" "['0.03']"
like "Friedman's, and the ranks" "$(of_page lab-hostile.html 'd["text"]')" "Friedman's test over 6 worlds: p = 0.004. Mean ranks: .* 1.25, .* 1.75"
like "the unit of running times" "$(of_page lab-hostile.html 'd["text"]')" "The simulated seconds of the first over those of the second"
like "who ended early is said under the table" "$(of_page lab-hostile.html 'd["text"]')" \
    "20 of 20 runs ended early, 84.{1,2}% of their evaluations unspent"
is "and marked in the overview, the tables, fresh seeds too, and the comparisons" "$(of_page lab-hostile.html \
    'sum("ended early" in cell for name, rows in d["tables"] for row in rows for cell in row)')" 14
like "and where its line is paler" "$(of_page lab-hostile.html 'd["text"]')" "Paler: no run goes on there"
unlike "which is said of no other" "$(of_page lab.html 'd["text"] if "ended early" not in d["text"] else ""')" "Paler"
like "an interrupted campaign says so" "$(of_page lab-hostile.html 'd["text"]')" "interrupted: 20 of 100 seeds"
unlike "and a whole one does not" "$(of_page lab.html 'd["text"]')" "interrupted"
like "what is called false is said" "$(of_page lab.html 'd["text"]')" \
    "new bests that were truly no better than the one before, mean of the runs"
like "what would be a tag stands as text" "$(of_page lab-hostile.html 'd["text"]')" '<img src=x onerror="window.harm = 1">'
like "what would be a script stands as text" "$(of_page hostile.html 'd["text"]')" '</script><script>window.harm = "script"</script>'
unlike "no escape sequence and no turn of direction is shown" "$(of_page hostile.html 'ascii(d["text"])')" '\\x1b|\\u202e|\\u2028'
like "lower is better is stated" "$(of_page lab-hostile.html 'd["text"]')" "lower is better"
like "a campaign without results says so" "$(of_page lab-empty.html 'd["text"]')" "No results"
end_item

finish
