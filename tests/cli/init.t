#!/bin/sh
# init: what it writes runs as it is, and nothing of the user's is ever lost.
. tests/cli/lib.sh

mkdir "$T/a b" && cd "$T/a b" || exit 1
apsis init
is "init in an empty folder exits 0" "$code" 0
line "and says that a repository is needed" "$out" "git init"
line "and which files to commit" "$out" "git add .*manifest.yaml"
is "and it writes a .gitignore" "$(cat .gitignore)" "/logs/
/runs/
/.apsis/"
is "the steps are in order" "$(printf '%s\n' "$out" | sed '1,/^next:/d; s/ [^ ]*$//; s/git add .*/git add/' | paste -sd,)" \
    "  git,  git add,  apsis,  apsis,  apsis run --iterations"
printf '%s\n' "$out" | sed '1,/^next:/d; /apsis/!d; /git add/d; s/^  //' > "$T/commands"
is "down to the run" "$(paste -sd, "$T/commands")" "apsis setup,apsis baseline,apsis run --iterations 20"
git init -q . && commit
apsis setup
is "setup has nothing to complain of" "$code" 0
no_line "and nothing to note" "$out" "^note"
apsis baseline
is "baseline works at once, also in a folder with a space in its name" "$code" 0
apsis run --iterations 5 -q
is "and so does a run" "$code" 0

echo mine > settings.lua
apsis init
is "init where files exist exits 2" "$code" 2
line "and says that it wrote nothing" "$err" "nothing was written"
is "and the file is as it was" "$(cat settings.lua)" mine
apsis init --force
is "init --force exits 0" "$code" 0
is "and keeps the old file" "$(cat settings.lua~)" mine
apsis init --force
is "but not over a file it kept before" "$code" 2
is "which stays" "$(cat settings.lua~)" mine

apsis init "$T/new/deep"
is "init DIR makes the folder" "$code" 0
ok "and writes the manifest there" test -f "$T/new/deep/manifest.yaml"

mkdir "$T/other" && cd "$T/other" && printf '*.o\nlogs' > .gitignore
apsis init
is "a .gitignore that exists stays as it is" "$(cat .gitignore)" "*.o
logs"
line "and the lines it lacks are said" "$out" "add these lines to it: /runs/ /.apsis/$"
git init -q . && sh -c "$(printf '%s\n' "$out" | sed '1,/^next:/d; /apsis [sbr]/d')" > /dev/null
is "the printed steps add them" "$(git status --porcelain) $(git check-ignore logs/x runs/x .apsis/x | wc -l)" " 3"

cd "$T" || exit 1
apsis init --help
example=$(printf '%s\n' "$out" | tr '\n' ' ' | sed 's/.*example: //')
sh -c "PATH=\"$(dirname "$APSIS"):\$PATH\"; $example" > "$T/example" 2>&1
is "the example of init --help works" "$?" 0
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

cd "$T/a b" && "$APSIS" init --strategy own.lua > /dev/null
apsis run --strategy own.lua --iterations 3 -q
is "a scaffolded strategy runs" "$code" 0
finish
