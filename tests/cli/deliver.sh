# deliver: what the tests of apply and split share. Sourced after lib.sh, from the repository's root.

# deliverable NAME: a project in $T/NAME, the current directory, with a.txt, b.txt and c.txt of 30 lines. The score is the
# sum of the numbers after an x at the start of a line. The edits on standard input are proposed in turn, and each that is
# better is kept: `set FILE LINE TEXT`, `new FILE TEXT`, `rm FILE`, `mv OLD NEW`; several with `;` between. MEASURE_MORE:
# commands of the evaluator before it measures. ITERATIONS: fewer than all edits. FOLDER: the project is in that folder of the repository.
deliverable() {
    local edits
    edits=$(cat)
    mkdir -p "$T/$1/${FOLDER-}" && cd "$T/$1" && git init -q . && cd "./${FOLDER-}" || exit 1
    for file in a b c; do seq 1 30 >$file.txt; done
    printf '%s\n' "${MEASURE_MORE-}" 'echo "METRIC score=$(cat *.txt | awk "/^x/ { sum += substr(\$0, 2) } END { print sum + 0 }")"' >evaluate.sh
    cat >propose.lua <<END
local edits = {}
for line in ([==[$edits]==]):gmatch "[^\n]+" do edits[#edits + 1] = line end
local function set(text, number, new)
  local lines = {}
  for line in text:gmatch "[^\n]*\n" do lines[#lines + 1] = line end
  lines[number] = new .. "\n"
  return table.concat(lines)
end
return function(proposal, work)
  local made, line = {}, edits[proposal.experiment]
  for edit in line:gmatch "[^;]+" do
    local what, path, rest = edit:match "^ *(%S+) (%S+) ?(.-) *$"
    local number, text = rest:match "^(%d+) (.*)$"
    if what == "set" then made[path] = set(made[path] or work:read(path), tonumber(number), text) end
    if what == "new" then made[path] = rest .. "\n" end
    if what == "rm" then made[path] = false end
    if what == "mv" then made[path], made[rest] = false, work:read(path) end
  end
  return made, { hypothesis = line }
end
END
    printf '%s\n' 'logs/' 'runs/' '.apsis/' >.gitignore
    cat >manifest.yaml <<END
version: 1
project: {name: tiny}
files:
  - {path: "*.txt", mode: writable}
  - {path: propose.lua, mode: read_only}
verification:
  commands: [{name: measure, run: sh evaluate.sh, timeout_sec: 10}]
metric: {name: score, direction: ${DIRECTION:-higher}}
strategy: ${STRATEGY:-hillclimb}
provider: {kind: lua, use: propose.lua}
END
    commit start
    "$APSIS" baseline --repeats 1 >/dev/null 2>&1 && "$APSIS" run --quiet --iterations "${ITERATIONS:-$(printf '%s\n' "$edits" | wc -l)}" >/dev/null 2>&1 || {
        echo "Bail out! the project $1 has no run"
        exit 1
    }
}

# again FROM NAME: a copy of the project FROM becomes the current directory $T/NAME.
again() {
    cp -a "$T/$1" "$T/$2" && cd "$T/$2" || exit 1
}

# state: what apply and split must not change when they refuse.
state() { git rev-parse HEAD; git symbolic-ref -q HEAD; git status --porcelain; git for-each-ref; git ls-files -s; cat ./*.txt 2>/dev/null | cksum; }
