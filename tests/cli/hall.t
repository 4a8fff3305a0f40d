# The hall of results: every trivial start is measured, every verifier refuses wrong answers and answers that cheat, and
# every search program gives valid answers, the same ones for the same seed. What the searches reach is docs/explain/results.md.
. tests/cli/lib.sh
mkdir "$T/tmp" "$T/examples" && export TMPDIR=$T/tmp

cp -r "$ROOT/examples/circle-packing" "$ROOT/examples/hall" "$T/examples" && cd "$T/examples" || exit 1
rm -rf {circle-packing,hall/*}/{logs,runs,.apsis}
git init -q . && commit

# at FOLDER: verify answers there. verdict_of: the value of the answer on stdin, or "refused: WHY".
at() {
    cd "$T/examples/$1" || exit 1
    file=$(sed -n 's/.*path: \([a-z]*.lua\), mode: writable.*/\1/p' manifest.yaml)
    verifier=$(sed -n 's/.*run: \[apsis, exec, \(.*\)\], timeout_sec.*/\1/p' manifest.yaml | tr -d ',"')
    start=$(cat $file)
}
verdict_of() {
    cat >$file
    # shellcheck disable=SC2086
    apsis exec $verifier
    printf '%s' "$out$err" | sed 's/^METRIC [a-z_]*=//'
}
start_with() { printf '%s\n' "$start" | sed "$1" | verdict_of; } # the start, changed by sed

# ---- circles, with tolerance 0 ----
at circle-packing
is "26 circles: the start" "$(printf '%s\n' "$start" | verdict_of)" 0.8125
is "a circle of the size of the gap is refused one part in 2^53 later" \
    "$(start_with '6s/0.03125 }/0.03125 * (1 + 2^-50) }/')" "refused: circles 1 and 2 overlap"
is "a circle leaves the square by 2^-50" "$(start_with '6s/.*/  { 0.03125 - 2^-50, 0.875, 0.03125 },/')" \
    "refused: a circle leaves the square"
is "and not at the wall" "$(start_with '6s/.*/  { 0.03125, 0.875, 0.03125 },/')" 0.8125
is "a number too fine to be exact" "$(start_with '6s/0.0625, 0.0625/0.0625 + 2^-70, 1e-300/')" \
    "refused: circle 1 has a number that is no multiple of 2^-60, or is too large"
is "a negative radius" "$(start_with '6s/0.03125 }/-0.03125 }/')" "refused: circle 1 has a negative radius"
is "one circle too few" "$(start_with 6d)" "refused: 25 circles, not 26"
is "infinity" "$(start_with '6s/0.03125 }/1 \/ 0 }/')" "refused: packing.lua: row 1 has a value that is not a finite number"
is "no number" "$(start_with '6s/0.03125 }/0 \/ 0 }/')" "refused: packing.lua: row 1 has a value that is not a finite number"
is "text" "$(start_with '6s/0.03125 }/"0.03125" }/')" "refused: packing.lua: row 1 has a value that is not a finite number"
is "no way to the process" "$(echo 'os.exit(0)' | verdict_of)" \
    "refused: packing.lua:1: attempt to index a nil value (global 'os')"
is "nor to the judge's functions" "$(start_with '1i math.type = nil; table.unpack = nil; ipairs = nil')" 0.8125
is "an endless candidate is stopped" "$(echo 'while true do end' | verdict_of)" "refused: stopped after 200000000 instructions"
export APSIS_ARTIFACTS=$T
printf '%s\n' "$start" | verdict_of >/dev/null
is "it draws every circle" "$(grep -c '<circle' "$T/picture.svg")" 26
unset APSIS_ARTIFACTS
at hall/circles-32
is "32 circles: the start" "$(printf '%s\n' "$start" | verdict_of)" 1
at hall/circles-21
is "21 circles: the start" "$(printf '%s\n' "$start" | verdict_of)" 0.65625
is "the rectangle may be anywhere, and has perimeter 4" "$(start_with '3s/.*/  { 1.6875, 0.0625, 0.03125 },/')" 0.65625
is "not more" "$(start_with '3s/.*/  { 1.6875 + 2^-50, 0.0625, 0.03125 },/')" \
    "refused: the rectangle's perimeter is more than 4"

# ---- sorting ----
for problem in 9:36 10:45 11:55 12:66 13:78; do
    at hall/network-${problem%:*}
    is "network of ${problem%:*}: the start" "$(printf '%s\n' "$start" | verdict_of)" "${problem#*:}"
done
at hall/network-9
like "a network without its first comparator" "$(start_with 3d)" "refused: it does not sort the sequence [0-9]"
is "a comparator of one wire" "$(start_with '3s/.*/  { 1, 1 },/')" \
    "refused: comparator 1 is not of two wires i < j from 1 to 9"
is "of a wire beyond" "$(start_with '3s/.*/  { 1, 64 },/')" "refused: comparator 1 is not of two wires i < j from 1 to 9"
is "between two wires" "$(start_with '3s/.*/  { 1, 2.5 },/')" "refused: comparator 1 is not of two wires i < j from 1 to 9"
like "nothing" "$(echo 'return {}' | verdict_of)" "refused: it does not sort"
at hall/kernel-3
is "kernel of 3: the start" "$(printf '%s\n' "$start" | verdict_of)" 12
like "without its last instruction" "$(start_with 14d)" "refused: it does not sort"
is "another instruction" "$(start_with '3s/.*/  { 5, 1, 2 },/')" "refused: instruction 1 is none of 1 to 4"
is "another register" "$(start_with '3s/.*/  { 1, 5, 1 },/')" "refused: instruction 1 names a register that is none of 1 to 4"
is "what was in the free register" "$(start_with '3i { 1, 1, 4 },')" \
    "refused: instruction 1 reads a register before it is set"
is "flags that nobody set" "$(start_with '3i { 3, 1, 2 },')" \
    "refused: instruction 1 reads the flags before cmp has set them"
echo 'return { {1,4,1},{2,1,2},{4,1,2},{4,2,4} }' >"$T/two.lua"
like "only two of three" "$(verdict_of <"$T/two.lua")" "refused: it does not sort"
at hall/kernel-4
is "kernel of 4: the start" "$(printf '%s\n' "$start" | verdict_of)" 24

# ---- matrices ----
at hall/product-3
is "3x3: the start" "$(printf '%s\n' "$start" | verdict_of)" 27
like "without a product" "$(start_with 3d)" "refused: entry 0 of the first matrix times entry 0 of the second is added wrongly"
like "with one twice: over Z2 that is none" "$(start_with '3{p}')" "is added wrongly"
is "with one three times: that is one" "$(start_with '3{p;p}')" 29
is "an entry beyond" "$(start_with '3s/{ 1,/{ 512,/')" "refused: product 1 has a part that is none of 1 to 2^9 - 1"
at hall/product-4
is "4x4: the start" "$(printf '%s\n' "$start" | verdict_of)" 64

# ---- points, steps, marks ----
at hall/points-14
is "points: the start" "$(printf '%s\n' "$start" | verdict_of)" 9.000000000001
is "two at one place" "$(start_with '4s/0.25/0/')" "refused: two points are the same"
is "one too few" "$(start_with 3d)" "refused: 13 points, not 14"
at hall/triangles-11
is "triangles: the start" "$(printf '%s\n' "$start" | verdict_of)" 0.001953124999
is "three on a line" "$(start_with '3s/.*/  { 0, 0 },/; 4s/.*/  { 0.25, 0.25 },/; 5s/.*/  { 0.5, 0.5 },/')" 0.000000000000
is "one outside by 2^-50" "$(start_with '3s/.*/  { 0.5, 0.5 + 2^-50 },/')" "refused: point 1 is outside the triangle"
at hall/steps-50
is "steps: the start, which is two thirds" "$(printf '%s\n' "$start" | verdict_of)" 0.666666666666
is "a negative height" "$(start_with '3s/1/-1/')" "refused: height 1 is negative"
is "51 heights" "$(start_with '3{p}')" "refused: 51 steps, not 50"
is "nothing but 0" "$(printf '%s\n' "$start" | sed 's/{ 1 }/{ 0 }/' | verdict_of)" "refused: all heights are 0"
at hall/ruler-11
is "ruler: the start" "$(printf '%s\n' "$start" | verdict_of)" 1023
is "a distance twice" "$(start_with '5s/3/2/')" "refused: the distance 1 occurs twice"
is "a mark between whole numbers" "$(start_with '4s/1/1.5/')" "refused: mark 2 is no whole number from 0 up"
is "marks in disorder" "$(start_with '5s/3/0/')" "refused: mark 3 is not above the one before"
is "the shortest one of all" "$(printf 'return {' | cat - <(printf '{%s},' 0 1 4 13 28 33 47 54 64 70 72) <(echo '}') | verdict_of)" 72

# ---- the searches ----
cd "$T/examples" && git checkout -q . || exit 1
sed -i 's/changes = [0-9]*/changes = 3/' hall/problems.lua
cat >"$T/ask.lua" <<'LUA'
-- Two answers of each problem's provider for one seed.
local fs, random = require "apsis.fs", require "apsis.random"
local file = fs.stat "packing.lua" and "packing.lua" or "answer.lua"
local propose = assert(loadfile "mutate.lua")(fs.cwd() .. "/mutate.lua")
local text = fs.read(file)
local function ask() return propose({}, { rng = random.stream(1), read = function() return text end })[file] end
assert(ask() == ask(), "the answers differ")
io.write(ask())
LUA
for folder in circle-packing $(echo hall/*-*); do
    at "$folder"
    apsis exec "$T/ask.lua"
    is "$(basename "$folder"): the search answers, and the same again" "$code$err" 0
    value=$(printf '%s\n' "$out" | verdict_of)
    like "$(basename "$folder"): the answer is valid" "$value" '^[0-9.]+$'
done

at circle-packing
git checkout -q . && rm -rf runs logs .apsis
apsis baseline
CC=/no/such/compiler apsis run --iterations 1
is "without a compiler a run does not begin" "$code" 4
like "and apsis shows what is missing" "$err" "provider.use: cannot compile .*/search.c: .*the example needs a C compiler"
unlike "without a trace of the script" "$err" "stack traceback"

cd "$T/examples" && SEEDS=1 SECONDS=2 ONLY=kernel-3 apsis exec hall/hall.lua
is "the table's script runs" "$code" 0
line "and prints a row" "$out" "^\| branch-free x86 kernel that sorts 3 registers .* \| 11 \(AlphaDev"
ONLY=nothing apsis exec hall/hall.lua
is "a problem that is not there is named" "$code $err" "1 hall: problems.lua has no problem nothing"
is "and nothing is left behind" "$(ls "$TMPDIR")" ""
finish
