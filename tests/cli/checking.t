#!/bin/sh
# setup, eval, doctor, strategies, and the manual made from the commands.
. "$(dirname "$0")/transcript.sh"
project p

run setup
is "$code" 0 "setup of a good project exits 0"
like "$out" "^ok +manifest" "one line per check"
like "$out" "^ok +verifier +what it runs is found, not run: .apsis baseline. runs it" "and what a check leaves to others"
unlike "$out" "ignored files +not" "and no note where git ignores apsis's folders"
: > .gitignore && commit 'nothing ignored'
run setup
unlike "$out" "ignored files +not" "nor where apsis will make them, which it does with a .gitignore of their own"
mkdir logs runs .apsis
run setup
is "$code" 0 "folders that git does not ignore are no failure"
like "$out" "/logs/ /runs/ /.apsis/" "but setup names the lines to add"
is "$(git status --porcelain)" "" "and edits nothing itself"
sed -i 's/run: \[apsis, exec, evaluate.lua\]/run: LANG=C no-such-program --x/' manifest.yaml
run setup
is "$code" 5 "a verifier that is not there exits 5"
like "$out" "^FAIL  verifier +.*manifest.yaml:[0-9]+: verification.commands\[1\]: no-such-program is not found" \
    "naming its line"
is "$err" "apsis: 1 of 8 checks failed: verifier" "with a summary on stderr"
sed -i 's/run: LANG.*--x/run: .\/measure.sh/' manifest.yaml
echo 'echo METRIC loss=1' > measure.sh
run setup
like "$out" "chmod \+x" "a script that is not executable has the remedy"
git checkout -q manifest.yaml
sed -i 's/^provider:.*/provider: {kind: command, run: no-such-agent -p}/' manifest.yaml
run setup
is "$code" 4 "a provider that is not there exits 4"
run setup --json
is "$code" 4 "also with --json"
like "$out" '"check":"provider".*"ok":false' "which lists every check"
git checkout -q manifest.yaml
git rm -q --cached evaluate.lua && git commit -qm 'evaluator not committed'
run setup
is "$code" 3 "a named file that is not committed exits 3"
like "$out" "git add evaluate.lua" "with the command to run"
commit

sed -i 's/apsis, exec, evaluate.lua/apsis, exec, evalaute.lua/' manifest.yaml
run setup
is "$code" 5 "a script that an interpreter would not find exits 5"
like "$out" 'FAIL .*evalaute.lua is not found.*did you mean "evaluate.lua"' "with the nearest one"
for command in 'sh  no/such.sh --x' '[python3, no/such.py]' 'A=1 bash ./no/../no/such.sh; cat' \
    'apsis exec no/such.lua'; do
    git checkout -q manifest.yaml
    sed -i "s|run: \[apsis, exec, evaluate.lua\]|run: $command|" manifest.yaml
    run setup
    like "$out" "FAIL  verifier .*no/such[.a-z]* is not found" "$command is seen through"
done
for command in 'sh -c no/such.sh' 'bash $X/no.sh' 'sh evaluate.lua' 'python3 -m nothing'; do
    git checkout -q manifest.yaml
    sed -i "s|run: \[apsis, exec, evaluate.lua\]|run: \"$command\"|" manifest.yaml
    run setup
    like "$out" "^ok    verifier" "$command is not guessed at"
done
git checkout -q manifest.yaml

sed -i 's/path: settings.lua/path: setings.lua/' manifest.yaml
run setup
is "$code" 2 "a writable file that is not there, with no other, exits 2"
like "$out" 'FAIL  writable files  .*setings.lua \(did you mean "settings.lua"' "with the nearest name"
sed -i 's/^files:.*/&\n  - {path: "mut*.lua", mode: writable}/; /path: mutate.lua/d' manifest.yaml
run setup
is "$code" 0 "with another it is no failure"
like "$out" '^note  writable files  .*setings.lua' "but noted"
git checkout -q manifest.yaml

# Git LFS: a pointer in HEAD stands in the file's place.
pointer='version https://git-lfs.github.com/spec/v1
oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393
size 12345'
mkdir data && printf '%s\n' "$pointer" > data/set.bin && commit 'looks like a pointer'
run setup
is "$code" 0 "a file that looks like an LFS pointer is one only where attributes say filter=lfs"
echo '*.bin filter=lfs diff=lfs merge=lfs -text' > data/.gitattributes && commit 'attributes'
run setup
is "$code" 3 "a project whose HEAD has an LFS pointer exits 3"
like "$out" "^FAIL  git and files +data/set.bin is a pointer of Git LFS.*git lfs migrate export --include=data/set.bin" \
    "naming the file and the remedy"
mkdir nested && cp -- *.lua manifest.yaml .gitignore nested/ && git mv data nested/data && commit 'a project below'
mv nested/data/.gitattributes . && commit 'attributes above it'
run setup nested
is "$code" 3 "the attributes may stand above the project"
like "$out" "FAIL  git and files +data/set.bin is a pointer" "which names its own path"
echo 'real bytes' > nested/data/set.bin && commit 'exported'
run setup nested
is "$code" 0 "with the file's bytes in HEAD all is well"
git rm -qr nested .gitattributes && git commit -qm 'as before'

export TMPDIR="$work/tmp"
mkdir "$TMPDIR"
run eval
is "$code $out" "0 loss=36.2" "eval prints the score of HEAD"
echo 'return { 2, 0, 1 }' > settings.lua
run eval
is "$out" "loss=36.2" "uncommitted changes do not count"
like "$err" "--worktree" "and that is said"
run eval --worktree
is "$out" "loss=0" "with --worktree they do"
is "$(cat settings.lua)" 'return { 2, 0, 1 }' "and stay as they are"
run eval --json
is "$(json value) $(json status)" "36.2 ok" "eval --json"
ok "eval writes no journal" test ! -e logs/results.jsonl
is "$(git for-each-ref refs/apsis)" "" "and no ref"
is "$(ls "$TMPDIR")" "" "and leaves no folder"
git checkout -q settings.lua
mkdir cases && echo 1 > cases/untracked.txt
sed -i "s|^verification:|verification:\n  cases: ['cases/*.txt']|" manifest.yaml
run eval --worktree
is "$code" 0 "eval --worktree sees test cases that are not committed"
git checkout -q manifest.yaml

run doctor
is "$code" 0 "doctor exits 0"
like "$out" "^ok +versions: apsis [0-9]" "with versions"
like "$out" "project: .*manifest.yaml" "and the project"
cd "$work" || exit 1
run doctor
is "$code" 0 "doctor exits 0 outside a project"
like "$out" "^warn +project" "and says that there is none"

run strategies
like "$out" "^hillclimb: change the best" "strategies have their first sentence"
like "$out" "patience=20" "and their options"
run strategies --json
like "$(json 1.name) $(json 1.options)" '^[a-z_]+ \{' "strategies --json is a list with names and options"
run strategies hillclimb
is "$out" "$(cat "$top/strategies/hillclimb.lua")" "strategies NAME is its source"
cat > own-one.lua <<'LUA'
-- own-one: keeps everything. And more.
return { options = { depth = 3 }, accept = function() return true end }
LUA
run strategies own-one.lua
is "$out" "own-one.lua: keeps everything.
    options: depth=3
    hooks: accept" "strategies FILE.lua describes a file"
run strategies "$PWD/own-one.lua" --json
is "$(json options.depth)" 3 "also as JSON"
run strategies none.lua
is "$code" 2 "a file that is not there exits 2"
run strategies hilclimb
is "$code" 2 "an unknown strategy exits 2"
like "$err" 'did you mean "hillclimb"' "with the nearest one"


run strategies --prompt mutation
is "$out" "$(cat "$top/strategies/prompts/mutation.md")" "strategies --prompt NAME is a shipped template"
run strategies --prompt mutation --json
like "$(json fields)" '"parent_files".*"untried"' "as JSON with the fields it may name"
run strategies --prompt mutatoin
is "$code" 2 "an unknown template exits 2"
like "$err" 'did you mean "mutation"\?; shipped: crossover, migration, mutation, system$' "with the nearest one and all of them"
run strategies --prompt system hillclimb
is "$code" 2 "a template and a strategy at once exit 2"

cd "$work/p" || exit 1
run baseline
mkdir prompts
"$APSIS" strategies --prompt mutation | sed 's/{{metric}}/{{metrik}}/' > prompts/mutation.md
"$APSIS" strategies --prompt system > prompts/sytem.md
for command in "setup" "run --iterations 1"; do
    sed -i 's/^strategy:.*/strategy: openevolve/' manifest.yaml
    run $command
    is "$code" 2 "$command: a template with a field that there is not exits 2"
    like "$out$err" 'prompts/mutation.md:[0-9]+: no field .*metrik.*did you mean "metric"' "naming file, line and nearest"
    "$APSIS" strategies --prompt mutation > prompts/crossover.md
    mv prompts/mutation.md prompts/wrong
    run $command
    is "$code" 0 "$command: a misspelt template stops nothing"
    like "$out$err" 'prompts/sytem.md is not read; did you mean prompts/system.md\?' "but is said to be read by nothing"
    unlike "$out$err" 'crossover.md' "a good one is not complained of"
    sed -i 's/^strategy:.*/strategy: hillclimb/' manifest.yaml
    run $command
    like "$out$err" 'crossover.md is not read: strategy hillclimb asks with no template' "$command: nor is one that the strategy does not ask with"
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
run setup
like "$out" "^note +prompts" "a strategy that declares fields has its templates checked"
unlike "$out" "metrik" "with its own fields among the known ones"
sed -i 's/fields = { "metrik" }, //' mine.lua
printf '{{anything}}\n' > prompts/mutation.md
run setup
is "$code" 0 "one that does not say its fields may have any"
printf '\n{{#anything}}\n' > prompts/mutation.md
run setup
is "$code" 2 "but not a section that is left open"
like "$out" "FAIL  prompts +prompts/mutation.md:2: .*never closed" "which is named"
rm -r prompts mine.lua && git checkout -q manifest.yaml

git config --file "$HOME/.gitconfig" user.useConfigOnly true
run doctor
like "$out" "^ok +git: commits are by Test" "doctor says whose the commits are"
git config --file "$HOME/.gitconfig" --unset user.email
run doctor
like "$out" "^warn +git: .*your own .git commit. would fail; run: git config --global" "and warns where the user's own would fail"
git config --file "$HOME/.gitconfig" user.email test@localhost
cd "$work" || exit 1

manual="$top/lua/apsis/cli/manual.lua"
run exec "$manual" man
is "$code" 0 "the man page is made"
for command in $("$APSIS" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
    like "$out" "^\.SS $command" "the man page has $command"
done
for section in STRATEGIES MANIFEST FILES "EXIT STATUS"; do
    like "$out" "^\.SH $section" "and a section $section"
done
like "$out" "workspace.library" "which has the language server's setting"
like "$out" "verification.commands\[\].timeout_sec" "and the manifest's keys"
if command -v groff > /dev/null; then
    is "$(groff -man -Tutf8 -ww "$work/out" 2>&1 > /dev/null)" "" "groff has nothing to complain of"
fi
run exec "$manual" bash
printf '%s\n' "$out" > "$work/completion"
ok "bash takes its completion" bash -n "$work/completion"
words=$(bash -c '. "$1"; COMP_WORDS=(apsis sta) COMP_CWORD=1; _apsis; echo "${COMPREPLY[@]}"' - "$work/completion")
is "$words" "status" "which completes commands"
words=$(bash -c '. "$1"; COMP_WORDS=(apsis log --gr) COMP_CWORD=2; _apsis; echo "${COMPREPLY[@]}"' - "$work/completion")
is "$words" "--graph" "and options"
complete='. "$1"; shift; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _apsis; echo "${COMPREPLY[@]}"'
words=$(bash -c "$complete" - "$work/completion" apsis log --format au)
is "$words" "autoresearch" "and the words an option takes"
words=$(bash -c "$complete" - "$work/completion" apsis run --strategy hillc)
is "$words" "hillclimb" "and strategies"
words=$(bash -c "$complete" - "$work/completion" apsis strategies own)
is "$words" "own-one.lua" "and their files"
for form in zsh fish; do
    run exec "$manual" "$form"
    is "$code" 0 "$form's completion is made"
    like "$out" "strategies" "and has the commands"
done
run exec "$manual" csh
is "$code" 2 "another shell exits 2"
done_testing
