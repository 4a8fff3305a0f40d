#!/bin/bash
# submit and wait: what a folder changed becomes an experiment of the run, which apsis decides.
. tests/cli/lib.sh

PROVIDER='' # nobody but who submits
new_project tiny
echo 10 >value.txt
commit ten
apsis baseline -q

result() { json result; }

item "a better file is kept, a worse one is not; the exit codes differ"
echo 12 >value.txt
apsis submit --title 'twelve' --asi hypothesis='more is more' --asi island=3
is "exit" "$code" 0
like "text" "$out" "^c0001 kept: score = 12, \+2: better than the best so far"
is "title" "$(field 1 proposal | grep -o '"title":"[a-z]*"')" '"title":"twelve"'
is "hypothesis" "$(field 1 hypothesis)" "more is more"
like "note" "$(field 1 notes)" '"island":"3"'
is "operator" "$(field 1 operator)" submitted
is "the user's file" "$(cat value.txt)" 12
is "the best" "$(git show apsis/tiny:value.txt)" 12
echo 5 >value.txt
apsis submit --json
is "exit" "$code" 1
is "result" "$(result)" rejected
is "outcome" "$(json line.outcome)" reverted_worse_metric
end_item

item "what was tried, and what is not changed, is not tried again"
apsis submit
is "exit" "$code" 1
like "text" "$out" "c0003 skipped_duplicate"
git checkout -q value.txt
apsis submit
is "exit" "$code" 2
like "message" "$err" "nothing to submit"
is "lines" "$(lines)" 4
end_item

item "a parent can be named, and a linked working tree belongs to the project"
git worktree add -q "$T/linked" refs/apsis/tiny/c0001
echo 13 >"$T/linked/value.txt"
cd "$T/linked" && apsis submit
cd "$T/tiny" || exit 1
is "exit" "$code" 0
is "its HEAD is the parent" "$(field 4 parents)" '["c0001"]'
git worktree remove --force "$T/linked"
cp -r . "$T/copied" && git -C "$T/copied" worktree add -q --detach "$T/of-copy" HEAD && echo 99 >"$T/of-copy/value.txt"
cd "$T/of-copy" && apsis submit
cd "$T/tiny" || exit 1
is "a copy's working tree is not this project's" "$code $(lines)" "3 5"
mkdir "$T/copy" && cp value.txt "$T/copy" && echo 14 >"$T/copy/value.txt"
apsis submit "$T/copy" -C .
is "exit" "$code" 2
like "message" "$err" "no checkout of git.*--parent"
apsis submit "$T/copy" -C . --parent best
is "outcome" "$(field 5 outcome)" reverted_scope_violation # the copy lacks other files
end_item

item "the run is one run, waits between submissions, and replays"
is "run" "$(field 1 run) $(field 5 run)" "1 1"
apsis status
like "status" "$out" "waiting for the next submission"
apsis replay --check
is "exit" "$code" 0
like "replay" "$out" "6 recorded lines; 0 plans compared, 0 differ; 5 handed in"
end_item

item "without waiting there is an id, and wait has the result"
echo 15 >value.txt
apsis submit --no-wait
like "id" "$out" '^s0006$'
apsis wait "$out"
is "exit" "$code" 0
like "text" "$out" "^c0006 kept"
apsis wait s0006 --json
is "again" "$(result) $(json line.experiment)" "kept 6"
apsis wait s0099
is "exit" "$code" 2
like "message" "$err" "s0099 is not known here"
end_item

item "wait with a timeout only waits, and the work goes on"
new_project slow
echo 1 >value.txt
echo 'while [ ! -e '"$T/go"' ]; do sleep 0.1; done; echo "METRIC score=$(cat value.txt)"' >evaluate.sh
commit slow
touch "$T/go"
apsis baseline -q
rm "$T/go"
echo 2 >value.txt
apsis submit --timeout 0.5
is "exit" "$code" 6
like "text" "$out" "s0001 is not done yet"
apsis wait s0001 --timeout 0 --json
is "exit" "$code" 6
is "result" "$(result)" pending
touch "$T/go"
apsis wait s0001
is "exit" "$code" 0
end_item

item "several at once are each tried once, as many at a time as there are workers"
EXTRA='execution: {workers: 2}' new_project many
apsis baseline -q
for n in 3 1 4 2; do
    git worktree add -q --detach "$T/many-$n"
    echo $n >"$T/many-$n/value.txt"
done
for n in 3 1 4 2; do "$APSIS" submit "$T/many-$n" >/dev/null 2>&1 & done
wait
is "lines" "$(lines)" 5
is "best" "$(git show apsis/many:value.txt 2>/dev/null || git show apsis/tiny:value.txt)" 4
is "each once" "$(grep -o '"handed":"s[0-9]*"' logs/results.jsonl | sort | uniq -c | grep -vc ' 1 ')" 0
end_item

item "a run that is driven keeps its budget: --iterations, --minutes and step are refused, run alone spends the rest"
PROVIDER='provider: {kind: lua, use: propose.lua}' EXTRA='budget: {iterations: 3}' new_project driven
echo 'return function(proposal) return { ["value.txt"] = proposal.experiment .. "\n" } end' >propose.lua
commit propose
apsis baseline -q
echo 50 >value.txt
apsis submit
for refused in "run --iterations 1" "run --minutes 1" "step"; do
    apsis $refused
    is "$refused" "$code $(lines)" "2 2"
    like "$refused" "$err" "run 1 is driven by .apsis submit., and would lose the rest of its budget: .apsis run. without"
done
echo 60 >value.txt
apsis submit
is "submit" "$code" 0
like "the budget" "$(apsis status; echo "$out")" "2 of 3 iterations"
apsis run -q
is "run" "$code $(lines)" "0 4"
like "its end" "$out" "budget: iterations used up \(3 in this run\)"
apsis run --iterations 1 -q
is "another run" "$code $(lines)" "0 5"
PROVIDER='provider: {kind: lua, use: propose.lua}' new_project unlimited
echo 'return function(proposal) return { ["value.txt"] = proposal.experiment .. "\n" } end' >propose.lua
commit propose
apsis baseline -q
echo 50 >value.txt
apsis submit
apsis run --iterations 1 -q
is "without a budget nothing is lost" "$code $(lines)" "0 3"
end_item

item "an apsis run takes what is submitted between its own experiments"
PROVIDER='provider: {kind: lua, use: propose.lua}' new_project run
cat >propose.lua <<'END'
return function(proposal)
  while proposal.experiment == 2 and not io.open(os.getenv "GO") do end
  return { ["value.txt"] = proposal.experiment .. "\n" }
end
END
commit propose
apsis baseline -q
GO=$T/go2 "$APSIS" run --iterations 4 -q >/dev/null 2>&1 &
until [ "$(lines)" = 2 ]; do sleep 0.05; done
echo 100 >value.txt
"$APSIS" submit --json >"$T/submitted" 2>"$T/err" &
until [ -e .apsis/inbox/s0001.json ]; do sleep 0.05; done
touch "$T/go2"
wait
out=$(cat "$T/submitted")
is "kept" "$(result)" kept
is "as the third" "$(field 3 operator)" submitted
is "four in all" "$(lines)" 5
end_item

item "modes, links, binary files and a file in place of a folder are taken as they are"
PROVIDER='' RULES='  - {path: "src/**", mode: writable}' new_project forms
mkdir -p src/d src/e && echo a >src/a && echo b >src/b && echo c >src/d/c && echo d >src/e/d && ln -s a src/link
commit forms
apsis baseline -q
chmod +x src/a && rm src/b && mkdir src/b && echo x >src/b/x && rm -r src/d && printf 'y\0\377' >src/d
ln -sfn e src/link && rm -r src/e && echo 1 >value.txt && mkfifo pipe
apsis submit
is "exit" "$code" 0
is "changes" "$(git diff --raw --no-renames refs/apsis/tiny/c0000 refs/apsis/tiny/c0001 | cut -d' ' -f1,2,5 | tr '\n\t' ',:')" \
    ":100644 100755 M:src/a,:100644 000000 D:src/b,:000000 100644 A:src/b/x,:000000 100644 A:src/d,\
:100644 000000 D:src/d/c,:100644 000000 D:src/e/d,:120000 120000 M:src/link,:100644 100644 M:value.txt,"
mkfifo src/pipe
apsis submit
is "a pipe" "$code" 2
like "message" "$err" "src/pipe is a pipe, socket or device"
rm src/pipe && head -c 101M /dev/zero >src/big
apsis submit
is "a large file" "$code" 2
like "message" "$err" "above max_file_mb"
end_item

item "of a project in a folder of its repository, only that folder is looked at"
mkdir -p "$T/repo/sub/deep" && cd "$T/repo" && git init -q . && echo 1 >beside
cd sub/deep && PROVIDER='' fill_project && commit deep
apsis baseline -q
echo 2 >"$T/repo/beside"
echo 5 >value.txt
apsis submit
is "here" "$code" 0
apsis next --json
is "directory" "$(json directory)" "$T/repo/sub/deep/.apsis/next/c0002/sub/deep"
echo 6 >"$(json directory)/value.txt"
cd "$(json directory)" && apsis submit
is "of next" "$code" 0
cd "$T/repo" && echo 7 >sub/deep/value.txt && apsis submit -C sub/deep
is "from above" "$code" 0
is "commits" "$(git show refs/apsis/tiny/c0003:beside) $(git show refs/apsis/tiny/c0003:sub/deep/value.txt)" "1 7"
end_item

item "the budget ends the run for submissions too, and a person begins another"
PROVIDER='' EXTRA='budget: {iterations: 2}' new_project over
apsis baseline -q
for n in 1 2 3; do
    echo $n >value.txt
    apsis submit
done
is "exit" "$code" 7
like "why" "$out" "the loop is over: budget: iterations used up"
is "lines" "$(lines)" 3
apsis wait s0003
is "wait" "$code" 7
apsis submit --new-run --json
is "exit" "$code" 0
is "another run" "$(json line.run)" 2
end_item

item "what is refused does not wait in the inbox, and uses no budget later"
PROVIDER='' new_project refused
apsis baseline -q
cp manifest.yaml "$T/manifest.yaml"
sed -i 's/run: sh evaluate.sh/run: sh -e evaluate.sh/' manifest.yaml
echo 1 >value.txt
apsis submit
is "exit" "$code" 2
like "message" "$err" "values would not be comparable"
unlike "message" "$err" "waits in the inbox"
apsis next
is "exit of next" "$code" 2
apsis submit --timeout 60
is "exit with a deadline" "$code" 2
like "text" "$out" "s0003 was not tried: .*values would not be comparable"
is "the inbox" "$(find .apsis/inbox -maxdepth 1 -name 's*.json')" ""
apsis wait s0001 --json
is "wait" "$code $(result)" "2 refused"
for n in 1 2 3 4 5 6 7 8; do "$APSIS" submit >/dev/null 2>&1 & done
wait
is "the inbox after several at once" "$(find .apsis/inbox -maxdepth 1 -name 's*.json')" ""
cp "$T/manifest.yaml" manifest.yaml
echo 2 >value.txt
apsis submit
is "exit" "$code" 0
is "lines" "$(lines)" 2
is "refs" "$(git for-each-ref | grep -c /submitted/)" 0
end_item

item "patience and the target end it"
PROVIDER='' STRATEGY='{use: hillclimb, options: {patience: 1}}' new_project patience
apsis baseline -q
echo -1 >value.txt
apsis submit
echo -2 >value.txt
apsis submit
is "exit" "$code" 7
like "why" "$out" "the loop is over: no improvement in 1"
end_item

finish
