#!/bin/bash
# allowance: a run's budget that somebody changes in logs/state.json beside apsis, or sets back by removing that file, is found out.
# What apsis itself does, a kill, the end of a run, `git clean` and a reset are no such change.
. tests/cli/lib.sh || exit 1

PROVIDER='' # nobody but who submits
EXTRA='budget: {iterations: 5}' new_project tiny
apsis baseline -q
tried=1
submit() {
    tried=$((tried + 1))
    echo "$tried" >value.txt
    apsis submit "$@"
}
submit
is "the first submission" "$code" 0
cp -r . "$T/good"
again() { rm -rf "$T/project" && cp -r "$T/${1:-good}" "$T/project" && cd "$T/project" || exit 1; }

unseen() { # WHEN
    local view
    for view in status log "report --json"; do
        apsis $view
        is "$1: $view" "$code $err" "0 "
    done
    apsis status --json
    is "$1: as JSON" "$(json altered)" null
}

# found WHAT COMMAND WORDS: before and after another submission status and the others warn; the remedy ends that.
found() {
    item "$1 is found out"
    again
    eval "$2"
    for view in status log submit "submit --new-run" status "report --json"; do
        case $view in submit*) submit ${view#submit} ;; *) apsis $view ;; esac
        like "$view" "$err" "logs/state.json: $3.*remove .apsis/run"
    done
    apsis status --json
    like "as JSON" "$(json altered)" "logs/state.json: "
    apsis status
    line "a row" "$out" "^altered: +logs/state.json: "
    rm .apsis/run
    unseen "with the remedy"
    submit --new-run
    is "another submission" "$code" 0
    unlike "its messages" "$err" state.json
    unseen "after it"
    end_item
}
found "a larger budget" 'sed -i s/\"iterations\":5/\"iterations\":300/ logs/state.json' "run 1 has another budget or driver there"
found "another kind of budget" 'sed -i "s/\"iterations\":5/&,\"minutes\":3/" logs/state.json' "run 1 has another budget or driver there"
found "a state file that was removed" 'rm logs/state.json' "apsis wrote run 1 there, and it has (none|run 2)"
found "an empty state file" ': >logs/state.json' "apsis wrote run 1 there, and it has (none|run 2)"
found "another run" 'sed -i s/\"run\":1/\"run\":7/ logs/state.json' "apsis wrote run 1 there, and it has run [78]"

item "who drives the run is found out, also after a run that took its budget"
again
sed -i 's/"driven":true/"driven":false/' logs/state.json
for view in status "run --iterations 1" status; do
    apsis $view
    like "$view" "$err" "logs/state.json: .*remove .apsis/run"
done
end_item

item "a run goes on and ends without a warning"
again
for _ in 1 2 3 4 5; do
    submit
    was=$code
    unseen "after submission $tried"
done
is "it is over" "$was" 7
end_item
cp -r . "$T/ended"

item "an ended run: without its state file there is no warning, and no budget either"
again ended
for change in 'rm logs/state.json' 'sed -i s/\"status\":\"finished\"/\"status\":\"waiting\"/ logs/state.json'; do
    again ended
    eval "$change"
    unseen "$change"
    before=$(lines)
    submit
    is "$change: submit" "$code $(lines)" "7 $before"
done
again ended
sed -i 's/"status":"finished"/"status":"waiting"/; s/"iterations":5/"iterations":9/' logs/state.json
submit
like "with another budget" "$err" "run 1 has another budget or driver there"
again ended
submit --new-run
is "another run by a person" "$code" 0
unseen "another run"
end_item

item "a new baseline, a reset and its undo, git clean: no warning"
again
apsis baseline --again -q
unseen "baseline"
submit
is "submit" "$code" 0
unseen "submit"
apsis reset -f
ok "put away" test ! -e .apsis/run
apsis baseline -q
unseen "reset"
apsis reset -f
apsis reset --undo --from "$(ls .apsis/reset | head -1)"
is "undo" "$code" 0
ok "it is back" test -s .apsis/run
unseen "undo"
again
git clean -qxfd
drop_refs
apsis baseline -q
unseen "git clean"
submit
unseen "git clean, and a submission"
again
rm -r logs
drop_refs
apsis baseline -q
unseen "no journal"
end_item

command -v strace >/dev/null || { count=$((count + 1)) && echo "ok $count # SKIP no strace" && finish; }
item "a submission that is killed at any moment of its writing leaves nothing that looks like a change"
kills=0
for call in openat unlink rename; do
    for at in $(seq "$([ -n "${APSIS_SANITIZED:-}" ] && echo 3 || echo 60)"); do
        again "$([ $((at % 2)) = 0 ] && echo good || echo ended)"
        echo $((100 + at)) >value.txt
        capture "${TRACED[@]}" -f -o /dev/null -P "$PWD/.apsis/run" -P "$PWD/logs/state.json" -e trace="$call" \
            -e inject="$call:signal=SIGKILL:when=$at" "$APSIS" submit --new-run
        [ "$code" = 137 ] || [ "$at" = 1 ] || break
        kills=$((kills + 1))
        apsis status
        is "killed at $call $at: status" "$code $err" "0 "
        apsis submit
        unlike "killed at $call $at: submit" "$err" "state.json"
        apsis status
        is "killed at $call $at: status" "$code $err" "0 "
    done
done
ok "kills ($kills)" test "$kills" -ge "$([ -n "${APSIS_SANITIZED:-}" ] && echo 3 || echo 6)"
end_item

finish
