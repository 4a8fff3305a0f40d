#!/usr/bin/env bash
# apsis tick: which goal, whose branch is brought up to date how, what people's edits do, two ticks at once, a fresh clone, errors.
. tests/cli/lib.sh || exit 1
. tests/cli/goals.sh

goals cases
item "no branch yet: it begins at the default branch, and holds what was kept"
apsis tick --quiet
is "exit" "$code" 0
is "lines" "$(outcomes)" "baseline kept "
is "tip" "$(git rev-parse autoloop/rise)" "$(git rev-parse refs/apsis/rise/c0001)"
end_item

goals earlier
item "a state file from before apsis: its best is not lowered but goes to a row of its own, which is said"
printf '# Autoloop: rise\n\n## Machine State\n\n| Field | Value |\n|---|---|\n| Best Metric | 99 |\n\n## Lessons Learned\n\n- x\n' >"$T/state.md"
tree=$(printf '100644 blob %s\trise.md\n' "$(git hash-object -w "$T/state.md")" | git mktree)
git update-ref refs/heads/memory/autoloop "$(git commit-tree -m old "$tree")"
apsis tick --quiet
like "said" "$err" "rise.md: Best Metric says 99, which is from before apsis kept a journal here: it goes to the row Earlier Best Metric"
is "rows" "$(row 'Earlier Best Metric') $(row 'Best Metric')" "99 10"
apsis tick --quiet --program rise
is "later too" "$(row 'Earlier Best Metric') $(row 'Best Metric')" "99 20"
unlike "said once" "$err" "Earlier"
end_item

cd "$T/cases" || exit 1
item "not due: nothing runs, and the reason stands in autoloop.json"
apsis tick
is "exit" "$code" 0
like "said" "$out" "skipped  rise: not due yet, next "
is "lines" "$(outcomes)" "baseline kept "
like "why" "$(cat .apsis/autoloop.json)" '"reason": "not due yet"'
like "not_due" "$(cat .apsis/autoloop.json)" '"not_due": true'
end_item

item "--program forces past due; ahead of the default branch nothing is merged"
apsis tick --quiet --program rise
is "exit" "$code" 0
is "lines" "$(outcomes)" "baseline kept kept "
end_item

item "somebody works on the goal: this tick leaves, and it is no error of the goal"
before=$(git rev-parse memory/autoloop)
ready=$T/locked
cat >"$T/hold.lua" <<END
local lock = assert(require("apsis.state").lock("$home/.apsis/lock"))
assert(require("apsis.fs").write("$ready", ""))
while require("apsis.fs").stat("$ready") do require("apsis.wait").sleep(0.05) end
lock:close()
END
"$APSIS" exec "$T/hold.lua" &
until [ -e "$ready" ]; do sleep 0.05; done
apsis tick --quiet --program rise
rm "$ready" && wait $!
is "exit" "$code" 3
like "why" "$err" "another apsis is running in this project .pid [0-9]+ since"
is "the state file stays" "$(git rev-parse memory/autoloop)" "$before"
ok "no turn is noted" test ! -e "$home/.apsis/turn"
end_item

item "merged and moved on: the branch moves to the default branch, whose tip is a new baseline"
git merge -q --no-ff -m 'merge the goal' autoloop/rise
commit_file other.txt newer
apsis tick --quiet --program rise
is "exit" "$code" 0
is "lines" "$(outcomes)" "baseline kept kept baseline kept "
ok "from main" git merge-base --is-ancestor main autoloop/rise
is "their file" "$(git show autoloop/rise:other.txt)" newer
is "no merge commit" "$(git rev-list --merges main..autoloop/rise)" ""
end_item

item "both moved on: the default branch is merged in and measured, and their work stays"
commit_file other.txt newest
apsis tick --quiet --program rise
is "exit" "$code" 0
is "lines" "$(outcomes)" "baseline kept kept baseline kept baseline kept "
is "their file" "$(git show autoloop/rise:other.txt)" newest
like "a merge" "$(git log --format=%s --merges main..autoloop/rise)" "Merge main into autoloop/rise"
is "value" "$(git show autoloop/rise:value.txt)" 60
end_item

item "somebody's commit on the branch is measured, not taken back"
git switch -q autoloop/rise && commit_file value.txt 500 && git switch -q main
apsis run $home --iterations 1 --quiet
is "run alone refuses" "$code" 3
like "and says how" "$err" "apsis tick"
apsis tick --quiet --program rise
is "exit" "$code" 0
is "the newest" "$(outcomes | tr ' ' '\n' | tail -2 | tr '\n' ' ')" "baseline reverted_worse_metric "
is "it stays" "$(git show autoloop/rise:value.txt)" 500
is "the state file follows" "$(row 'Best Metric')" 500
end_item

item "a conflict pauses with the files named, and nothing is written to the branch"
before=$(git rev-parse autoloop/rise)
commit_file value.txt 7
apsis tick --quiet --program rise
is "exit" "$code" 0
is "branch" "$(git rev-parse autoloop/rise)" "$before"
is "paused" "$(row Paused)" true
like "why" "$(row 'Pause Reason')" "conflict.*value.txt"
apsis tick
like "skipped" "$out" "skipped  rise: paused: .*conflict"
end_item

goals edits
item "a person's pause is obeyed and kept; forced, the goal runs and stays paused"
apsis tick --quiet
edit rise.md 's/^| Paused | false |/| Paused | yes |/; s/^| Pause Reason | — |/| Pause Reason | holidays |/'
at 2100-01-01T00:00:00Z
apsis tick
like "skipped" "$out" "skipped  rise: paused: holidays"
apsis tick --quiet --program rise
is "forced" "$code" 0
is "lines" "$(outcomes)" "baseline kept kept "
is "still paused" "$(row 'Pause Reason')" holidays
end_item

item "an edited measurement is refused, loudly, and put back; an edited control field wins"
edit rise.md 's/^| Best Metric | 20 |/| Best Metric | 9000 |/; s/^| Paused | .* |/| Paused | false |/; s/^| Issue | — |/| Issue | #7 |/'
at 2100-01-02T00:00:00Z
apsis tick --quiet
is "exit" "$code" 0
like "said" "$err" "Best Metric is 9000, but the journal has 20"
is "back" "$(row 'Best Metric')" 30
is "their issue" "$(row Issue)" "#7"
like "in autoloop.json" "$(cat .apsis/autoloop.json)" '"selected_issue": 7'
end_item

item "priorities and foreclosed avenues reach the provider"
edit rise.md 's/^\*(none yet)\*/Look at the *allocator* first./'
edit rise.md '/Foreclosed Avenues/,/^---/s/^- \*(none yet)\*/- rewriting the parser/'
sed -i "s|^provider:.*|provider: {kind: command, run: 'cat >$T/asked.md; echo 77 >value.txt', retries: 0}|" $home.md
at 2100-01-03T00:00:00Z
apsis tick --quiet
is "exit" "$code" 0
like "priorities" "$(cat "$T/asked.md")" "Look at the \*allocator\* first"
like "foreclosed" "$(cat "$T/asked.md")" "rewriting the parser"
end_item

item "five rejections in a row are a plateau; an edit ends it"
edit rise.md 's/^| Recent Statuses | .* |/| Recent Statuses | accepted, rejected, rejected, rejected, rejected, rejected |/'
at 2100-01-04T00:00:00Z
apsis tick
like "plateau" "$out" "skipped  rise: plateau: 5 consecutive rejections"
edit rise.md 's/^| Recent Statuses | .* |/| Recent Statuses | — |/'
apsis tick
like "goes on" "$out" "chosen   rise"
end_item
unset APSIS_NOW

FRONT='' PROVIDE='return function() error("no idea") end' goals failing
item "three errors in a row pause, with the last reason"
for _ in 1 2 3; do apsis tick --quiet; done
is "paused" "$(row Paused)" true
like "why" "$(row 'Pause Reason')" "3 consecutive errors: .*no idea"
apsis tick
like "then skipped" "$out" "skipped  rise: paused: 3 consecutive errors"
end_item

FRONT='' MEASURE='exit 7' goals broken
item "a baseline that cannot be measured is an error of the goal, and starves no other"
cat >.autoloop/programs/well.md <<<"$(sed 's/exit 7/echo "METRIC rise=$(cat value.txt)"/' $home.md)"
git add -A && git commit -qm well
for hour in 1 2 3 4; do at "2100-01-01T0$hour:00:00Z"; apsis tick --quiet; done
unset APSIS_NOW
is "its state" "$(row 'Consecutive Errors') $(row 'Recent Statuses')" "2 error, error"
is "the other ran" "$(row 'Iteration Count' well)" 2
end_item

FRONT='strategy: nowhere.lua' goals unloadable
item "a goal that cannot be opened counts an error, and says why"
apsis tick --quiet
is "exit" "$code" 2
like "said" "$err" "nowhere.lua"
is "counted" "$(row 'Consecutive Errors')" 1
end_item

FRONT='metric_direction: upwards' goals wrong
item "a wrong front matter is refused with file and line, and that goal alone is not run"
cat >.autoloop/programs/well.md <<<"$(sed 's/upwards/higher/' $home.md)"
git add -A && git commit -qm well
apsis tick --quiet
is "exit" "$code" 0
like "chosen" "$out" "chosen   well"
like "said" "$err" "rise: .*rise.md:2: metric_direction: .*higher, lower"
apsis tick --quiet --program rise
is "forced, it is an error" "$code" 2
like "the same" "$err" "rise.md:2: metric_direction"
apsis tick --quiet --program ris
is "unknown names are errors" "$code" 2
like "suggestion" "$err" "did you mean .?rise"
end_item

item "a target that is met already: completed by the baseline; forced, it runs nevertheless"
FRONT='target-metric: 1' goals met
apsis tick --quiet
is "completed" "$(row Completed)" true
is "no experiment" "$(outcomes)" "baseline "
apsis tick --quiet --program rise
is "forced" "$(outcomes)" "baseline kept "
is "still completed" "$(row Completed)" true
end_item

item "lower is met by <=, and the reason says so"
FRONT=$'metric_direction: lower\ntarget-metric: 0.9' PROVIDE='return function() return { ["value.txt"] = "0.85\n" } end' goals lower
apsis tick --quiet
is "completed" "$(row Completed)" true
like "reason" "$(row 'Completed Reason')" "0.9 reached with value 0.85 .lower is better"
end_item

item "two at once: the second leaves, or waits; never both on one goal"
FRONT='' MEASURE="while [ -e $T/hold ]; do sleep 0.05; done; echo METRIC rise=\$(cat value.txt)" goals twice
touch "$T/hold"
"$APSIS" tick --quiet >/dev/null 2>&1 &
first=$!
for _ in $(seq 2400); do [ -f .git/apsis-tick.lock ] && break; nap 0.05; done
apsis tick --quiet
is "leaves" "$code" 3
like "said" "$err" "another tick is running"
rm "$T/hold"
apsis tick --quiet --wait
is "waits" "$code" 0
wait "$first"
is "both did their work" "$(outcomes)" "baseline kept kept "
is "numbers" "$(row 'Journal Lines')" 3
end_item

item "a fresh clone goes on where the last tick stopped"
FRONT='' goals origin
apsis tick --quiet
apsis tick --quiet
git clone -q "$T/origin" "$T/clone" && cd "$T/clone" || exit 1
apsis schedule
like "schedule knows" "$out" "rise.*20"
apsis tick --quiet
is "exit" "$code" 0
is "lines" "$(outcomes)" "baseline kept kept kept "
is "counted on" "$(row 'Iteration Count')" 3
ok "on their branch" git merge-base --is-ancestor origin/autoloop/rise autoloop/rise
ok "on their memory" git merge-base --is-ancestor origin/memory/autoloop memory/autoloop
end_item

item "a shallow clone of one commit ticks on"
git clone -q --depth 1 "file://$T/origin" "$T/shallow" && cd "$T/shallow" || exit 1
apsis tick --quiet && apsis tick --quiet && apsis tick --quiet
is "exit" "$code" 0
is "lines" "$(outcomes)" "baseline kept kept kept "
end_item

item "a state file that cannot be written starves no other goal"
FRONT='' goals heavy
cat >.autoloop/programs/well.md <<<"$(sed 's/METRIC rise/METRIC rise/' $home.md)"
git add -A && git commit -qm well
at 2100-01-01T01:00:00Z && apsis tick --quiet && at 2100-01-01T02:00:00Z && apsis tick --quiet
edit rise.md "\$ a ## Mine\n$(head -c 40000 /dev/zero | tr '\0' x)"
for hour in 3 4 5 6; do at "2100-01-01T0$hour:00:00Z"; apsis tick --quiet; done
is "the other ran" "$(row 'Iteration Count' well)" 3
at 2100-01-01T07:00:00Z
apsis tick --quiet
is "exit" "$code" 3
like "said" "$err" "never cut"
unset APSIS_NOW
end_item

item "a Target that is not committed is said with the line to run, and starves no other goal"
FRONT='' goals uncommitted
sed -i 's/- `value.txt`/- `value.txt`\n- `new.txt`/' $home.md && cp $home.md .autoloop/programs/well.md && sed -i '/new.txt/d' .autoloop/programs/well.md
git add -A && git commit -qm well && echo 1 >new.txt
at 2100-01-01T01:00:00Z && apsis tick --quiet
is "exit" "$code" 3
like "said" "$err" "git add new.txt"
at 2100-01-01T02:00:00Z && apsis tick --quiet
is "then the other" "$code $(row 'Iteration Count' well)" "0 1"
unset APSIS_NOW
end_item

item "one name in two folders of goals is refused, for the branch would be one"
FRONT='' goals nested
mkdir sub && cp -r .autoloop sub/ && rm -rf sub/.autoloop/programs/rise && git add -A && git commit -qm sub
apsis tick --quiet
is "exit" "$code" 2
like "said" "$err" "sub/.autoloop/programs/rise.md also names a goal rise"
end_item

item "people's edits: completed is taken back, reopened by another target, and met within a tick ends it"
FRONT='target-metric: 20' goals targets
apsis tick --quiet --experiments 9
is "ends there" "$(outcomes)" "baseline kept kept "
edit rise.md 's/^| Completed | true |/| Completed | false |/'
apsis tick --quiet
is "a person wants more" "$code $(row 'Best Metric') $(row Completed)" "0 30 false"
apsis tick --quiet
is "and more" "$(row 'Best Metric')" 40
edit rise.md 's/^| Completed | false |/| Completed | true |/'
sed -i 's/target-metric: 20/target-metric: 60/' $home.md
apsis tick --quiet
is "another target goes on" "$(row 'Best Metric') $(row Completed)" "50 false"
apsis tick --quiet
is "until it is met" "$(row Completed) $(row 'Completed Reason')" "true target metric 60 reached with value 60 (higher is better)"
end_item

item "edited counters and entries are put back, and nothing stands twice"
FRONT='' goals counters
apsis tick --quiet --experiments 3
edit rise.md 's/^| Journal Lines | .*/| Journal Lines | 1 |/; s/^| Iteration Count | .*/| Iteration Count | 0 |/; s/Metric\*\*: 20 (/Metric**: 99999 (/'
apsis tick --quiet
is "counted on" "$(row 'Journal Lines') $(row 'Iteration Count') $(row 'Recent Statuses')" "5 4 accepted, accepted, accepted, accepted"
like "said: lines" "$err" "Journal Lines is 1"
like "said: entry" "$err" "c0002 has Metric 99999, but the journal has 20"
is "once each" "$(git show memory/autoloop:rise.md | grep -c '^### Iteration')" 4
end_item

item "a person's pause outlives a merge conflict"
FRONT='' goals held
apsis tick --quiet
edit rise.md 's/^| Paused | false |/| Paused | true |/; s/^| Pause Reason | — |/| Pause Reason | holiday |/'
commit_file value.txt 7
apsis tick --quiet --program rise
is "still theirs" "$(row Paused) $(row 'Pause Reason')" "true holiday"
end_item

item "clones that went separate ways are told, not mixed"
cd "$T/origin" && apsis tick --quiet
cd "$T/clone" && git fetch -q
apsis tick --quiet
is "exit" "$code" 2
like "said" "$err" "rise: memory/autoloop and origin/memory/autoloop have diverged"
end_item

# two_clones NAME: an origin with two goals, and clones of it, a and b, in each of which no tick has been made.
two_clones() {
    goals "$1" && sed 's/rise\b/fall/g; s/value.txt/other.txt/; s/METRIC rise/METRIC fall/' .autoloop/programs/rise.md >.autoloop/programs/fall.md
    echo 1 >other.txt && sed 's/value.txt/other.txt/' rise.lua >fall.lua && git add -A && git commit -qm "two goals"
    git init -q --bare "$T/$1.git" && git push -q "$T/$1.git" main
    mkdir "$T/$1-clones" && git clone -q "$T/$1.git" "$T/$1-clones/a" && git clone -q "$T/$1.git" "$T/$1-clones/b"
    cd "$T/$1-clones" || exit 1
}

item "two clones that each make the first tick of another goal before a push: the second joins both, and nothing is lost"
two_clones apart
( cd a && "$APSIS" tick --program rise --quiet && git push -q origin memory/autoloop autoloop/rise ) >/dev/null 2>&1
cd b && apsis tick --program fall --quiet
is "its tick" "$code" 0
git fetch -q && apsis schedule
is "schedule: exit" "$code" 0
like "schedule knows the other's goal" "$out" "rise +not due .* 10 "
apsis tick --program fall
is "exit" "$code" 0
unlike "no refusal" "$err" "diverged|traceback"
is "the journal of this one" "$(git show memory/autoloop:fall.jsonl | wc -l)" 3
is "and of the other" "$(git show memory/autoloop:rise.jsonl)" "$(cat ../a/$home/logs/results.jsonl)"
is "with its state" "$(row 'Best Metric')" 10
ok "a push is a fast-forward" git push -q origin memory/autoloop autoloop/fall
ok "and so is the other's pull" git -C ../a fetch -q origin memory/autoloop:memory/autoloop
end_item

item "two clones that both make the first tick of one goal: the second says what each way out loses, and either way works"
for way in theirs mine; do
    two_clones "both-$way"
    ( cd a && "$APSIS" tick --program rise --quiet && git push -q origin memory/autoloop autoloop/rise ) >/dev/null 2>&1
    cd b && sed -i 's/10 \*/20 */' rise.lua && git commit -qam "other steps" && apsis tick --program rise --quiet
    own=$(cat $home/logs/results.jsonl) && git fetch -q
    apsis tick --program rise
    is "$way: exit" "$code" 2
    like "$way: plainly" "$err" "both change rise.jsonl from line 1 on; to take origin's, which loses 2 lines measured here"
    unlike "$way: no traceback" "$err" "traceback|lua:"
    is "$way: nothing is changed" "$(cat $home/logs/results.jsonl)" "$own"
    if [ $way = theirs ]; then
        eval "$(sed "s/.* (rise.jsonl from line 1 on)[^:]*: \(git branch .*\); to keep.*/\1/" <<<"$err")" >/dev/null
        is "theirs: the local lines are kept beside" "$(cat $home/logs/results.jsonl.old)" "$own"
    else
        eval "$(sed 's/.*: \(git push --force-with-lease .*\)/\1/' <<<"$err")" >/dev/null 2>&1
    fi
    apsis tick --program rise --quiet
    is "$way: goes on" "$code" 0
    is "$way: from" "$(sed -n 2p $home/logs/results.jsonl | grep -o '"primary_metric":[0-9]*')" \
        "\"primary_metric\":$([ $way = theirs ] && echo 10 || echo 20)"
    kept=$([ $way = theirs ] && echo origin/autoloop/rise || echo refs/apsis/rise/c0001)
    ok "$way: its candidate is on the branch" git merge-base --is-ancestor "$kept" autoloop/rise
    [ $way = mine ] || is "theirs: and the other, which nobody measured there, is not" \
        "$(git branch --contains refs/apsis/rise/c0001 --list autoloop/rise)" ""
done
end_item

item "a person's pushed edit beside a local turn is obeyed after a fetch, with nothing lost and nothing told twice"
FRONT="on: {kept: 'echo \$APSIS_CANDIDATE >>$T/told'}" goals shared
apsis tick --quiet
git clone -q --bare . "$T/hub.git" && git remote add origin "$T/hub.git"
git clone -q "$T/hub.git" "$T/person" && cd "$T/person" && git switch -q memory/autoloop
sed -i 's/^| Paused | false |/| Paused | true |/; s/^| Pause Reason | — |/| Pause Reason | our fair |/' rise.md
git commit -qam "a pause" && git push -q
cd "$T/shared" && apsis tick --quiet
git fetch -q
apsis schedule
is "schedule: exit" "$code" 0
like "schedule knows" "$out" "our fair"
apsis tick
is "exit" "$code" 0
like "obeyed" "$out" "skipped  rise: paused: our fair"
is "paused" "$(row Paused) $(row 'Pause Reason')" "true our fair"
is "lines" "$(outcomes)" "baseline kept kept "
is "counted" "$(row 'Iteration Count') $(row 'Best Metric') $(row 'Journal Lines')" "2 20 3"
is "the journal is the local one" "$(git show memory/autoloop:rise.jsonl)" "$(cat $home/logs/results.jsonl)"
is "told once" "$(tr '\n' ' ' <"$T/told")" "c0001 c0002 "
ok "a push is a fast-forward" git push -q origin memory/autoloop
ok "and so is the person's pull" git -C "$T/person" pull -q --ff-only
end_item

item "memory: folder keeps the state file in the working tree"
FRONT='memory: folder' goals folder
apsis tick --quiet
is "exit" "$code" 0
like "file" "$(cat .autoloop/memory/rise.md)" "Best Metric . 10 "
ok "no branch" test -z "$(git for-each-ref refs/heads/memory)"
sed -i 's/^| Paused | false |/| Paused | true |/' .autoloop/memory/rise.md
apsis tick
like "obeyed" "$out" "skipped  rise: paused"
end_item

item "a manifest.yaml that names a program is a goal; in a directory of its own"
new_project inner/part && cd "$T/inner" && rm -rf part/.git && git init -q . && sed -i '1a program: part\nschedule: hourly' part/manifest.yaml
git add -A && git commit -qm part
apsis tick --quiet
is "exit" "$code" 0
is "branch" "$(git show autoloop/part:part/value.txt)" 1
like "state" "$(git show memory/autoloop:part.md)" "Best Metric . 1 "
is "its journal is its own" "$(wc -l <part/logs/results.jsonl | tr -d ' ')" 2
end_item

item "memory: folder in a clone without the journal: its history is not taken for false"
FRONT='memory: folder' goals committed
apsis tick --quiet && apsis tick --quiet && git add .autoloop/memory && git commit -qm state
git clone -q "$T/committed" "$T/recloned" && cd "$T/recloned" || exit 1
apsis tick --quiet
is "exit" "$code" 3
like "said" "$err" "has an entry for c0002, but the journal here .*copy the journal"
is "nothing but the turn is noted" "$(git diff -U0 | grep '^[+-][^+-]' | grep -v '^[+-]| Last Run |')" ""
end_item

item "a goal that is a manifest.yaml is known by its name too, and a second one of that name is not begun"
cd "$T/inner" && apsis log part
is "exit" "$code" 0
like "its log" "$out" "c0001"
apsis init --program part
is "init: exit" "$code" 2
like "init: said" "$err" "part/manifest.yaml already names a goal part"
end_item

item "a command of on: that is interrupted is said"
FRONT="on: {kept: 'touch $T/begun; sleep 30'}" goals cut
"$APSIS" tick --quiet >"$T/cut.out" 2>"$T/cut.err" &
cut=$!
for _ in $(seq 2400); do [ -e "$T/begun" ] && break; nap 0.05; done
kill -INT "$cut"
wait "$cut"
is "exit" "$?" 130
like "said" "$(cat "$T/cut.err")" "on: kept: the command was interrupted and is not run again"
end_item

item "the memory branch checked out somewhere: refused before anything is done"
FRONT='' goals occupied
apsis tick --quiet
git worktree add -q "$T/occupied-memory" memory/autoloop
apsis tick --quiet
is "exit" "$code" 3
like "said" "$err" "memory/autoloop is checked out in"
is "nothing ran" "$(outcomes)" "baseline kept "
end_item

item "no programs, no repository, a wrong APSIS_NOW"
new_project none
apsis tick
is "none: exit" "$code" 0
like "none: said" "$out" "no programs here"
like "none: json" "$(cat .apsis/autoloop.json)" '"no_programs": true'
mkdir "$T/bare" && cd "$T/bare" && apsis tick
is "no repository" "$code" 3
cd "$T/none" && APSIS_NOW=soon apsis tick
is "now: exit" "$code" 2
like "now: said" "$err" "APSIS_NOW: .*soon"
end_item

item "--json is one object: the choice and what came of it"
FRONT='' goals json
apsis tick --quiet --json
is "exit" "$code" 0
is "one line" "$(wc -l <"$T/.out" | tr -d ' ')" 1
like "choice" "$out" '"selected": ?"rise"'
like "result" "$out" '"experiments": ?1'
like "out" "$(apsis tick --quiet --experiments 2 --out "$T/chosen.json"; cat "$T/chosen.json")" '"head_branch": "autoloop/rise"'
is "two of them" "$(outcomes)" "baseline kept kept kept "
end_item

finish
