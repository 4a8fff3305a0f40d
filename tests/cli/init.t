#!/bin/sh
# init: what it writes runs as it is, and nothing of the user's is ever lost.
. tests/cli/lib.sh

mkdir "$T/a b" && cd "$T/a b" || exit 1
apsis init --example
is "init --example in an empty folder exits 0" "$code" 0
line "and says that a repository is needed" "$out" "git init"
line "and which files to commit" "$out" "git add .*manifest.yaml"
printf '%s\n' "$out" | sed '1,/^next:/d; /git/d; s/^  //' > "$T/commands"
is "and what to run" "$(paste -sd, "$T/commands")" "apsis baseline,apsis run --iterations 20"
git init -q . && commit
apsis setup
is "setup has nothing to complain of" "$code" 0
no_line "and nothing to note" "$out" "^note"
apsis baseline
is "baseline works at once, also in a folder with a space in its name" "$code" 0
apsis run --iterations 5 -q
is "and so does a run" "$code" 0
is "and nothing of it is for git to add" "$(git status --porcelain)" ""

echo mine > settings.lua
apsis init --example
is "init where files exist exits 2" "$code" 2
line "and says that it wrote nothing" "$err" "nothing was written"
is "and the file is as it was" "$(cat settings.lua)" mine
apsis init --example --force
is "--force exits 0" "$code" 0
is "and keeps the old file" "$(cat settings.lua~)" mine
apsis init --example --force
is "but not over a file it kept before" "$code" 2
is "which stays" "$(cat settings.lua~)" mine
apsis init --example "$T/new/deep"
is "init --example DIR makes the folder" "$code" 0
ok "and writes the manifest there" test -f "$T/new/deep/manifest.yaml"

# ---- the user's own project ----

# own NAME: a git project in $T/NAME with a script that measures and a source file, committed.
own() {
    mkdir "$T/$1" && cd "$T/$1" && git init -q . && mkdir src && echo 5 > src/value || exit 1
    printf '#!/bin/sh\necho METRIC steps=$(cat src/value)\n' > bench.sh && chmod +x bench.sh
    commit
}
flags="--measure ./bench.sh --lower --writable src/** --provider true"

own nested
git init -q within && (cd within && git commit -q --allow-empty -m within)
set -f
apsis init $flags
set +f
is "a repository within the project's is left out" "$code:$(printf '%s\n' "$out" | grep -c '^steps = 5')" "0:1"

# ---- what --writable names ----
own aim
apsis init --measure ./bench.sh --lower --writable '../x' --provider true
is "a path outside the project is refused" "$code" 2
line "with the option's name, and nothing is written" "$err" "^apsis: --writable: '\.\./x' leaves the project \(.*; nothing was written"
is "and so it is" "$(git status --porcelain)" ""
apsis init --measure ./bench.sh --metric steps,size --lower --writable steps.txt --provider true
line "nor is it for a name that no METRIC line has" "$code$(git status --porcelain) $err" "^2 apsis: --metric steps,size: the name of one metric"
apsis init --measure ./bench.sh --lower --writable /etc/passwd --provider true
line "an absolute path too" "$err" "^apsis: --writable: '/etc/passwd' is absolute.*; nothing was written"
apsis init --measure ./bench.sh --lower --writable 'nothing/**' --provider true
is "a glob that matches no file is taken, since candidates may make files" "$code" 0
line "with a warning" "$out" "^--writable: no file matches nothing/\*\*, so candidates can only add files there"
rm manifest.yaml program.md
apsis init --measure ./bench.sh --lower --writable '**' --provider true
line "what measures may be changed: a warning with the remedy" "$out" \
    "^candidates may change ./bench.sh, which measures: add .- \{path: bench.sh, mode: hidden\}. below files in manifest.yaml"
rm manifest.yaml program.md
apsis init --measure ./bench.sh --lower --writable src --provider true
no_line "src has files and nothing that measures: no warning" "$out" "no file matches|which measures"

own seen
apsis init < /dev/null
is "without a terminal and without flags it exits 2" "$code" 2
line "naming each flag that it needs, and what it found for it" "$err" \
    "needs --measure COMMAND \(found: ./bench.sh\), --lower or --higher, --writable GLOB \(found: .src/\*\*.\), --provider"
is "and writes nothing" "$(git status --porcelain)" ""
apsis init --measure ./bench.sh --lower --provider true
line "one flag that is missing is named" "$err" "this needs --writable GLOB \(found: .src"
apsis init --measure '' --lower --writable src --provider '' < /dev/null
line "a flag that is empty counts as missing" "$code $err" "^2 .*this needs --measure COMMAND \(found: ./bench.sh\), --provider NAME"
set -f
apsis init $flags
set +f
is "with the flags it writes and measures" "$code" 0
line "and shows the value, of the one metric that was printed" "$out" "^steps = 5 \(5 equal measurements\)$"
line "and how files that are not committed were measured" "$out" "2 files are not committed .manifest.yaml, program.md.: measured as if"
ok "the manifest has at most 25 lines" test "$(wc -l < manifest.yaml)" -le 25
line "it names the metric" "$(cat manifest.yaml)" "^metric: .name: steps, direction: lower.$"
line "so does the program" "$(cat program.md)" "\`steps\` as low as you can"
is "nothing else is touched" "$(git status --porcelain | paste -sd,)" "?? manifest.yaml,?? program.md"
sh -c "$(printf '%s\n' "$out" | sed '1,/^next:/d; /apsis [br]/d')" > /dev/null
apsis baseline
line "the steps that it prints lead to the baseline, with the same value" "$out" "baseline c0000: steps = 5"
apsis init --measure ./bench.sh --lower --writable src --provider true
is "an existing manifest is not written over" "$code" 2
apsis init --measure ./bench.sh --lower --writable 'src/*' --provider swap.lua --force
line "--force writes the program again, too" "$(cat program.md)" "Change only .src/[*]"
line "and says where the old one is" "$out" "^wrote program.md .the old one is program.md~.$"
line "a Lua file as provider" "$(cat manifest.yaml)" "^provider: .kind: lua, use: swap.lua.$"
line "that is not there yet" "$out" "^the provider: there is no swap.lua$"
line "what --force has put aside is not committed" "$out" "^  git add manifest.yaml program.md && git commit"

own driven
apsis init --measure ./bench.sh --lower --writable src --provider none
is "without a provider" "$code $(grep -c provider manifest.yaml)" "0 0"
line "the last step is a submission" "$out" "^  apsis submit +# after a change$"
no_line "there is no provider to be missing" "$out" "^the provider"
sh -c "$(printf '%s\n' "$out" | sed '1,/^next:/d; /apsis [bs]/d')" > /dev/null
apsis setup
is "setup is content" "$code" 0
line "with a note" "$out" "^note  provider .*the manifest has no provider.*apsis submit. needs none"
line "and its next step" "$out" "^next: apsis baseline && apsis submit$"
apsis baseline
echo 4 > src/value
apsis submit
line "it is driven" "$out" "^c0001 kept: steps = 4"

own dirty
echo 4 > src/value
apsis init --measure ./bench.sh --metric steps --lower --writable src --provider true --check 'test -f src/value'
line "a changed file is measured as it is" "$out" "^steps = 4 "
line "and named" "$out" "3 files are not committed \(manifest.yaml, program.md, src/value\)"
own noisy
printf '#!/bin/sh\ndate +"METRIC ns=1%%N"\n' > bench.sh
apsis init --measure ./bench.sh --lower --writable src --provider true
line "noise is shown" "$out" "^ns = .*median of 5, .* to .*spread of"
line "with the line that helps" "$out" "acceptance: default"
own several
printf '#!/bin/sh\necho METRIC a=1\necho METRIC b=2\n' > bench.sh
apsis init --measure ./bench.sh --lower --writable src --provider true
is "several metrics: exit 5" "$code" 5
line "and which there are" "$err" "several metrics \(a, b\): choose one with --metric, or write metric: \{pareto: \[a, b\]\}"
own built
printf 'all:\n\techo 3 > made\n' > Makefile && printf '#!/bin/sh\necho METRIC n=$(cat made)\n' > bench.sh && echo made > .gitignore
apsis init --measure ./bench.sh --lower --writable src --provider true --check make
line "what a check makes and the measurement needs is kept" "$(cat manifest.yaml)" "^  keep: \[made\]"
line "and measured" "$out" "^n = 3 "
own plain
printf '#!/bin/sh\necho it took 17 us\n' > bench.sh
apsis init --measure ./bench.sh --lower --writable src --provider true --metric us --regex 'took ([0-9]+) us'
line "a number in other output is found by a pattern" "$out" "^us = 17 "
own broken
printf '#!/bin/sh\necho no number\n' > bench.sh
apsis init --measure ./bench.sh --metric us --lower --writable src --provider true
is "no value: exit 5" "$code" 5
line "with the reason and the way on" "$err" "there is no value: .*METRIC us.*apsis eval --worktree"

line "what else its output may need" "$err" "--regex PATTERN"
line "and how to begin once more" "$err" "rm manifest.yaml program.md"
apsis init --measure ./bench.sh --lower --writable src --provider true
is "a manifest that is there is refused before anything is asked" "$code" 2
line "with what checks it" "$err" "apsis setup"

# Projects of other shapes: what is found in each, without a terminal.
# found NAME PATTERN FILE...: a project with these files (TEXT after =); its message matches.
found() {
    name=$1 pattern=$2 && shift 2
    mkdir "$T/$name" && cd "$T/$name" && git init -q . || exit 1
    for file; do
        mkdir -p "$(dirname "${file%%=*}")" && case $file in *=*) printf '%s\n' "${file#*=}" ;; *) echo ;; esac > "${file%%=*}"
    done
    commit
    apsis init --provider true < /dev/null
    line "$name" "$err" "$pattern"
}
found 'C with sources at the top: they may change, its benchmark may not' \
    "found: --writable a.c --writable a.h\)" a.c a.h bench.c a_test.c
found 'Python in src: the files here are measured, not an installed package' \
    "found: 'PYTHONPATH=src python3 benchmark/bench.py'\)" src/pack/__init__.py benchmark/bench.py
found 'Python beside the benchmarks' "found: 'PYTHONPATH=. python3 bench/bench.py'\).*found: 'pack/\*\*'" \
    pack/__init__.py bench/bench.py
found 'Node: the main file of the folder bench' "found: 'node bench/index.js'\)" bench/index.js index.js
found 'Node with types: declarations stay' "GLOB \(found: index.js\)" index.js index.d.ts test.js
found 'Rust with benches' "found: 'cargo bench -q'\).*found: 'src/\*\*'" Cargo.toml benches/b.rs src/lib.rs
found 'a monorepo' "GLOB \(found: --writable 'packages/\*/src/\*\*' --writable 'packages/\*/\*.js'\)" \
    packages/one/src/a.js packages/two/b.js
found 'no build' "GLOB \(found: z.sh\)" z.sh README

own outside
mkdir sub && printf '#!/bin/sh\n' > ../edit.sh && chmod +x ../edit.sh && printf '#!/bin/sh\necho METRIC n=1\n' > sub/new.sh
chmod +x sub/new.sh && echo 1 > b.c
apsis init --measure sub/new.sh --lower --writable b.c --provider ../edit.sh
is "a script and a source that are not committed are measured" "$code" 0
is "without a warning but of the provider's path, once" "$(printf '%s\n' "$err" | grep -vc 'full path')/$(printf '%s\n' "$err" | grep -c 'full path')" 0/1
line "and the steps commit them, too" "$out" "git add b.c manifest.yaml program.md sub/new.sh && git commit"
git add . && git commit -qm manifest && apsis baseline && apsis run
is "a provider outside the repository by a relative path: exit 4" "$code" 4
line "with the path that works" "$err" "edit.sh is outside the repository.*full path, $T/edit.sh"
mkdir "$T/outside/part" && cd "$T/outside/part" && echo 2 > ../c && printf 'echo METRIC n=1\n' > m.sh
apsis init --measure 'sh m.sh' --lower --writable 'x*' --provider true
line "in a folder of the repository the steps name paths from there" "$out" "git add :/c m.sh manifest.yaml program.md &&"
own needs_network
printf 'echo Could not resolve host: x "$PWD" >&2; exit 1\n' > bench.sh
apsis init --measure 'sh bench.sh' --lower --writable src --provider true
line "what the sandbox hides is named" "$err" "to allow it: verification: .network: true"
no_line "its own folder is not" "$err" "do not see it"

mkdir "$T/bare1" && cd "$T/bare1" && echo 1 > file
apsis init
is "outside a repository it exits 3" "$code" 3
line "with the commands that make one" "$err" "git init && git add -A && git commit -m start"
git init -q .
apsis init
line "so without a commit" "$err" "no commit to start from: git add -A && git commit"
is "and nothing is written" "$(ls)" file
mkdir "$T/evolve" && cd "$T/evolve" && git init -q . && touch evaluator.py initial_program.py && commit
apsis init
is "another tool's project exits 2" "$code" 2
line "with its importer" "$err" "a project of OpenEvolve: .apsis import openevolve .. makes a project of apsis"
apsis init --schema
line "--schema prints a JSON schema" "$(json '$schema')" "json-schema.org"
is "with the keys of the manifest" "$(json properties.metric.properties.direction.enum.2)" lower
cat > "$T/keys.lua" <<'EOF'
local json = require "apsis.json"
local function walk(node, path)
  for _, form in ipairs(node.anyOf or { node }) do
    for key, below in pairs(form.properties or {}) do
      print(path .. "." .. key)
      walk(below, path .. "." .. key)
    end
    if form.items then walk(form.items, path) end
    if type(form.additionalProperties) == "table" then walk(form.additionalProperties, path .. ".a_name") end
  end
end
walk(json.decode(io.read "a"), "manifest")
EOF
printf '%s' "$out" | "$APSIS" exec "$T/keys.lua" > "$T/keys"
ok "the schema has many keys" test "$(wc -l < "$T/keys")" -gt 200
while read -r key; do
    "$APSIS" help "$key" > "$T/help" 2>&1 && grep -q "^$key: " "$T/help" && grep -q '^  takes ' "$T/help" || echo "$key"
done < "$T/keys" > "$T/without"
is "each of them has its help" "$(cat "$T/without")" ""
apsis help manifest.verification.keep
line "a key's help says what it is" "$out" "globs of what a command adds"
line "and what it takes" "$out" "takes a list of globs"
apsis help manifest.verification.comands
is "of a key that does not exist: exit 2" "$code" 2
line "with the nearest" "$err" 'did you mean "commands"'
apsis help log
line "help COMMAND is its --help" "$out" "^Usage: apsis log"

cd "$T" || exit 1
apsis init --help
example=$(printf '%s\n' "$out" | tr '\n' ' ' | sed 's/.*example: //')
line "the example of init --help has the flags" "$example" "--measure .* --lower --writable .* --provider"
apsis init --strategy mine
is "--strategy needs a name that ends in .lua" "$code" 2
line "and says so" "$err" "mine.lua"
apsis init --strategy 'no good.lua'
is "a name with a space is refused" "$code" 2
apsis init --strategy hillclimb.lua
is "a shipped strategy's name is refused" "$code" 2
apsis init --strategy mine.lua
is "--strategy mine.lua writes a strategy" "$code" 0
apsis exec mine_test.lua
is "and its test passes" "$code" 0
line "having tested something" "$out" "^1\.\.[1-9]"
sed -i 's/return run.metric:better(candidate, run.best)/return true/' mine.lua
apsis exec mine_test.lua
is "the test fails where the strategy keeps everything" "$code" 1
for page in README.md docs/tutorial/5-is-it-better.md; do # the strategies that they write first
    awk '/^```lua/ { inside = ++count == 1; next } /^```/ { inside = 0 } inside' "$ROOT/$page" >mine.lua
    apsis exec mine_test.lua
    is "the test passes with the strategy of $page" "$code $(grep -c '^ok' <<<"$out")" "0 4"
done
(cd / && capture "$APSIS" exec "$T/mine_test.lua"; echo "$code") >elsewhere
is "from anywhere" "$(cat elsewhere)" 0
apsis init --strategy mine.lua
is "an existing strategy is not written over" "$code" 2

# A standing goal is written where `apsis schedule` looks for it.
mkdir -p "$T/goals/src/deep" && cd "$T/goals/src/deep" && git init -q "$T/goals" || exit 1
apsis init --program coverage
is "--program in a subdirectory exits 0" "$code" 0
line "and writes to the repository's root, which it says" "$out" "^wrote ../../.autoloop/programs/coverage.md$"
line "and that the next steps are to be done there" "$out" "^  cd ../..$"
ok "the file is there" test -f "$T/goals/.autoloop/programs/coverage.md"
sh -c "$(printf '%s\n' "$out" | sed '1,/^next:/d; /fill in/d; /apsis/d; s/ && git commit.*/ \&\& git commit -qm goal/')"
is "the printed steps commit it" "$(git -C "$T/goals" status --porcelain)" ""
apsis schedule
line "and the schedule has it, from the subdirectory too" "$out" "^coverage +unconfigured"
apsis init --program coverage
is "an existing goal is not written over" "$code" 2
mkdir "$T/goals/src/.autoloop"
apsis init --program size
line "a directory above that holds .autoloop comes before the root" "$out" "^wrote ../.autoloop/programs/size.md$"
cd "$T" || exit 1
apsis init --program speed goals/src/new/folder
is "DIR may be one that does not exist" "$code $(printf '%s\n' "$out" | sed -n 's/^wrote //p')" \
    "0 goals/src/.autoloop/programs/speed.md"
ok "and is not made in vain" test ! -e goals/src/new
apsis init --program speed goals/src/.autoloop/programs/speed.md
is "DIR may be no file" "$code" 2
mkdir "$T/alone" && cd "$T/alone" || exit 1
apsis init --program coverage
is "without a repository it is DIR, and git init the first step" "$(printf '%s\n' "$out" | sed -n '1p; 3p' | paste -sd,)" \
    "wrote .autoloop/programs/coverage.md,  git init"
git init -q --bare "$T/bare.git"
apsis init --program coverage "$T/bare.git"
is "a bare repository has no place for one" "$code" 3

# In a terminal, options that say all that is needed: nothing is asked, so that the next line pasted is no answer.
mkdir "$T/pasted" && cd "$T/pasted" && git init -q . || exit 1
printf '#!/bin/sh\necho METRIC score=1\n' >bench.sh && chmod +x bench.sh && commit
echo 'git status' | script -qec "'$APSIS' init --measure ./bench.sh --metric score --higher --writable bench.sh \
    --provider ./nobody.sh" /dev/null >shown 2>&1
no_line "nothing is asked" "$(cat shown)" "must succeed"
no_line "nor taken for an answer" "$(cat manifest.yaml)" "git status"
line "a provider that is not there is named" "$(tr -d '\r' <shown)" "^the provider: there is no ./nobody.sh$"

cd "$T/a b" && "$APSIS" init --strategy own.lua > /dev/null
apsis run --strategy own.lua --iterations 3 -q
is "a scaffolded strategy runs" "$code" 0
finish
