#!/bin/bash
# gate: the project's own CI as the last word: what is kept, what goes back to a provider of each kind and what becomes of its repair,
# when it is given up and what is then said, and kill -9 in its midst.
. tests/cli/lib.sh || exit 1
. tests/cli/server.sh

# gated_project NAME: value.txt is the score, style.txt the style; the gate, which is hidden, checks the style and counts how often it ran.
GATE='gate: bash check.sh'
gated_project() {
    EXTRA=$GATE
    RULES='  - {path: style.txt, mode: writable}
  - {path: check.sh, mode: hidden}'
    new_project "$1"
    echo good >style.txt
    if [ -n "${CHECK-}" ]; then printf '%s\n' "$CHECK" >check.sh; else
        cat >check.sh <<END
echo ran >>$T/$1.ran
[ -z "\$APSIS_CANDIDATE" ] && exit 9
[ -f evaluate.sh ] || exit 8
echo "checking for \$((RANDOM % 900 + 100)) ms in \$PWD"
grep -q good style.txt && exit 0
echo "t.sh:\$RANDOM: style \$(cat style.txt) failed after 0.\${RANDOM}s in \$PWD/style.txt" >&2
exit 3
END
    fi
    git add -A && git commit -qm gate
    apsis baseline
    is "baseline" "$code" 0
}

ran() { if [ -f "$T/$1.ran" ]; then wc -l <"$T/$1.ran" | tr -d ' '; else echo 0; fi; }
tree_of() { git rev-parse "$1^{tree}"; }

# Makes the value the experiment's number and spoils the style; asked for a repair, mends it as FIX says. It keeps what it was asked.
coder() {
    agent <<END
cat >\$APSIS_RUN_DIR/asked.md
cat value.txt style.txt >\$APSIS_RUN_DIR/found.txt
[ -f check.sh ] && exit 7
if [ -n "\$APSIS_FIX_ATTEMPT" ]; then ${1:-echo good >style.txt; echo "mend the style"}
else echo \$APSIS_EXPERIMENT >value.txt; echo bad >style.txt; echo "raise the value"; fi
END
}

item "a red gate is repaired by a command provider, and the candidate stays one clean commit"
coder
gated_project repaired
apsis run --iterations 2
is "code" "$code" 0
is "outcomes" "$(field 1 outcome) $(field 2 outcome)" "kept kept"
is "attempts" "$(field 1 fix_attempts) $(field 1 gate)" '1 {"status":"green"}'
is "gates" "$(ran repaired)" 4
is "measurements" "$(field 1 measurements)" 2
is "the tree" "$(git show refs/apsis/tiny/c0001:value.txt) $(git show refs/apsis/tiny/c0001:style.txt)" "1 good"
is "the parent" "$(git rev-parse refs/apsis/tiny/c0001^@)" "$(git rev-parse HEAD)"
is "the branch" "$(git rev-parse apsis/tiny)" "$(git rev-parse refs/apsis/tiny/c0002)"
is "the second's parent" "$(git rev-parse refs/apsis/tiny/c0002^@)" "$(git rev-parse refs/apsis/tiny/c0001)"
is "the subject" "$(git log -1 --format=%s apsis/tiny)" "raise the value"
like "the trailer" "$(git log -1 --format=%b apsis/tiny)" "Apsis-Fix-Attempts: 1"
is "the patch" "$(grep -c style runs/0001/change.patch)" 0
is "the repairer found the candidate" "$(tr '\n' ' ' <runs/0001/fix_1/provider/found.txt)" "1 bad "
like "and was told" "$(cat runs/0001/fix_1/provider/asked.md)" "style bad failed"
like "what of" "$(cat runs/0001/fix_1/prompt.md)" "bash check.sh. failed \(exit 3\)"
like "where" "$(cat runs/0001/fix_1/prompt.md)" "in style.txt"
unlike "no workspace" "$(cat runs/0001/fix_1/prompt.md)" "$XDG_CACHE_HOME"
unlike "the first prompt stays" "$(cat runs/0001/prompt.md)" "repair"
like "the gate's log" "$(cat runs/0001/gate.log)" "c0001 as it was proposed .*red: exit 3.*c0001 after repair 1 .*green"
end_item

item "show, log and replay know of it"
apsis show c0001
like "show" "$out" "gate: +green after 1 fix attempt"
apsis log --json
like "log" "$out" '"fix_attempts":1'
apsis replay --check
is "replay --check" "$code $out" "0 3 recorded lines; 2 plans compared, 0 differ"
apsis show c0001 --prompt
unlike "the prompt is the proposal's" "$out" "repair 1"
end_item

item "the same failure again: stuck, told, and the run ends"
CHECK='grep -q good style.txt && exit 0; echo "t.sh:$RANDOM: style failed after 0.${RANDOM}s in $PWD at 0x$RANDOM$RANDOM"; exit 3'
coder 'echo "$RANDOM" >>style.txt'
gated_project stuck
CHECK=
apsis run --iterations 5
is "code" "$code" 0
like "why it ended" "$out" "ended: the gate cannot be made green: t.sh:_: style failed after _ in \. at _; .*to resume"
is "lines" "$(lines)" 2
is "outcome" "$(field 1 outcome) $(field 1 status) $(field 1 fix_attempts)" "reverted_gate_failure discard 1"
is "gate" "$(field 1 gate)" \
    '{"reason":"stuck in CI fix loop: t.sh:_: style failed after _ in . at _","signature":"t.sh:_: style failed after _ in . at _","status":"stuck"}'
like "reason" "$(field 1 rollback_reason)" "repair 1 left it failing in the same way"
is "the branch did not move" "$(git rev-parse apsis/tiny)" "$(git rev-parse HEAD)"
apsis show c0001
like "show" "$out" "gate: +stuck in CI fix loop: t.sh:_: style failed .*; 1 fix attempt"
like "its log" "$out" "end of gate.log:"
apsis log --outcome reverted_gate_failure
is "log --outcome" "$code" 0
apsis replay --check
is "replay --check" "$code" 0
end_item

item "once the gate is mended the next run goes on"
printf 'exit 0\n' >check.sh
git commit -qam mended
apsis baseline --again
apsis run --iterations 2
is "code" "$code" 0
is "outcomes" "$(field 3 outcome) $(field 4 outcome)" "kept kept"
apsis replay --check
is "replay --check" "$code" 0
end_item

item "a repair out of scope, or none, ends it"
coder 'echo x >evaluate.sh'
gated_project scope
apsis run --iterations 2
is "outcome" "$(field 1 outcome) $(field 1 fix_attempts) $(lines)" "reverted_gate_failure 1 2"
like "reason" "$(field 1 rollback_reason)" "repair 1 failed: .*evaluate.sh"
is "the candidate is as it was gated" "$(git show refs/apsis/tiny/c0001:value.txt)" 1
cd .. && coder 'exit 4'
gated_project fails
apsis run --iterations 2
like "reason" "$(field 1 rollback_reason)" "repair 1 failed: the provider ended with exit 4"
end_item

item "a repair that spoils the metric has its ordinary outcome, and the run goes on"
coder 'if [ $APSIS_EXPERIMENT = 1 ]; then echo -5 >value.txt; fi; echo good >style.txt'
gated_project spoils
apsis run --iterations 2
is "outcomes" "$(field 1 outcome) $(field 2 outcome)" "reverted_worse_metric kept"
is "no gate's end" "$(field 1 gate) $(field 1 fix_attempts) $(field 1 primary_metric)" "(no field) 1 -5"
apsis show c0001
like "show" "$out" "gate: +red, and judged again after 1 fix attempt"
end_item

item "attempts, and a gate over its limit or killed"
coder 'echo "bad$APSIS_FIX_ATTEMPT" >style.txt'
GATE='gate: {run: bash check.sh, attempts: 2}'
gated_project used_up
apsis run --iterations 2
is "used up" "$(field 1 fix_attempts) $(ran used_up)" "2 3"
like "reason" "$(field 1 gate)" '"ci-fix-exhausted: t.sh:_: style bad2 failed'
CHECK='grep -q good style.txt || sleep 30'
GATE='gate: {run: bash check.sh, timeout_sec: 0.5}'
coder
gated_project slow
is "over its limit is red, and repaired" "$(apsis run --iterations 1; field 1 outcome)" kept
GATE='gate: {run: bash check.sh, minutes: 0.01}'
gated_project capped
apsis run --iterations 2
is "cut by the cap" "$(field 1 outcome) $(field 1 fix_attempts)" "reverted_gate_failure (no field)"
like "reason" "$(field 1 gate)" '"ci-timeout: wall-clock cap reached"'
CHECK='grep -q good style.txt || kill -ABRT $$'
GATE='gate: {run: [bash, check.sh], attempts: 0, env: {MARK: here}}'
gated_project killed
apsis run --iterations 2
like "killed" "$(field 1 gate)" "\"ci-fix-exhausted: .*$(died SIGABRT 6)"
CHECK='[ "$MARK" = here ] || exit 5'
gated_project environment
apsis run --iterations 1
is "its environment" "$(field 1 outcome)" kept
CHECK= GATE='gate: bash check.sh'
end_item

item "only what is better is gated, and the gate may write where it runs"
agent <<'END'
echo $((5 - APSIS_EXPERIMENT)) >value.txt
END
CHECK="echo ran >>$T/some.ran; echo junk >value.txt; echo junk >evaluate.sh; mkdir -p build; echo x >build/x"
gated_project some
CHECK=
apsis run --iterations 2
is "outcomes" "$(field 1 outcome) $(field 2 outcome) $(field 2 primary_metric)" "kept reverted_worse_metric 3"
is "gates" "$(ran some)" 1
end_item

item "a lua provider gets the attempt and the output, and reads the candidate"
PROVIDER='provider: {kind: lua, use: propose.lua}'
gated_project lua
cat >propose.lua <<'END'
return function(proposal, workspace)
  if proposal.repair then
    assert(proposal.repair.output:find("style bad failed", 1, true))
    assert(workspace:read("style.txt") == "bad\n" and workspace:read("value.txt") == proposal.experiment .. "\n")
    assert(not workspace:read("check.sh") and proposal.prompt:find("repair 1 of at most 5", 1, true))
    return { ["style.txt"] = "good " .. proposal.repair.attempt .. "\n" }
  end
  assert(workspace:read("style.txt"):find "good")
  return { ["value.txt"] = proposal.experiment .. "\n", ["style.txt"] = "bad\n" }
end
END
apsis run --iterations 2
is "outcomes" "$(field 1 outcome) $(field 2 outcome) $(field 2 rollback_reason)" "kept kept null"
is "tree" "$(git show apsis/tiny:value.txt) $(git show apsis/tiny:style.txt)" "2 good 1"
end_item

item "a chat model is shown the candidate's files, and what it takes counts"
start_server - <<'END'
{"match": "repair 1 of at most", "content": "mend\n\nstyle.txt\n<<<<<<< SEARCH\nbad\n=======\ngood\n>>>>>>> REPLACE\n", "usage": {"prompt_tokens": 50, "completion_tokens": 5}}
{"default": true, "content": "raise\n\nvalue.txt\n<<<<<<< SEARCH\n0\n=======\n1\n>>>>>>> REPLACE\n\nstyle.txt\n<<<<<<< SEARCH\ngood\n=======\nbad\n>>>>>>> REPLACE\n", "usage": {"prompt_tokens": 100, "completion_tokens": 10}}
END
PROVIDER="provider: {kind: chat, base_url: '$URL', models: [m1]}"
gated_project chat
apsis run --iterations 1
is "outcome" "$(field 1 outcome) $(field 1 fix_attempts) $(field 1 tokens)" "kept 1 165"
is "tree" "$(git show apsis/tiny:value.txt) $(git show apsis/tiny:style.txt)" "1 good"
like "what it was shown" "$(request 2 body.messages.-1.content)" "style.txt as it is now:.*bad"
is "requests" "$(requests)" 2
stop_server
end_item

item "kill -9 while the gate runs, and while a repair is asked: done again from the proposal"
coder "touch $T/repairing; sleep \$(cat $T/pause); echo good >style.txt"
CHECK="touch $T/gating; sleep \$(cat $T/wait); grep -q good style.txt"
for moment in gating repairing; do
    echo 0 >"$T/pause"; echo 0 >"$T/wait"
    rm -f "$T/gating" "$T/repairing"
    gated_project "killed-$moment"
    if [ $moment = gating ]; then echo 60 >"$T/wait"; else echo 60 >"$T/pause"; fi
    AGENT_SEC=100 "$APSIS" run --iterations 1 >/dev/null 2>&1 </dev/null &
    pid=$!
    for _ in $(seq 2400); do [ -e "$T/$moment" ] && break; nap 0.05; done
    ok "$moment begun" test -e "$T/$moment"
    kill -9 $pid; wait $pid 2>/dev/null
    is "no line" "$(lines)" 1
    cp runs/0001/proposal.json "$T/before.json"
    echo 0 >"$T/pause"; echo 0 >"$T/wait"
    apsis run
    is "code" "$code" 0
    is "outcome" "$(field 1 outcome) $(field 1 fix_attempts)" "kept 1"
    is "the proposal" "$(cmp runs/0001/proposal.json "$T/before.json" && echo same)" same
    is "the gate's log" "$(grep -c 'as it was proposed' runs/0001/gate.log)" 1
    is "the tree" "$(git show refs/apsis/tiny/c0001:value.txt) $(git show refs/apsis/tiny/c0001:style.txt)" "1 good"
done
CHECK=
end_item

item "several at once: all that is kept is green"
coder
gated_project crowd
apsis run --iterations 4 --workers 2
is "code" "$code" 0
is "red ones" "$(grep -c reverted_gate logs/results.jsonl)" 0
kept=0
while read -r commit; do
    kept=$((kept + 1))
    is "style of $commit" "$(git show "$commit:style.txt")" good
done < <(sed -n 's/.*"outcome":"kept".*"commit":"\([0-9a-f]*\)".*/\1/p; s/.*"commit":"\([0-9a-f]*\)".*"outcome":"kept".*/\1/p' logs/results.jsonl | sort -u)
ok "some were kept" test "$kept" -ge 2
apsis replay --check
is "replay --check" "$code" 0
end_item

item "history: revert goes on from the branch's tip"
coder
GATE=$'history: revert\ngate: bash check.sh'
gated_project revert
apsis run --iterations 2
is "outcomes" "$(field 1 outcome) $(field 2 outcome)" "kept kept"
is "the line" "$(git rev-list --count "$(git rev-parse HEAD)..apsis/tiny") $(git show apsis/tiny:style.txt)" "2 good"
GATE='gate: bash check.sh'
end_item

finish
