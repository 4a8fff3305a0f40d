#!/bin/sh
# init: what it writes runs as it is, and nothing of the user's is ever lost.
. "$(dirname "$0")/transcript.sh"

mkdir "$work/a b" && cd "$work/a b" || exit 1
run init
is "$code" 0 "init in an empty folder exits 0"
like "$out" "git init" "and says that a repository is needed"
like "$out" "git add .*manifest.yaml" "and which files to commit"
is "$(cat .gitignore)" "/logs/
/runs/
/.apsis/" "and it writes a .gitignore"
is "$(printf '%s\n' "$out" | sed '1,/^next:/d; s/ [^ ]*$//; s/git add .*/git add/' | paste -sd,)" \
    "  git,  git add,  apsis,  apsis,  apsis run --iterations" "the steps are in order"
printf '%s\n' "$out" | sed '1,/^next:/d; /apsis/!d; /git add/d; s/^  //' > "$work/commands"
is "$(paste -sd, "$work/commands")" "apsis setup,apsis baseline,apsis run --iterations 20" "down to the run"
git init -q . && commit
run setup
is "$code" 0 "setup has nothing to complain of"
unlike "$out" "^note" "and nothing to note"
run baseline
is "$code" 0 "baseline works at once, also in a folder with a space in its name"
run run --iterations 5 -q
is "$code" 0 "and so does a run"

echo mine > settings.lua
run init
is "$code" 2 "init where files exist exits 2"
like "$err" "nothing was written" "and says that it wrote nothing"
is "$(cat settings.lua)" mine "and the file is as it was"
run init --force
is "$code" 0 "init --force exits 0"
is "$(cat settings.lua~)" mine "and keeps the old file"
run init --force
is "$code" 2 "but not over a file it kept before"
is "$(cat settings.lua~)" mine "which stays"

run init "$work/new/deep"
is "$code" 0 "init DIR makes the folder"
ok "and writes the manifest there" test -f "$work/new/deep/manifest.yaml"

mkdir "$work/other" && cd "$work/other" && printf '*.o\nlogs' > .gitignore
run init
is "$(cat .gitignore)" "*.o
logs" "a .gitignore that exists stays as it is"
like "$out" "add these lines to it: /runs/ /.apsis/$" "and the lines it lacks are said"
git init -q . && sh -c "$(printf '%s\n' "$out" | sed '1,/^next:/d; /apsis [sbr]/d')" > /dev/null
is "$(git status --porcelain) $(git check-ignore logs/x runs/x .apsis/x | wc -l)" " 3" "the printed steps add them"

cd "$work" || exit 1
run init --help
example=$(printf '%s\n' "$out" | tr '\n' ' ' | sed 's/.*example: //')
sh -c "PATH=\"$(dirname "$APSIS"):\$PATH\"; $example" > "$work/example" 2>&1
is "$?" 0 "the example of init --help works"
run init --strategy mine
is "$code" 2 "--strategy needs a name that ends in .lua"
like "$err" "mine.lua" "and says so"
run init --strategy 'no good.lua'
is "$code" 2 "a name with a space is refused"
run init --strategy hillclimb.lua
is "$code" 2 "a shipped strategy's name is refused"
run init --strategy mine.lua
is "$code" 0 "--strategy mine.lua writes a strategy"
run exec mine_test.lua
is "$code" 0 "and its test passes"
like "$out" "^1\.\.[1-9]" "having tested something"
sed -i 's/return run.metric:better(candidate, run.best)/return true/' mine.lua
run exec mine_test.lua
is "$code" 1 "the test fails where the strategy keeps everything"
run init --strategy mine.lua
is "$code" 2 "an existing strategy is not written over"

# A standing goal is written where `apsis schedule` looks for it.
mkdir -p "$work/goals/src/deep" && cd "$work/goals/src/deep" && git init -q "$work/goals" || exit 1
run init --program coverage
is "$code" 0 "--program in a subdirectory exits 0"
like "$out" "^wrote ../../.autoloop/programs/coverage.md$" "and writes to the repository's root, which it says"
like "$out" "^  cd ../..$" "and that the next steps are to be done there"
ok "the file is there" test -f "$work/goals/.autoloop/programs/coverage.md"
sh -c "$(printf '%s\n' "$out" | sed '1,/^next:/d; /fill in/d; /apsis/d; s/ && git commit.*/ \&\& git commit -qm goal/')"
is "$(git -C "$work/goals" status --porcelain)" "" "the printed steps commit it"
run schedule
like "$out" "^coverage +unconfigured" "and the schedule has it, from the subdirectory too"
run init --program coverage
is "$code" 2 "an existing goal is not written over"
mkdir "$work/goals/src/.autoloop"
run init --program size
like "$out" "^wrote ../.autoloop/programs/size.md$" "a directory above that holds .autoloop comes before the root"
cd "$work" || exit 1
run init --program speed goals/src/new/folder
is "$code $(printf '%s\n' "$out" | sed -n 's/^wrote //p')" "0 goals/src/.autoloop/programs/speed.md" "DIR may be one that does not exist"
ok "and is not made in vain" test ! -e goals/src/new
run init --program speed goals/src/.autoloop/programs/speed.md
is "$code" 2 "DIR may be no file"
mkdir "$work/alone" && cd "$work/alone" || exit 1
run init --program coverage
is "$(printf '%s\n' "$out" | sed -n '1p; 3p' | paste -sd,)" "wrote .autoloop/programs/coverage.md,  git init" "without a repository it is DIR, and git init the first step"
git init -q --bare "$work/bare.git"
run init --program coverage "$work/bare.git"
is "$code" 3 "a bare repository has no place for one"

cd "$work/a b" && "$APSIS" init --strategy own.lua > /dev/null
run run --strategy own.lua --iterations 3 -q
is "$code" 0 "a scaffolded strategy runs"
done_testing
