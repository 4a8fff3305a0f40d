#!/bin/sh
# setup, eval, doctor, strategies, and the manual made from the program's tables.
. tests/cli/lib.sh
project p

apsis setup
is "setup of a good project exits 0" "$code" 0
line "one line per check" "$out" "^ok +manifest"
line "and what a check leaves to others" "$out" \
    "^ok +verifier +commands found \(not run\): .apsis baseline. runs them"
no_line "and no note where git ignores apsis's folders" "$out" "ignored files +not"
line "but what that check has found" "$out" "^ok +ignored files +git sees no file that apsis writes$"
: > .gitignore && commit 'nothing ignored'
apsis setup
no_line "nor where apsis will make them, which it does with a .gitignore of their own" "$out" "ignored files +not"
mkdir logs runs .apsis
apsis setup
is "folders that git does not ignore are no failure" "$code" 0
line "but setup names the lines to add" "$out" "/logs/ /runs/ /.apsis/"
is "and edits nothing itself" "$(git status --porcelain)" ""
sed -i 's/run: \[apsis, exec, evaluate.lua\]/run: LANG=C no-such-program --x/' manifest.yaml
apsis setup
is "a verifier that is not there exits 5" "$code" 5
line "naming its line" "$out" \
    "^FAIL  verifier +.*manifest.yaml:[0-9]+: verification.commands\[1\]: no-such-program is not found"
is "with a summary on stderr" "$err" "apsis: 1 of 8 checks failed: verifier"
sed -i 's/run: LANG.*--x/run: .\/measure.sh/' manifest.yaml
echo 'echo METRIC loss=1' > measure.sh
apsis setup
line "a script that is not executable has the remedy" "$out" "chmod \+x"
chmod +x measure.sh
cp -r . "$T/lacking" && cd "$T/lacking"
for run in ./measure.sh '[./measure.sh]'; do
    sed -i "s|run: [^,}]*measure.sh[^,}]*|run: $run|" manifest.yaml
    printf '#!/bin/sh\r\necho METRIC loss=1\r\n' >measure.sh && commit carriage
    apsis setup
    line "$run: setup sees a carriage return after the interpreter" "$out" "a carriage return ends the first line of ./measure.sh, #!/bin/sh,"
    apsis baseline
    line "and its measurement says so" "$err" "a carriage return ends the first line of ./measure.sh"
    printf '#!/no/such/sh\necho METRIC loss=1\n' >measure.sh && commit missing
    apsis setup
    line "$run: setup sees an interpreter that is missing" "$out" "/no/such/sh, the interpreter that the first line of ./measure.sh names, is not there"
    apsis baseline
    line "and its measurement says so" "$err" "/no/such/sh, the interpreter that the first line"
    for wrong in "nope@is not there, as it is no absolute path: write #!/usr/bin/env nope" "/etc@is a folder" "/etc/passwd@is not executable"; do
        program=${wrong%@*} why=${wrong#*@}
        printf '#!%s\necho METRIC loss=1\n' "$program" >measure.sh && commit wrong
        apsis setup
        line "$run: setup, of #!$program" "$out" "$program, the interpreter that the first line of ./measure.sh names, $why"
        apsis baseline
        line "$run: its measurement, of #!$program" "$err" "$program, the interpreter that the first line of ./measure.sh names, $why"
    done
    cp /bin/sh own-sh
    printf '#!own-sh\necho METRIC loss=1\n' >measure.sh && commit own
    apsis setup
    is "$run: an interpreter of the project" "$code" 0
done
cd "$OLDPWD"
git checkout -q manifest.yaml
sed -i 's/^provider:.*/provider: {kind: command, run: no-such-agent -p}/' manifest.yaml
apsis setup
is "a provider that is not there exits 4" "$code" 4
apsis setup --json
is "also with --json" "$code" 4
line "which lists every check" "$out" '"check":"provider".*"ok":false'
git checkout -q manifest.yaml
git rm -q --cached evaluate.lua && git commit -qm 'evaluator not committed'
apsis setup
is "a named file that is not committed exits 3" "$code" 3
line "with the command to run" "$out" "git add evaluate.lua"
commit

sed -i 's/apsis, exec, evaluate.lua/apsis, exec, evalaute.lua/' manifest.yaml
apsis setup
is "a script that an interpreter would not find exits 5" "$code" 5
line "with the nearest one" "$out" 'FAIL .*evalaute.lua is not found.*did you mean "evaluate.lua"'
for command in 'sh  no/such.sh --x' '[python3, no/such.py]' 'A=1 bash ./no/../no/such.sh; cat' \
    'apsis exec no/such.lua'; do
    git checkout -q manifest.yaml
    sed -i "s|run: \[apsis, exec, evaluate.lua\]|run: $command|" manifest.yaml
    apsis setup
    line "$command is seen through" "$out" "FAIL  verifier .*no/such[.a-z]* is not found"
done
for command in 'sh -c no/such.sh' 'bash $X/no.sh' 'sh evaluate.lua' 'python3 -m nothing'; do
    git checkout -q manifest.yaml
    sed -i "s|run: \[apsis, exec, evaluate.lua\]|run: \"$command\"|" manifest.yaml
    apsis setup
    line "$command is not guessed at" "$out" "^ok    verifier"
done
git checkout -q manifest.yaml

sed -i 's/path: settings.lua/path: setings.lua/' manifest.yaml
apsis setup
is "a writable file that is not there, with no other, exits 2" "$code" 2
line "with the nearest name" "$out" 'FAIL  files  .*setings.lua \(did you mean "settings.lua"'
sed -i 's/^files:.*/&\n  - {path: "mut*.lua", mode: writable}/; /path: mutate.lua/d' manifest.yaml
apsis setup
is "with another it is no failure" "$code" 0
line "but noted" "$out" 'setings.lua.*a candidate may make it'
git checkout -q manifest.yaml

# What is in the folder and not committed is not there for commands; a glob may name nothing.
sed -i 's/^files:.*/&\n  - {path: "srcc\/**", mode: hidden}/' manifest.yaml
apsis setup
line "files are listed by mode" "$out" 'writable \([0-9]+\): .*settings.lua'
line "a rule that names none is noted" "$out" 'no committed file: srcc/\*\*'
git checkout -q manifest.yaml
sed -i "s|^verification:|verification:\n  cases: ['*.lua', 'casse/*.txt']|" manifest.yaml
apsis setup
is "cases that match nothing are an error before anything is measured" "$code" 5
line "with the glob and its line" "$out" 'FAIL  verifier .*manifest.yaml:[0-9]+: verification.cases\[2\]: casse/\*.txt matches no'
git checkout -q manifest.yaml
printf '#!/bin/sh\n' > agent.sh && chmod +x agent.sh
for command in ./agent.sh 'sh agent.sh'; do
    sed -i "s|^provider:.*|provider: {kind: command, run: $command}|" manifest.yaml
    apsis setup
    line "$command: an uncommitted script is not found" "$out" 'FAIL  provider .*agent.sh is not committed.*git add agent.sh'
    git checkout -q manifest.yaml
done
echo agent.sh >> .git/info/exclude
sed -i "s|^provider:.*|provider: {kind: command, run: ./agent.sh}|" manifest.yaml
apsis setup
line "one that git ignores may be linked" "$out" 'FAIL  provider .*ignored by git.*workspace: .link: .agent.sh'
sed -i "s|^provider:.*|provider: {kind: command, run: ./setings.lua}|" manifest.yaml
apsis setup
line "a missing provider, with the line and the nearest name" "$out" \
    'FAIL  provider +manifest.yaml:[0-9]+: provider: ./setings.lua is not found in the project; did you mean "settings.lua"'
sed -i "s|^provider:.*|provider: {kind: command, run: no-such-program-here}|" manifest.yaml
apsis doctor
line "doctor looks for programs, too" "$out" 'warn  programs: no-such-program-here is not found in PATH'
sed -i 's|^provider: .*|provider: {kind: command, run: ./missing.sh}|' manifest.yaml
apsis doctor --no-agent
line "and for the provider's script" "$out" 'warn  programs: there is no missing.sh, which the provider runs'
git checkout -q manifest.yaml && rm agent.sh

# Git LFS: a pointer in HEAD stands in the file's place.
pointer='version https://git-lfs.github.com/spec/v1
oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393
size 12345'
mkdir data && printf '%s\n' "$pointer" > data/set.bin && commit 'looks like a pointer'
apsis setup
is "a file that looks like an LFS pointer is one only where attributes say filter=lfs" "$code" 0
echo '*.bin filter=lfs diff=lfs merge=lfs -text' > data/.gitattributes && commit 'attributes'
apsis setup
is "a project whose HEAD has an LFS pointer exits 3" "$code" 3
line "naming the file and the remedy" "$out" \
    "^FAIL  git and files +data/set.bin is a pointer of Git LFS.*git lfs migrate export --include=data/set.bin"
mkdir nested && cp -- *.lua manifest.yaml .gitignore nested/ && git mv data nested/data && commit 'a project below'
mv nested/data/.gitattributes . && commit 'attributes above it'
apsis setup nested
is "the attributes may stand above the project" "$code" 3
line "which names its own path" "$out" "FAIL  git and files +data/set.bin is a pointer"
echo 'real bytes' > nested/data/set.bin && commit 'exported'
apsis setup nested
is "with the file's bytes in HEAD all is well" "$code" 0
git rm -qr nested .gitattributes && git commit -qm 'as before'

export TMPDIR="$T/tmp"
mkdir "$TMPDIR"
apsis eval
is "eval prints the score of HEAD" "$code $out" "0 loss=36.2"
echo 'return { 2, 0, 1 }' > settings.lua
apsis eval
is "uncommitted changes do not count" "$out" "loss=36.2"
line "and that is said" "$err" "--worktree"
apsis eval --worktree
is "with --worktree they do" "$out" "loss=0"
is "and stay as they are" "$(cat settings.lua)" 'return { 2, 0, 1 }'
apsis eval --json
is "eval --json" "$(json value) $(json status)" "36.2 ok"
ok "eval writes no journal" test ! -e logs/results.jsonl
is "and no ref" "$(git for-each-ref refs/apsis)" ""
is "and leaves no folder" "$(ls "$TMPDIR")" ""
git checkout -q settings.lua
mkdir cases && echo 1 > cases/untracked.txt
sed -i "s|^verification:|verification:\n  cases: ['cases/*.txt']|" manifest.yaml
apsis eval --worktree
is "eval --worktree sees test cases that are not committed" "$code" 0
git checkout -q manifest.yaml

apsis doctor
is "doctor exits 0" "$code" 0
line "with versions" "$out" "^ok +versions: apsis [0-9]"
line "and the project" "$out" "project: .*manifest.yaml"
echo 'nonsense: 1' >>manifest.yaml
apsis doctor
is "doctor exits 2 with an error in the manifest, as setup" "$code" 2
line "which it names" "$out" "^FAIL +project: .*manifest.yaml:[0-9]+: nonsense"
git checkout -q manifest.yaml
cd "$T" || exit 1
apsis doctor
is "doctor exits 0 outside a project" "$code" 0
line "and says that there is none" "$out" "^warn +project"

apsis strategies
line "strategies have their first sentence" "$out" "^hillclimb: change the best"
line "and their options" "$out" "patience=20"
apsis strategies --json
line "strategies --json is a list with names and options" "$(json 1.name) $(json 1.options)" '^[a-z_]+ \{'
apsis strategies hillclimb
is "strategies NAME is its source" "$out" "$(cat "$ROOT/strategies/hillclimb.lua")"
cat > own-one.lua <<'LUA'
-- own-one: keeps everything. And more.
return { options = { depth = 3 }, accept = function() return true end }
LUA
apsis strategies own-one.lua
is "strategies FILE.lua describes a file" "$out" \
    "own-one.lua: keeps everything.
    options: depth=3
    hooks: accept"
apsis strategies "$PWD/own-one.lua" --json
is "also as JSON" "$(json options.depth)" 3
apsis strategies none.lua
is "a file that is not there exits 2" "$code" 2
apsis strategies hilclimb
is "an unknown strategy exits 2" "$code" 2
line "with the nearest one" "$err" 'did you mean "hillclimb"'


apsis strategies --prompt mutation
is "strategies --prompt NAME is a shipped template" "$out" "$(cat "$ROOT/strategies/prompts/mutation.md")"
apsis strategies --prompt mutation --json
line "as JSON with the fields it may name" "$(json fields)" '"parent_files".*"untried"'
apsis strategies --prompt mutatoin
is "an unknown template exits 2" "$code" 2
line "with the nearest one and all of them" "$err" \
    'did you mean "mutation"\?; shipped: crossover, migration, mutation, system$'
apsis strategies --prompt system hillclimb
is "a template and a strategy at once exit 2" "$code" 2

cd "$T/p" || exit 1
apsis baseline
mkdir prompts
"$APSIS" strategies --prompt mutation | sed 's/{{metric}}/{{metrik}}/' > prompts/mutation.md
"$APSIS" strategies --prompt system > prompts/sytem.md
for command in "setup" "run --iterations 1"; do
    sed -i 's/^strategy:.*/strategy: openevolve/' manifest.yaml
    apsis $command
    is "$command: a template with a field that there is not exits 2" "$code" 2
    line "naming file, line and nearest" "$out$err" \
        'prompts/mutation.md:[0-9]+: no field .*metrik.*did you mean "metric"'
    "$APSIS" strategies --prompt mutation > prompts/crossover.md
    mv prompts/mutation.md prompts/wrong
    apsis $command
    is "$command: a misspelt template stops nothing" "$code" 0
    line "but is said to be read by nothing" "$out$err" \
        'prompts/sytem.md is not read; did you mean prompts/system.md\?'
    no_line "a good one is not complained of" "$out$err" 'crossover.md'
    sed -i 's/^strategy:.*/strategy: hillclimb/' manifest.yaml
    apsis $command
    line "$command: nor is one that the strategy does not ask with" "$out$err" \
        'crossover.md is not read: strategy hillclimb asks with no template'
    mv prompts/wrong prompts/mutation.md
done
cat > mine.lua <<'LUA'
local strategy, prompt = require "apsis.strategy", require "apsis.prompt"
return strategy.extend("openevolve", { fields = { "metrik" }, prompt = function(run, made)
  local fields = prompt.fields(run, made)
  fields.metrik = "of mine"
  return prompt.render(run, "mutation", fields)
end })
LUA
printf '{{#metrik}}{{metrik}}{{/metrik}} {{lessons}}\n' > prompts/mutation.md
sed -i 's/^strategy:.*/strategy: mine.lua/' manifest.yaml
apsis setup
line "a strategy that declares fields has its templates checked" "$out" "^note +prompts"
no_line "with its own fields among the known ones" "$out" "metrik"
sed -i 's/fields = { "metrik" }, //' mine.lua
printf '{{anything}}\n' > prompts/mutation.md
apsis setup
is "one that does not say its fields may have any" "$code" 0
printf '\n{{#anything}}\n' > prompts/mutation.md
apsis setup
is "but not a section that is left open" "$code" 2
line "which is named" "$out" "FAIL  prompts +prompts/mutation.md:2: .*never closed"
rm -r prompts mine.lua && git checkout -q manifest.yaml

git config --file "$HOME/.gitconfig" user.useConfigOnly true
apsis doctor
line "doctor says whose the commits are" "$out" "^ok +git: commits are by tester"
GIT_AUTHOR_NAME=Ann apsis doctor --no-agent
line "git's variable comes first" "$out" "^ok +git: commits are by Ann$"
git config --file "$HOME/.gitconfig" --unset user.email
apsis doctor
line "and warns where the user's own would fail" "$out" \
    "^warn +git: .*your own .git commit. would fail; run: git config --global"
git config --file "$HOME/.gitconfig" user.email test@localhost
cd "$T" || exit 1

apsis exec "$ROOT/lua/apsis/manual/write.lua" man "$T/man"
is "the manual is written" "$code" 0
for command in $("$APSIS" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
    ok "the manual has apsis-$command(1)" test -s "$T/man/man1/apsis-$command.1"
done
for file in man1/apsis.1 man5/apsis-manifest.5 man5/apsis-journal.5 man7/apsis-strategy.7; do
    ok "and $file" test -s "$T/man/$file"
done
if command -v groff > /dev/null; then
    is "groff has nothing to complain of" "$(cat "$T"/man/man*/* | groff -man -Tutf8 -ww 2>&1 > /dev/null)" ""
fi
apsis help strategy
line "help has the same pages" "$out" "^apsis-strategy: "
no_line "within 80 columns" "$out" "^.{81}"
apsis help apsis.archive
line "also of modules" "$out" "^ +archive.new\(options\)"
apsis help budget.usd
line "of a key, also without manifest." "$out" "^manifest.budget.usd: "
apsis help manifest.metric.directoin
like "a key that is misspelt" "$err" 'did you mean "direction"'
completion="$ROOT/lua/apsis/cli/completion.lua"
apsis exec "$completion" bash
printf '%s\n' "$out" > "$T/completion"
ok "bash takes its completion" bash -n "$T/completion"
words=$(bash -c '. "$1"; COMP_WORDS=(apsis sta) COMP_CWORD=1; _apsis; echo "${COMPREPLY[@]}"' - "$T/completion")
is "which completes commands" "$words" "status"
words=$(bash -c '. "$1"; COMP_WORDS=(apsis log --gr) COMP_CWORD=2; _apsis; echo "${COMPREPLY[@]}"' - "$T/completion")
is "and options" "$words" "--graph"
complete='. "$1"; shift; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _apsis; echo "${COMPREPLY[@]}"'
words=$(bash -c "$complete" - "$T/completion" apsis log --format pi)
is "and the words an option takes" "$words" "pi-autoresearch"
words=$(bash -c "$complete" - "$T/completion" apsis run --strategy hillc)
is "and strategies" "$words" "hillclimb"
git init -q "$T/hostile" && cd "$T/hostile" && echo 1 > file && commit
for name in c0000 'c1$(touch${IFS}owned)' '`touch${IFS}owned`' '$(touch${IFS}owned)' -Q; do
    git update-ref "refs/apsis/hostile/$name" HEAD
done
is "ids complete, and a ref with another name does not" "$(bash -c "$complete" - "$T/completion" apsis show '')" \
    "best baseline current c0000"
ok "nor does it run a command" test ! -e owned
cd "$OLDPWD" || exit 1
words=$(bash -c "$complete" - "$T/completion" apsis strategies own)
is "and their files" "$words" "own-one.lua"
for form in zsh fish; do
    apsis exec "$completion" "$form"
    is "$form's completion is made" "$code" 0
    line "and has the commands" "$out" "strategies"
done
apsis exec "$completion" csh
is "another shell exits 2" "$code" 2
item "setup finds a missing program behind a cd, and names every one that is missing"
new_project behind
mkdir -p src/deep && ln -s src lnk && echo 'echo METRIC score=1' >src/bench.sh && chmod +x src/bench.sh && touch src/deep/x
sed -i '/^verification:/,/^metric:/{/^metric:/!d}' manifest.yaml
cat >>manifest.yaml <<'END'
verification:
  checks:
    - {name: one, run: 'cd src && maek -s'}
    - {name: two, run: "set -e\ncd src; maek4"}
    - {name: made, run: "printf 'echo 1' >src/made.sh && chmod +x src/made.sh"}
    - {name: runs what was made, run: cd src && ./made.sh}
    - {name: above, run: cd src/deep && ../bench.sh}
    - {name: through a link, run: cd lnk && ./bench.sh}
  commands:
    - {name: four, run: no-such-program}
    - {name: fine, run: cd src && sh bench.sh}
    - {name: unclear, run: cd nowhere && maek2 || cd src || maek3}
END
commit behind
apsis setup
is "exit" "$code" 5
for missing in "checks\[1\]: maek is not found in PATH" "checks\[2\]: maek4 is not found in PATH" \
    "commands\[1\]: no-such-program is not found in PATH"; do
    line "$missing" "$out" "manifest.yaml:[0-9]+: verification.$missing"
done
unlike "what is there, or unclear" "$out" "maek[23]|commands\[[23]\]|checks\[[3456]\]"
apsis doctor --no-agent
line "doctor" "$out" "maek is not found in PATH"
end_item

finish
