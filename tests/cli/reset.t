#!/bin/bash
# reset: a run is put away and taken back, nothing is lost whenever it is killed, and the user's own is never touched.
. tests/cli/lib.sh || exit 1
. tests/cli/goals.sh

# What a run has left here, and what is the user's: refs, files, contents.
left() {
    git for-each-ref --format='%(refname) %(objectname)' refs/apsis refs/apsis-anchors refs/heads/apsis
    find logs runs .apsis -path .apsis/reset -prune -o ! -name lock ! -name apsis.log ! -name .gitignore ! -name '*.tmp-*' ! -type d \
        -printf '%p %l\n' -exec cksum {} + 2>/dev/null | sort
}
own() {
    git rev-parse HEAD refs/heads/main && git status --porcelain
    cat value.txt evaluate.sh propose.lua manifest.yaml
}

# has_run NAME: a project with a baseline and three experiments.
has_run() {
    new_project "$1"
    apsis baseline -q && apsis run -q --iterations 3
    is "run" "$code" 0
    before=$(left) mine=$(own)
}

item "without -f it prints what it would put away, and changes nothing"
has_run dry
apsis reset
is "exit" "$code" 0
line "the journal" "$out" "^journal: +4 lines, best c0003 = 3"
line "the candidates" "$out" "^candidates: +4 refs under refs/apsis/tiny/"
line "the branch" "$out" "^branch: +apsis/tiny, at "
line "the experiments" "$out" "^runs/: +[0-9]+ entries, .* kB"
line "the scratch checkouts" "$out" "^scratch checkouts, which are removed: $XDG_CACHE_HOME/apsis/.* bytes"
is "nothing changed" "$(left)" "$before"
apsis reset --json
is "JSON: done" "$(json done)" false
is "JSON: candidates" "$(json candidates)" 4
is "JSON: best" "$(json best.candidate)" c0003
is "still nothing changed" "$(left)" "$before"
end_item

item "-f puts a run away, and a new one begins"
apsis reset -f
is "exit" "$code" 0
like "the undo" "$out" "undo: apsis reset --undo"
is "nothing is left of it" "$(left)" ""
is "the user's own" "$(own)" "$mine"
is "scratch checkouts" "$(ls "$XDG_CACHE_HOME/apsis")" ""
apsis run -q --iterations 1
is "no run without a baseline" "$code" 3
like "the remedy" "$err" "apsis baseline"
apsis baseline -q
is "baseline" "$code" 0
is "it is the first" "$(field 0 candidate)" c0000
apsis run -q --iterations 1
is "lines" "$(lines)" 2
second=$(left)
end_item

item "an undo gives back the same, also after another run was put away"
apsis reset --undo
is "a run has begun: exit" "$code" 3
like "a run has begun: the remedy" "$err" "a run has begun since: put it away first .*--undo --from [0-9TZ]+"
is "a run has begun: it is untouched" "$(left)" "$second"
from=$(grep -oE -e '--from [0-9TZ]+' <<<"$err")
apsis reset -f
is "put away" "$code" 0
# shellcheck disable=SC2086
apsis reset --undo $from
is "exit" "$code" 0
is "the first run is back" "$(left | grep -v '[.]apsis/fold')" "$(grep -v '[.]apsis/fold' <<<"$before")"
apsis replay --check
is "it replays" "$code" 0
apsis run -q --iterations 1
is "it goes on" "$(lines) $code" "5 0"
apsis reset
line "the other is listed" "$out" "put away before, 2 lines, best c0001 = 1: .apsis reset --undo. takes it back"
end_item

item "--keep-best keeps the best as a branch; a second one gets its own name"
has_run kept
best=$(git rev-parse refs/apsis/tiny/c0003)
apsis reset -f --keep-best
is "exit" "$code" 0
like "it is named" "$out" "kept the best, c0003 = 3, as branch apsis/tiny-best"
is "the branch" "$(git rev-parse apsis/tiny-best)" "$best"
echo 7 >value.txt && git commit -qam seven
apsis baseline -q
apsis run -q --iterations 8
apsis reset -f --keep-best --json
is "the second" "$(json kept)" apsis/tiny-best-2
is "its value" "$(git show apsis/tiny-best-2:value.txt)" 8
is "the first is as it was" "$(git rev-parse apsis/tiny-best)" "$best"
end_item

item "files and refs of the user's own stay, in apsis's folders too"
has_run mixed
echo notes >logs/notes.txt; mkdir runs/mine; echo mine >runs/mine/0001; echo x >.apsis/own
git update-ref refs/apsis/other/c0001 HEAD; git branch apsis/tiny2; git tag apsis-tiny
apsis reset -f
is "exit" "$code" 0
is "files" "$(cat logs/notes.txt runs/mine/0001 .apsis/own | tr '\n' ' ')" "notes mine x "
is "refs" "$(git for-each-ref --format='%(refname)' refs/apsis refs/heads refs/tags | tr '\n' ' ')" \
    "refs/apsis/other/c0001 refs/heads/apsis/tiny2 refs/heads/main refs/tags/apsis-tiny "
end_item

item "packed refs and anchors go along"
has_run packed
git update-ref refs/apsis-anchors/tiny/0000 HEAD && git pack-refs --all
before=$(left)
apsis reset -f
is "exit" "$code" 0
is "nothing is left" "$(left)" ""
apsis reset --undo
is "all is back" "$(left)" "$before"
ok "the repository is sound" git fsck --strict --no-dangling
end_item

# lose REVISION: its object is deleted.
lose() { local id; id=$(git rev-parse "$1") && rm -f ".git/objects/${id:0:2}/${id:2}"; }

item "a candidate whose commit or tree is missing: setup names its ref and the remedy; -f puts the rest away, and --undo takes that back"
has_run undisturbed-missing
lose 'refs/apsis/tiny/c0001^{tree}'
apsis setup
line "a tree" "$out" "^note +candidates +refs/apsis/tiny/c0001: what it names is missing"
best=$(git rev-parse refs/apsis/tiny/c0003)
lose refs/apsis/tiny/c0003 && lose refs/apsis/tiny/c0002
apsis setup
line "several" "$out" "^note +candidates +refs/apsis/tiny/c0001 and 3 more: what it names is missing"
like "the remedy" "$out" "git fetch .*apsis reset -f"
apsis reset -f --keep-best
is "--keep-best: exit" "$code" 3
like "--keep-best: why" "$err" "c0003's commit ${best:0:10} is missing"
is "nothing changed" "$(left)" "$before"
apsis reset -f
is "exit" "$code" 0
like "what is said" "$err" "refs/apsis/tiny/c0002 .*is missing"
is "nothing is left of it" "$(left)" ""
is "the user's own" "$(own)" "$mine"
apsis reset --undo
is "undo" "$code $(lines)" "0 4"
is "what is there is back" "$(git for-each-ref --format='%(refname)' refs/apsis refs/heads/apsis | tr '\n' ' ')" "refs/apsis/tiny/c0000 refs/apsis/tiny/c0001 "
apsis reset -f
is "and away again" "$code" 0
end_item

item "make clean-demo: nothing is left of the demo"
rm -rf "$XDG_CACHE_HOME/apsis" && mkdir "$T/demo" && cp -r "$ROOT/examples/circle-packing/." "$T/demo" && cd "$T/demo" && rm -rf .apsis logs runs || exit 1
git init -q . && printf '%s\n' logs/ runs/ .apsis/ >.gitignore && commit demo
before=$(ls -A)
apsis baseline -q && apsis run -q --iterations 2 && apsis reset -f && apsis baseline -q
is "a baseline" "$code" 0
capture "$ROOT/.ci/clean-demo" "$APSIS" "$T/demo"
is "exit" "$code" 0
is "files" "$(ls -A)" "$before"
is "refs" "$(git for-each-ref --format='%(refname)')" refs/heads/main
is "workspaces" "$(ls "$XDG_CACHE_HOME/apsis")" ""
capture "$ROOT/.ci/clean-demo" "$APSIS" "$T/demo"
is "again" "$code" 0
end_item

# ---- what is refused ----

# refused WHAT CODE REGEX ARGUMENTS...: and nothing changed.
refused() {
    local what=$1 wanted=$2 regex=$3
    shift 3
    apsis reset "$@"
    is "$what: exit" "$code" "$wanted"
    like "$what: message" "$err" "$regex"
    is "$what: nothing changed" "$(left)" "$before"
    is "$what: the user's own" "$(own)" "$mine"
}

item "bad: a run goes on"
has_run busy
cat >evaluate.sh <<END
touch $T/waits; while [ ! -e $T/go ]; do sleep 0.05; done; echo "METRIC score=\$(cat value.txt)"
END
git commit -qam slow
"$APSIS" baseline -q --again --repeats 1 >/dev/null 2>&1 &
pid=$!
for _ in {1..2000}; do [ -e "$T/waits" ] && break; nap 0.02; done
journal=$(cksum <logs/results.jsonl) refs=$(git for-each-ref)
apsis reset -f
is "exit" "$code" 3
like "message" "$err" "another apsis is running in this project .pid $pid since [^ ]+.; .apsis status. shows what it does; Ctrl-C or .kill $pid. ends it; end it first"
is "the journal" "$(cksum <logs/results.jsonl)" "$journal"
is "the refs" "$(git for-each-ref)" "$refs"
apsis reset
is "without -f: exit" "$code" 0
line "without -f it is printed" "$out" "it would be refused: a run goes on .pid $pid,"
touch "$T/go"
wait "$pid"
rm -f "$T/go" "$T/waits"
end_item

item "bad: the run's branch is checked out"
has_run out
git switch -q apsis/tiny
before=$(left) mine=$(own)
refused "checked out" 3 "apsis/tiny is checked out in .*git switch to another" -f
git switch -q main && git worktree add -q "$T/elsewhere" apsis/tiny
mine=$(own)
refused "in another working tree" 3 "apsis/tiny is checked out in .*/elsewhere" -f
git worktree remove "$T/elsewhere"
end_item

item "bad: links in the place of apsis's folders"
for link in .apsis logs runs .apsis/reset .apsis/resetting; do
    has_run "link-${link//\//-}"
    rm -rf "$T/precious" && mkdir "$T/precious" && echo mine >"$T/precious/results.jsonl"
    [ ! -e $link ] || mv $link "$T/away-${link//\//-}"
    ln -s "$T/precious" $link
    before=$(left) mine=$(own)
    refused "$link" 3 "/$link: cannot be read|/$link is a symbolic link" -f
    is "$link: what it leads to" "$(cd "$T/precious" && ls -A && cat results.jsonl)" "results.jsonl"$'\n'"mine"
done
end_item

item "bad: a standing goal"
mkdir -p "$T/goals/.autoloop/programs" && cd "$T/goals" && git init -q . || exit 1
echo 1 >value.txt
printf '%s\n' --- 'provider: {kind: lua, use: rise.lua}' --- '## Goal' More. '## Target' '- `value.txt`' '## Evaluation' \
    '```sh' 'echo "METRIC rise=$(cat value.txt)"' '```' 'The metric is `rise`.' >.autoloop/programs/rise.md
echo 'return function(proposal) return { ["value.txt"] = proposal.experiment + 1 .. "\n" } end' >rise.lua
commit goals
apsis tick --quiet
is "a tick" "$code" 0
refs=$(git for-each-ref)
apsis reset -f rise
is "exit" "$code" 2
like "message" "$err" "rise is a standing goal: .*git branch -D autoloop/rise"
is "the refs" "$(git for-each-ref)" "$refs"
end_item

item "bad: --keep-best without a best, or with a damaged journal; without it both are put away"
new_project bestless
echo 'echo none' >evaluate.sh && commit none
apsis baseline -q
is "baseline" "$code" 5
before=$(left) mine=$(own)
refused "no best" 5 "there is no best yet" -f --keep-best
apsis reset -f
is "put away" "$code" 0
has_run damaged
sed -i '2s/.*/rubbish/' logs/results.jsonl
before=$(left)
refused "damaged" 3 "results.jsonl:2: " -f --keep-best
apsis reset
line "it is printed" "$out" "^journal: +damaged: .*results.jsonl:2"
apsis reset -f
is "put away" "$code" 0
apsis reset --undo
is "and taken back" "$(left)" "$before"
end_item

item "bad: options that contradict, and what is not there"
has_run odd
refused "no undo" 2 "there is no reset to undo" --undo
refused "--from alone" 2 "add --undo" --from 20260530T231500Z
refused "--undo -f" 2 "leave out -f" --undo -f
refused "unknown option" 2 "unknown option '--forse'" --forse
apsis reset -f
stamp=$(ls .apsis/reset)
apsis reset --undo --from 20000101T000000Z
is "--from unknown: exit" "$code" 2
like "--from unknown: what there is" "$err" "there are: $stamp"
mkdir "$T/empty" && cd "$T/empty" || exit 1
apsis reset -f
is "no project: exit" "$code" 2
new_project fresh
apsis reset -f
is "nothing there: exit" "$code" 0
like "nothing there" "$out" "nothing to put away"
is "nothing there: no folder" "$(ls -A | tr '\n' ' ')" ".git .gitignore evaluate.sh manifest.yaml propose.lua value.txt "
end_item

item "bad: a record of a reset that is rubbish"
has_run rubbish
for text in '' '{' '{"stamp":"../../x","to":"shelf","ref":"tiny","branch":"main"}' '{"stamp":1}' \
    '{"stamp":"a","to":"shelf","ref":"../heads","branch":"main"}'; do
    printf '%s' "$text" >.apsis/resetting
    before=$(left)
    refused "'$text'" 3 "/.apsis/resetting: cannot be read" -f
    refused "'$text', --undo" 3 "/.apsis/resetting: cannot be read" --undo
done
end_item

item "bad: something is in the way of a reset that was cut off: it is named, and the reset goes on without it"
has_run way
apsis reset -f
stamp=$(ls .apsis/reset)
mv .apsis/reset/"$stamp"/reset.json .apsis/resetting
echo page >runs/report.html; echo old >.apsis/reset/"$stamp"/runs/report.html
apsis reset -f
is "exit" "$code" 3
like "message" "$err" "not finished: .*runs/report.html is in the way"
mv runs/report.html "$T/page"
apsis reset -f
is "it goes on" "$code" 0
apsis reset --undo
is "and back" "$(left | grep -v report.html)" "$before"
end_item

item "bad: another folder's run has these refs"
has_run first
git worktree add -q "$T/second" HEAD && cd "$T/second" || exit 1
apsis reset -f
is "exit" "$code" 3
like "message" "$err" "/first, which shares this repository's refs"
cd "$T/first" || exit 1
is "nothing changed" "$(left)" "$before"
end_item

# ---- kill -9 at every step ----

# killed CALL N ARGUMENTS...: reset, killed at its N-th such call.
killed() {
    local call=$1 at=$2
    shift 2
    capture "${TRACED[@]}" -f -o /dev/null -e trace="$call" -e inject="$call:signal=SIGKILL:when=$at" "$APSIS" reset "$@"
}

if command -v strace >/dev/null; then
    item "bad: cut off, no run begins, until it is finished or taken back"
    has_run half
    killed rename 5 -f
    is "killed" "$code" 137
    for command in "run -q --iterations 1" "baseline -q --again" "step"; do
        # shellcheck disable=SC2086
        apsis $command
        is "$command: exit" "$code" 3
        like "$command: message" "$err" "was cut off: .apsis reset -f. finishes it, .apsis reset --undo. takes it back"
    done
    apsis reset
    line "reset prints it, too" "$out" "was cut off"
    apsis reset --undo
    is "taken back" "$(left)" "$before"
    apsis run -q --iterations 1
    is "a run goes on" "$code $(lines)" "0 5"
    end_item

    item "a run to kill resets of"
    has_run killed
    end_item
    moments=${MOMENTS:-1 2 3 $(seq -s ' ' 8 9 99)} # MOMENTS="$(seq 99)": every one
    [ -z "${APSIS_SANITIZED:-}" ] || moments="1 4"
    for call in rename unlink fsync; do
        item "bad: killed at each $call: it is finished; the undo, killed there, is finished, too"
        kills=0
        for at in $moments; do
            killed $call "$at" -f
            ended=$code
            apsis reset -f
            is "$at: finished" "$code" 0
            is "$at: nothing is left" "$(left)" ""
            killed $call "$at" --undo
            [ "$ended $code" = "0 0" ] && at=0
            [ "$code" = 137 ] && kills=$((kills + 1))
            [ "$code" = 0 ] || apsis reset --undo
            is "$at: all is back" "$(left)" "$before"
            is "$at: the user's own" "$(own)" "$mine"
            [ "$at" = 0 ] && break
        done
        ok "it was killed ($kills times)" test "$kills" -ge 2
        ok "the repository is sound" git fsck --strict --no-dangling
        end_item
        item "bad: killed at each $call: it is taken back"
        for at in $moments; do
            killed $call "$at" -f
            ended=$code
            apsis reset --undo
            is "$at: all is back" "$(left)" "$before"
            is "$at: the user's own" "$(own)" "$mine"
            [ "$ended" = 0 ] && break
        done
        end_item
    done
fi

finish
