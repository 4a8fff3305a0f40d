#!/bin/bash
# explain: which hunks of the best make its gain. The program under test counts its own steps; a chain of five experiments makes 33 edits:
# ten save steps, twenty do nothing, and three (1, 17, 32) save steps only together.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh || exit 1

json() { printf '%s\n' "$out" | "$APSIS" exec "$ROOT/tests/cli/json.lua" "$@" 2>/dev/null; }

# planted NAME END: the project $T/NAME with its five experiments; END: what the program does last.
planted() {
    mkdir -p "$T/$1" && cd "$T/$1" && git init -q . || exit 1
    for i in $(seq 33); do
        steps=10
        [ $((i % 3)) = 0 ] && [ "$i" -le 30 ] && steps=$((100 + 10 * i))
        printf 'function part%d(  i) { # routine %d\n  for (i = 0; i < %d; i++) steps++\n\n\n}\n' "$i" "$i" "$steps"
    done >counter.awk
    {
        echo 'BEGIN {'
        for i in $(seq 33); do echo "  part$i()"; done
        echo '  if (!(a && b && c)) for (i = 0; i < 500; i++) steps++'
        printf '%s\n' "$2" '}'
    } >>counter.awk
    cat >propose.lua <<'END'
local plan = { { 1, 17, 32, 2, 3, 4, 5 }, { 6, 7, 8, 9, 10, 11 }, { 12, 13, 14, 15, 16, 18 }, { 19, 20, 21, 22, 23, 24, 25 },
  { 26, 27, 28, 29, 30, 31, 33 } }
local variables = { [1] = "a", [17] = "b", [32] = "c" }
return function(proposal, work)
  local text = work:read "counter.awk"
  for _, i in ipairs(plan[proposal.experiment] or {}) do
    local head = "(function part" .. i .. "%(.-"
    if i % 3 == 0 and i <= 30 then text = text:gsub(head .. "i < )%d+", "%110", 1)
    elseif variables[i] then text = text:gsub(head .. "\n.-\n)\n", "%1  " .. variables[i] .. " = 1\n", 1)
    else text = text:gsub("# routine " .. i .. "\n", "# the routine " .. i .. "\n", 1) end
  end
  return { ["counter.awk"] = text }, { hypothesis = "step " .. proposal.experiment }
end
END
    printf '%s\n' logs/ runs/ .apsis/ >.gitignore
    cat >manifest.yaml <<'END'
version: 1
project: {name: planted}
files:
  - {path: counter.awk, mode: writable}
  - {path: propose.lua, mode: read_only}
verification:
  commands: [{name: measure, run: awk -f counter.awk, timeout_sec: 10}]
metric: {name: steps, direction: lower}
strategy: hillclimb
provider: {kind: lua, use: propose.lua}
END
    git add -A && git commit -qm start
    "$APSIS" baseline -q >/dev/null 2>&1 && "$APSIS" run --iterations 5 -q >/dev/null 2>&1 || {
        echo "Bail out! the project $1 has no run"
        exit 1
    }
}

# the parts with an effect, as hunks: "1 17 32,3,6"
named() {
    printf '%s\n' "$out" | "$APSIS" exec <(echo 'local json = require "apsis.json"
        local list = {}
        for _, part in ipairs(json.decode(io.read "a").parts) do
          if part.matters then list[#list + 1] = table.concat(part.hunks, " ") end
        end
        print(table.concat(list, ","))')
}

REAL='1 17 32,3,6,9,12,15,18,21,24,27,30'

planted counter '  print "METRIC steps=" steps'

item "--dry-run shows the hunks and the budget, and measures nothing"
before=$(git for-each-ref; ls -A .apsis)
apsis explain --dry-run --max 150
is "exit" "$code" 0
line "the budget" "$out" '^c0005 against c0000: 33 hunks; at most 150 measurements \(--max\)$'
line "a hunk" "$out" '^ +17  counter.awk:83  \+ b = 1$'
is "nothing measured" "$err$(git for-each-ref; ls -A .apsis)" "$before"
apsis explain --dry-run --json
is "as JSON" "$(json candidate) $(json against) $(json most) $(json dry_run) $(json hunks.33.path)" "c0005 c0000 200 true counter.awk"
end_item

item "Ctrl-C ends it with 130 and leaves no folder behind; what was measured is kept for the next call"
mkdir "$T/tmp"
TMPDIR=$T/tmp "$APSIS" explain >"$T/.out" 2>"$T/.err" </dev/null &
pid=$!
for _ in $(seq 500); do [ "$(grep -c . .apsis/explained 2>/dev/null)" -ge 8 ] 2>/dev/null && break; nap 0.01; done
kill -INT "$pid"
wait "$pid"
is "exit" $? 130
is "folders" "$(ls -A "$T/tmp")" ""
like "the remedy" "$(cat "$T/.err")" 'interrupted; what was measured is kept: the same command goes on'
kept=$(grep -c . .apsis/explained)
ok "some is kept" [ "$kept" -ge 8 ]
end_item

item "all ten real edits and the three that interact are named, none of the twenty others, in at most 200 measurements"
journal=$(cksum <logs/results.jsonl) refs=$(git for-each-ref) files=$(git status --porcelain)
apsis explain --json
is "exit" "$code" 0
is "named" "$(named)" "$REAL"
ok "how many" [ "$(($(json measurements) + $(json reused)))" -le 100 ]
ok "what was kept is used" [ "$(json reused)" -ge "$kept" ]
is "values" "$(json baseline) $(json value) $(json noisy) $(json scale)" "3380 330 false sum"
is "shares" "$(json parts.2.share) $(json parts.1.members.3.hunks.1) $(json parts.3.value) $(json parts.3.share | cut -c1-5)" "0 32 450 0.039"
is "journal, refs and files are as before" "$(cksum <logs/results.jsonl)$(git for-each-ref)$(git status --porcelain)" "$journal$refs$files"
end_item

item "for people: a line for each, the greatest first, the group with its members, and the smallest patch, which keeps what it promises"
apsis explain
is "exit" "$code" 0
line "the gain" "$out" "^c0005 against c0000: steps 330, -90 % against the baseline's 3380\$"
line "nothing measured twice" "$out" '^measured 0 times, [0-9]+ more kept from before, without noise'
line "the group" "$out" '^  16.4 % +830 +3 hunks that interact:$'
line "a member" "$out" '^\(16.4 %\) +830 +17  counter.awk:83  \+ b = 1$'
line "a hunk" "$out" '^  12.8 % +720 +30  counter.awk:147  \+ for \(i = 0; i < 10; i\+\+\) steps\+\+$'
line "without effect" "$out" '^no effect: 20 of 33 hunks \(2, 4-5, 7-8,'
line "smallest" "$out" '^smallest patch that keeps 95 %: 12 hunks of 33, \+12 -12 lines'
line "what it keeps" "$out" '^  it keeps 96.1 %: steps 450$'
is "in 80 columns" "$(printf '%s\n' "$out" | grep -v '^no effect\|^smallest\|^measured' | awk 'length > 80')" ""
take=$(printf '%s\n' "$out" | sed -n 's/^  \(git diff-tree .*\)/\1/p')
git worktree add -q "$T/taken" refs/apsis/planted/c0000 && (cd "$T/taken" && eval "$take")
is "the patch, taken by its command" "$(awk -f "$T/taken/counter.awk")" "METRIC steps=450"
git worktree remove --force "$T/taken"
end_item

item "on a terminal of 80 columns each line fits, and the live line is gone at the end"
out=$(script -qec "stty cols 80 rows 24; TERM=xterm '$APSIS' explain 1" /dev/null </dev/null | tr -d '\r')
like "live" "$out" $'measuring c0001 without hunk 2 \\([0-9]+ of at most 200\\)'
like "the table" "$out" $'\n *80.6 % +3260 +3 hunks that interact:\n'
is "in 80 columns" "$(printf '%s\n' "$out" | sed 's/.*\x1b\[K//' | awk 'length > 80')" ""
end_item

item "--max bounds it: coarser parts, and how to go on; --against begins elsewhere"
rm .apsis/explained
apsis explain --max 20 --json
is "exit" "$code" 0
ok "at most" [ "$(json measurements)" -le 20 ]
apsis explain --max 20
like "goes on" "$out" '(stopped at 20 measurements|not divided further).*--max 40'
apsis explain --max 3
is "too few" "$code" 2
apsis explain 2 --against 1 --json
is "one step" "$(json hunks.1.number) $(json against) $(json baseline) $(named)" "1 c0001 2760 1,4"
apsis explain c0000
is "nothing" "$code $out" "0 c0000 is the baseline: nothing to explain"
apsis explain 1 --against 2
is "no gain" "$code" 5
like "why" "$err" 'c0001 is not shown to be better than c0002: there is no gain to explain'
end_item

item "kept measurements do not count once the evaluator has changed; rubbish among them is passed over; a link is refused"
apsis explain 1 --json
echo '{"key": 7}' >>.apsis/explained
printf '{"key": "half' >>.apsis/explained
apsis explain 1 --json
is "used" "$(json measurements)" 0
sed -i 's/awk -f/awk  -f/' manifest.yaml
apsis explain 1 --json
ok "measured again" [ "$(json measurements)" -gt 5 ]
git checkout -q manifest.yaml
mv .apsis/explained "$T/elsewhere" && ln -s "$T/elsewhere" .apsis/explained
apsis explain 1
is "a link" "$code" 3
rm .apsis/explained
end_item

finish
