#!/bin/bash
# bad_usage: numbers out of range, commands out of order, a second baseline, projects behind links.
. tests/cli/lib.sh || exit 1

new_project tiny

item "run without a baseline: exit 3 naming the command"
apsis run --iterations 1
is "exit code" "$code" 3
like "remedy" "$err" "apsis baseline"
is "no line" "$(lines)" 0
end_item

item "step without a baseline: exit 3 naming the command"
apsis step
is "exit code" "$code" 3
like "remedy" "$err" "apsis baseline"
end_item

apsis baseline

# refused ARGUMENTS REGEX: exit 2 with the message, and no experiment.
refused() {
    item "apsis $1: exit 2"
    apsis $1
    is "exit code" "$code" 2
    like "message" "$err" "$2"
    unlike "message" "$err" "traceback"
    is "no experiment" "$(lines)" 1
    end_item
}
refused "run --iterations 0" "--iterations: must be 1 or more"
refused "run --iterations -3" "--iterations"
refused "run --iterations=-3" "--iterations"
refused "run --iterations 1.5" "--iterations"
refused "run --iterations many" "--iterations"
refused "run --iterations 99999999999999999999" "--iterations"
refused "run --iterations" "--iterations"
refused "run --minutes 0" "--minutes"
refused "run --minutes=-1" "--minutes"
refused "run --minutes nan" "--minutes"
refused "run --workers 0" "--workers"
refused "run --workers 100000" "--workers"
refused "run --seed x" "--seed"
refused "run --itterations 3" "--itterations"
refused "run --set patience" "--set"
refused "run --set patience=abc" "--set: .*option patience must be a number"
sed -i.bak 's/^strategy:.*/strategy: {use: hillclimb, options: {patiense: 3}}/' manifest.yaml
refused "run --set patience=5" "manifest.yaml:[0-9]+: strategy: .*unknown option \"patiense\""
mv manifest.yaml.bak manifest.yaml
refused "run --set patiense=3" "--set: .*did you mean \"patience\""
refused "run /no/such/directory" "/no/such/directory"
refused "runn" "run"

item "a second baseline: exit 2 naming the option; nothing changes"
apsis run --iterations 1
cp -r runs "$T/runs" && cp logs/results.jsonl "$T/results"
apsis baseline
is "exit code" "$code" 2
like "remedy" "$err" "--again"
ok "runs" diff -r runs "$T/runs"
ok "journal" cmp logs/results.jsonl "$T/results"
end_item

item "a second baseline by --again: the next number; no run's folder, ref or line is overwritten"
echo 100 >value.txt && git commit -qam hundred
before=$(git for-each-ref refs/apsis)
apsis baseline --again
is "exit code" "$code" 0
is "outcome" "$(field 2 outcome)" baseline
is "value" "$(field 2 primary_metric)" 100
is "candidate" "$(field 2 candidate)" c0002
ok "the lines before" cmp -n "$(stat -c %s "$T/results")" "$T/results" logs/results.jsonl
for dir in 0000_baseline 0001; do ok "runs/$dir" diff -r -x history.json "runs/$dir" "$T/runs/$dir"; done
is "refs before" "$(git for-each-ref refs/apsis | grep -v c0002)" "$before"
apsis run --iterations 1
is "run" "$code" 0
is "experiment 3 starts from it" "$(field 3 parents)" '["c0002"]'
end_item

item "a project behind a symlink: the same project, journal and workspaces"
new_project real
ln -s "$T/real" "$T/link"
cd "$T"
apsis baseline "$T/link"
is "baseline" "$code" 0
apsis run "$T/link" --iterations 1
apsis run "$T/real" --iterations 1
is "run" "$code" 0
cd "$T/real"
is "lines" "$(lines)" 3
is "experiment 2" "$(field 2 outcome)" kept
ok "the link is still one" test -L "$T/link"
end_item

item "a project behind a symlinked directory above it, from inside"
mkdir "$T/deep" && ln -s "$T/deep" "$T/short" && cd "$T/short" && mkdir p && cd p && git init -q . && fill_project
git add -A && git commit -qm start
apsis baseline
is "baseline" "$code" 0
apsis run --iterations 1
is "run" "$code" 0
is "kept" "$(field 1 outcome)" kept
end_item

item "a writable file that is a symlink out of the project: never followed"
new_project linkfile
echo 5 >"$T/precious"
rm value.txt && ln -s "$T/precious" value.txt && git add -A && git commit -qm link
apsis baseline
apsis run --iterations 1
is "the file outside" "$(cat "$T/precious")" 5
unlike "no crash" "$err" "traceback"
end_item

item "runs from a subdirectory: the project is found upwards"
new_project upwards
mkdir -p a/b && cd a/b
apsis baseline
is "baseline" "$code" 0
ok "the journal is the project's" test -f ../../logs/results.jsonl
end_item

item "names with spaces, newlines, quotes and non-UTF-8 in the project's own path: works"
odd="$T/"$'a b\n"c\' \377'
mkdir "$odd" && cd "$odd" && git init -q . && fill_project && git add -A && git commit -qm start
apsis baseline
is "baseline" "$code" 0
apsis run --iterations 1
is "run" "$code" 0
is "kept" "$(field 1 outcome)" kept
end_item

item "an XDG_CACHE_HOME that is not absolute does not count"
new_project relative
capture env XDG_CACHE_HOME=cache "$APSIS" baseline
is "exit code" "$code" 0
ok "no folder of that name" test ! -e cache
ok "workspaces are in the home" test -d "$HOME/.cache/apsis"
end_item

item "no HOME and no XDG_CACHE_HOME: works or says what is missing"
new_project homeless
ls -A /tmp/.cache/apsis 2>/dev/null | sort >"$T/before"
capture env -u HOME -u XDG_CACHE_HOME -u XDG_CONFIG_HOME "$APSIS" baseline
unlike "no crash" "$err" "traceback"
ok "exit 0, or 3 with a message" test "$code" = 0 -o "$code" = 3
ls -A /tmp/.cache/apsis 2>/dev/null | sort | comm -13 "$T/before" - | while read -r made; do
    rm -rf "/tmp/.cache/apsis/$made"
done
rmdir /tmp/.cache/apsis /tmp/.cache 2>/dev/null
end_item

finish
