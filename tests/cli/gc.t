# The user's `git gc` beside a run, again and again: the run goes on, and the repository stays whole.
UNDISTURBED=1 # by tests/beside_gc: of two git gc the second does not begin
. "$(dirname "$0")/lib.sh"

new_project gc
apsis baseline
is "a baseline" "$code" 0

item "a gc loop beside a run"
"$APSIS" run --iterations 120 --set patience=500 >"$T/run.out" 2>"$T/run.err" </dev/null &
run=$!
collected=0 failed=0
while kill -0 $run 2>/dev/null; do
    git gc --quiet 2>>"$T/gc.err" || failed=$((failed + 1))
    collected=$((collected + 1))
done
wait $run
is "the run ends well" $? 0
is "each gc does, but those that meet a sweep of apsis" "$failed" \
    "$(grep -c "gc is already running\|gc\.pid\.lock'" "$T/gc.err")"
ok "there were some: $collected" [ "$collected" -ge 3 ]
is "each experiment has its line" "$(lines)" 121
is "no experiment failed" "$(grep -c '"status":"crash"' logs/results.jsonl)" 0
is "git fsck finds nothing" "$(git fsck --strict --no-dangling 2>&1)" ""
ok "and a last gc is clean" git gc --quiet
out=$(cat "$T/run.out") err=$(tail -n 5 "$T/run.err"; tail -n 5 "$T/gc.err")
end_item

finish
