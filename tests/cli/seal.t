#!/bin/bash
# seal: a line of the journal that somebody changes or removes beside apsis is found out: run, status, report and the others
# warn. What apsis itself does to a journal, a crash, `git clean` and a clone are no such change.
. tests/cli/lib.sh || exit 1

new_project made
apsis baseline -q
apsis run --iterations 4 -q
journal=logs/results.jsonl
cp -r . "$T/good"

# found WHAT WORDS: run, status and report warn with these words, now and after more lines; the remedy ends that.
found() {
    local view
    for view in "status" "report --json" "log" "run --iterations 1 -q" "status" "run --iterations 1 -q" "show 1" replay; do
        apsis $view
        is "$1: $view: exit" "$code" 0
        like "$1: $view" "$err" "logs/results.jsonl:? ?$2.*restore the file from a backup.*remove .apsis/digests"
    done
    apsis status --json
    like "$1: as JSON" "$(json altered)" "logs/results.jsonl"
    rm -r .apsis/digests
    unseen "$1: with the remedy"
}

# unseen WHEN: nobody warns, also after another run.
unseen() {
    local view
    for view in "status" "run --iterations 1 -q" "status" "report --json"; do
        apsis $view
        is "$1: $view" "$code $err" "0 "
    done
    apsis status --json
    is "$1: as JSON" "$(json altered)" null
}

# edited WHAT SCRIPT WORDS: the project again, and sed's script on its journal.
edited() {
    item "$1 is found out"
    rm -rf "$T/edited" && cp -r "$T/good" "$T/edited" && cd "$T/edited" || exit 1
    sed -i "$2" $journal
    ok "the edit changes the file" test "$(sha256sum <$journal)" != "$(sha256sum <"$T/good/$journal")"
    found "$1" "$3"
    end_item
}

edited "another value" '3s/"primary_metric":2/"primary_metric":99/' '3: this is not the line that apsis wrote'
edited "another outcome" '3s/"outcome":"kept"/"outcome":"reverted_worse_metric"/' '3: this is not the line'
edited "a line that was deleted" 3d '3: this is not the line'
edited "the last line that was deleted" '$d' '(apsis wrote 5 lines, and 4 are there|5: this is not the line)'
edited "lines in another order" '3{h;d};4G' '3: this is not the line'

item "logs/ restored from an older backup: run names what was measured since, and overwrites none of it"
cp -r "$T/good" "$T/restored" && cd "$T/restored" && cp -r logs "$T/logs" && apsis run --iterations 3 -q
before=$(git for-each-ref refs/apsis/tiny/c0006 refs/apsis/tiny/c0007) verified=$(cat runs/0007/measure.json runs/0007/proposal.json)
rm -r logs && mv "$T/logs" logs
sleep 1.1 # the time of a journal line, by which plans know their parent, has seconds
apsis run --iterations 1
is "run" "$code" 0
like "the lines that are missing" "$err" "apsis wrote 8 lines, and 5 are there"
like "what can be done again" "$err" "1 experiment has a plan in runs/ but no line in the journal: restarted"
like "what cannot" "$err" "the journal has no line for c0006 to c0007, but there is a commit: .*if logs/ came from a backup"
is "their commits" "$(git for-each-ref refs/apsis/tiny/c0006 refs/apsis/tiny/c0007)" "$before"
is "and their folders" "$(cat runs/0007/measure.json runs/0007/proposal.json)" "$verified"
is "new numbers follow" "$(grep -o '"candidate":"c0*[5-9]"' $journal | tr '\n' ' ')" '"candidate":"c0005" "candidate":"c0008" '
apsis run --iterations 1
unlike "told once" "$err" "the journal has no line for|has a plan in runs/"
end_item

item "lines that somebody adds are found out, and not taken over"
cp -r "$T/good" "$T/added" && cd "$T/added" || exit 1
for n in 5 6; do sed -n "5s/\"experiment\":4/\"experiment\":$n/; 5s/c0004/c000$n/g; 5p" $T/good/$journal >>$journal; done
git update-ref refs/apsis/tiny/c0005 refs/apsis/tiny/c0004 && git update-ref refs/apsis/tiny/c0006 refs/apsis/tiny/c0004
found "added" '6: apsis has no record of the last [0-9]+ lines'
end_item

item "a single line that somebody adds is found out by who reads and who writes, before a run and after more lines"
forged() { sed -n '5s/"experiment":4/"experiment":5/; 5s/c0004/c0005/g; 5s/"primary_metric":4/"primary_metric":1000/; 5p' $T/good/$journal >>$journal; }
warned() {
    apsis "$@"
    like "$*" "$err" "results.jsonl:6: apsis has no record of the last .*, or the power failed.*remove .apsis/digests"
}
for first in "status" "log" "show best" "report --json" "best" "run --iterations 1 -q" "submit"; do
    rm -rf "$T/forged" && cp -r "$T/good" "$T/forged" && cd "$T/forged" || exit 1
    forged
    echo 77 >value.txt
    warned $first
    like "$first: one line, or those after it, too" "$err" "the last (line: somebody added it|2 lines: somebody added them)"
    warned status
done
warned log
apsis status --json
like "as JSON" "$(json altered)" "results.jsonl:6: apsis has no record"
end_item

item "a shorter or empty file of digests hides no edit"
for cut in '3,$d' d; do
    rm -rf "$T/cut" && cp -r "$T/good" "$T/cut" && cd "$T/cut" || exit 1
    sed -i "$cut" .apsis/digests
    found "$cut" '[13]: apsis has no record of the last [0-9]+ lines'
done
rm .apsis/digests && mkdir .apsis/digests
found "a folder" ' apsis has no record of its lines: .*/digests: '
end_item

item "who drives apsis and raises the best so far beside it is found out by submit and by the rows of status"
cp -r "$T/good" "$T/driven" && cd "$T/driven" || exit 1
sed -i '5s/"primary_metric":4/"primary_metric":1000/' $journal
echo 77 >value.txt
apsis submit
like "submit" "$err" "results.jsonl:5: this is not the line"
apsis status
line "status" "$out" "^altered: +logs/results.jsonl:5: this is not the line that apsis wrote there$"
end_item

item "a submission whose line somebody removed is not done again, and nobody else gets its number"
cd "$T" && PROVIDER='' EXTRA='budget: {iterations: 20}' new_project gone
apsis baseline -q
for value in 10 20 5; do
    echo $value >value.txt
    apsis submit
done
is "four lines" "$code $(lines)" "1 4"
sed -i '3d;4d' $journal # a kept one and the newest
echo 30 >value.txt
apsis submit
is "one line more" "$code $(lines)" "0 3"
like "it warns" "$err" "results.jsonl:3: this is not the line|apsis wrote 4 lines, and 2 are there"
unlike "no line of what is gone" "$(cat $journal)" "not there any more|skipped_provider_failure"
is "its number" "$(sed -n '3s/.*"candidate":"\(c[0-9]*\)".*/\1/p' $journal)" c0004
end_item

item "an edit while a run goes on is found out at its end"
cd "$T" && new_project during
apsis baseline -q
echo 'return function(proposal)
  if proposal.experiment == 3 then
    local file = assert(io.open("logs/results.jsonl", "r+"))
    local text = file:read "a"
    file:seek("set", assert(text:find("\"primary_metric\":2", 1, true)) + 16)
    file:write "7"
    file:close()
  end
  return { ["value.txt"] = proposal.experiment .. "\n" }
end' >propose.lua
commit cheat
apsis baseline --again -q
apsis run --iterations 4 -q
like "the run" "$err" "results.jsonl:[0-9]: this is not the line"
apsis status
like "status" "$err" "results.jsonl:[0-9]: this is not the line"
end_item

item "a torn line is no change, nor is what a kill or a power cut left of the digests"
cp -r "$T/good" "$T/torn" && cd "$T/torn" || exit 1
printf '{"experiment":5,"outc' >>$journal
apsis run --iterations 1 -q
like "the torn line" "$err" "the last line was torn"
unlike "no other warning" "$err" "apsis wrote"
unseen "torn"
printf '%016x' 7 >>.apsis/digests && unseen "digests: one of a line that was not written"
truncate -s -1 .apsis/digests && unseen "digests: the last newline is missing"
rm .apsis/digests && unseen "no digests"
truncate -s -5 .apsis/digests && unseen "digests: cut"
printf z >>.apsis/digests && unseen "digests: a byte more"
truncate -s -40 .apsis/digests && truncate -s +60 .apsis/digests && apsis status
like "digests: zeros at the end, in place of some" "$err" "has no record of the last 2 lines: .*, or the power failed"
rm .apsis/digests && unseen "and without them"
is "one for each line" "$(wc -l <.apsis/digests)" "$(lines)"
end_item

# What a kill leaves: a run dies at the Nth system call on one of the two files, before a digest, between it and its line, in the line,
# between the line and the end of the digest, after it, or while the digests are replaced.
if command -v strace >/dev/null; then
    item "a run that is killed at any moment of its writing leaves nothing that looks like a change"
    kills=0 kinds=""
    for call in openat write writev fdatasync rename; do
        for at in $(seq "$([ -n "${APSIS_SANITIZED:-}" ] && echo 3 || echo 60)"); do
            rm -rf "$T/killed" && cp -r "$T/good" "$T/killed" && cd "$T/killed" || exit 1
            printf '%016x' 7 >>.apsis/digests # they are replaced
            capture "${TRACED[@]}" -f -o /dev/null -P "$PWD/.apsis/digests" -P "$PWD/$journal" -e trace="$call" \
                -e inject="$call:signal=SIGKILL:when=$at" "$APSIS" run --iterations 2 -q
            [ "$code" = 137 ] || break
            kills=$((kills + 1))
            bytes=$(wc -c <.apsis/digests)
            case $((bytes % 17)) in
                0) kinds="$kinds whole" ;;
                16) kinds="$kinds $([ $((bytes / 17)) -lt "$(lines)" ] && echo line || echo none)" ;;
                *) kinds="$kinds part" ;;
            esac
            for view in "status" "run --iterations 1 -q"; do
                apsis $view
                is "killed at $call $at: $view" "$code $err" "0 "
            done
            is "$call $at: one for each line" "$(wc -l <.apsis/digests)" "$(lines)"
        done
    done
    ok "kills ($kills)" test "$kills" -ge 10
    like "after a digest, before its line" "$kinds" none
    like "after a line, before the end of its digest" "$kinds" line
    unlike "no part of a digest" "$kinds" part
    end_item
else
    count=$((count + 1)) && echo "ok $count # SKIP no strace"
fi

item "after such a kill a line that somebody adds is found out, too"
cd "$T" && rm -rf forged && cp -r good forged && cd forged || exit 1
printf '%016x' 7 >>.apsis/digests
forged
warned status
warned run --iterations 1 -q
warned status
end_item

item "digests that somebody removes while a run goes on are no change"
cp -r "$T/good" "$T/removed" && cd "$T/removed" || exit 1
"$APSIS" run --iterations 6 -q >"$T/run.out" 2>&1 &
for _ in $(seq 200); do [ "$(lines)" -ge 7 ] && break; nap 0.02; done
rm -f .apsis/digests
wait $!
is "the run" "$? $(grep -c 'results.jsonl' "$T/run.out")" "0 0"
unseen "removed"
is "one for each line" "$(wc -l <.apsis/digests)" "$(lines)"
end_item

item "a journal without digests is read and gets them"
cp -r "$T/good" "$T/old" && cd "$T/old" || exit 1
rm .apsis/digests
sed -i '2s/"primary_metric":1/"primary_metric":0.5/' $journal
unseen old
is "one for each line" "$(wc -l <.apsis/digests)" "$(lines)"
end_item

item "what a run has folded for readers is passed over if somebody edits it"
cp -r "$T/good" "$T/fold" && cd "$T/fold" || exit 1
apsis run --iterations 1 -q # the checkpoint is of this journal, not of the copied one
ok "another best" grep -q '"best":{"at":6' .apsis/fold
sed -i 's/"best":{"at":6/"best":{"at":3/' .apsis/fold
for view in "status --json" "apply --dry-run --json"; do
    apsis $view
    like "$view" "$out" '"c0005"'
    unlike "$view" "$out" '"c0002"'
done
end_item

item "git clean, a new journal and a clone are no change"
cp -r "$T/good" "$T/clean" && cd "$T/clean" || exit 1
for removed in "rm -r logs" "git clean -qfdX"; do
    $removed
    drop_refs
    apsis baseline -q
    is "$removed: baseline" "$code $err" "0 "
    unseen "$removed"
done
apsis reset -f
is "reset" "$code $(ls .apsis/digests 2>&1 | grep -c 'No such')" "0 1"
apsis baseline -q
unseen "reset"
apsis reset -f && apsis reset --undo
is "undo" "$code" 0
unseen "reset --undo"
git clone -q "$T/good" "$T/cloned" 2>/dev/null && cd "$T/cloned" || exit 1
apsis baseline -q
unseen "a clone"
end_item

item "a project without a change of its journal is as before; read-only commands write no digests"
cp -r "$T/good" "$T/same" && cd "$T/same" || exit 1
rm .apsis/digests
apsis status && apsis log && apsis report --json
ok "none" test ! -e .apsis/digests
end_item

finish
