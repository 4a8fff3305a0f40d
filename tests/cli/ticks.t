#!/usr/bin/env bash
# apsis tick under a simulated clock: a repository with three standing goals (higher with a target, lower with a target, open-ended),
# one paused, one unconfigured; thirty ticks, an hour apart. The transcript is tests/data/ticks/transcript.txt, the state files at its end
# beside it (commits and the machine's paths left out).
. tests/cli/lib.sh || exit 1

expected=$ROOT/tests/data/ticks

# goal NAME FRONT FILE: a program whose metric is the number in FILE.
goal() {
    cat >".autoloop/programs/$1.md" <<END
---
$2
provider: {kind: lua, use: tools/$1.lua}
---
# $1

## Goal

Move the number in \`$3\`.

## Target

- \`$3\`

## Evaluation

\`\`\`sh
echo "{\"$1\": \$(cat $3)}"
\`\`\`

The metric is \`$1\`.
END
}

# moves NAME FILE VALUE...: what the provider of NAME makes of FILE in experiment 1, 2, ...; the last one stays.
moves() {
    local name=$1 file=$2
    shift 2
    printf 'local values = { %s }\nreturn function(proposal)\n  return { ["%s"] = (values[proposal.experiment] or values[#values] + proposal.experiment) .. "\\n" }\nend\n' \
        "$(printf '%s, ' "$@")" "$file" >"tools/$name.lua"
}

mkdir -p "$T/goals/.autoloop/programs" "$T/goals/tools" && cd "$T/goals" || exit 1
git init -q .
echo 50 >coverage.txt && echo 900 >size.txt && echo 10 >speed.txt && echo 1 >frozen.txt
goal coverage $'schedule: every 2h\ntarget-metric: 80   # percent' coverage.txt
goal size $'schedule: every 90m\ntarget-metric: 700\nmetric_direction: lower   # bytes' size.txt
goal speed 'schedule: Every 4 H' speed.txt
goal frozen 'schedule: hourly' frozen.txt
printf '<!-- AUTOLOOP:UNCONFIGURED -->\n# later\n' >.autoloop/programs/later.md
moves coverage coverage.txt 60 55 75 74 75 76 80 # every other one is better, the seventh meets the target
moves size size.txt 850 860 840 840 820 700
moves speed speed.txt 9 11 8 12
moves frozen frozen.txt 2
git add -A && git commit -qm 'goals'

# A person pauses a goal before it ever ran: a state file on the branch, made by hand.
printf '# frozen\n\n## ⚙️ Machine State\n\n| Field | Value |\n|---|---|\n| Paused | true |\n| Pause Reason | until the release \\| ask Kim |\n' >"$T/frozen.md"
blob=$(git hash-object -w "$T/frozen.md")
git update-ref refs/heads/memory/autoloop "$(git commit-tree -m 'frozen, by hand' "$(printf '100644 blob %s\tfrozen.md\n' "$blob" | git mktree)")"

clock() { printf '2026-03-%02dT%02d:00:00Z' $((1 + $1 / 24)) $(($1 % 24)); }

for hour in $(seq 0 29); do
    APSIS_NOW=$(clock "$hour")
    export APSIS_NOW
    echo "== $APSIS_NOW"
    apsis tick
    [ "$code" = 0 ] || echo "exit $code"
    printf '%s\n' "$out" | grep -v '^look further'
    printf '%s' "$err" | grep -v '^ *[0-9]*:[0-9][0-9]  experiment' || true # the progress line
done >"$T/transcript.txt"

clean() { sed -E 's/; [135] equal measurements//; s/\b[0-9a-f]{10}\b/COMMIT/g; s#'"$T"'#T#g'; }
same() { diff <(clean <"$2") "$1" || return 1; }
for name in coverage size speed frozen; do git show "memory/autoloop:$name.md" >"$T/$name.md"; done
if [ -n "${APSIS_WRITE_EXPECTED:-}" ]; then
    mkdir -p "$expected"
    for name in transcript.txt coverage.md size.md speed.md frozen.md; do clean <"$T/$name" >"$expected/$name"; done
fi

is "the transcript of thirty ticks" "$(same "$expected/transcript.txt" "$T/transcript.txt" 2>&1)" ""
for name in coverage size speed frozen; do
    is "the state file of $name" "$(same "$expected/$name.md" "$T/$name.md" 2>&1)" ""
done

row() { git show "memory/autoloop:$1.md" | sed -nE "s/^\| $2 \| (.*) \|\$/\1/p"; }
is "higher with a target is completed by >=" "$(row coverage Completed)" true
like "the reason says target, value, direction" "$(row coverage 'Completed Reason')" '80 .*80.*higher is better'
is "lower with a target is completed by <=" "$(row size Completed)" true
like "and so for lower" "$(row size 'Completed Reason')" '700 .*700.*lower is better'
is "the open-ended one goes on" "$(row speed Completed)" false
is "the paused one stays as the person left it" "$(row frozen Paused) $(row frozen 'Pause Reason')" 'true until the release \| ask Kim'
unlike "the paused one never ran" "$(cat "$T/transcript.txt")" 'chosen   frozen'
unlike "nor did the unconfigured one" "$(cat "$T/transcript.txt")" 'chosen   later'
is "nothing but the goals' branches was made" "$(git for-each-ref --format='%(refname:short)' refs/heads | tr '\n' ' ')" \
    'autoloop/coverage autoloop/size autoloop/speed main memory/autoloop '
is "the working tree is as it was" "$(git status --porcelain)" ""
is "what was chosen is in autoloop.json" "$(sed -n 's/.*"selected": *\(.*\),.*/\1/p' .apsis/autoloop.json | head -1)" null

finish
