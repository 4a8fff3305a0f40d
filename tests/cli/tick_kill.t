#!/usr/bin/env bash
# kill -9 of a tick: at every fsync, rename and ref update of it, one after the other. After the next tick branch, state file, the journal
# and its copy on the memory branch agree, no experiment stands twice, and nothing but the goal's own was touched.
. tests/cli/lib.sh || exit 1

command -v strace >/dev/null || { echo "1..0 # SKIP no strace"; exit 0; }

mkdir -p "$T/goals/.autoloop/programs" && cd "$T/goals" || exit 1
git init -q .
echo 1 >value.txt
cat >.autoloop/programs/rise.md <<'END'
---
provider: {kind: lua, use: rise.lua}
---
## Goal
More.
## Target
- `value.txt`
## Evaluation
```sh
echo "METRIC rise=$(cat value.txt)"
```
The metric is `rise`.
END
# Every third experiment is no improvement.
echo 'return function(proposal) local n = proposal.experiment return { ["value.txt"] = (n % 3 == 0 and 0 or 10 * n) .. "\n" } end' >rise.lua
git add -A && git commit -qm goals

home=.autoloop/programs/rise
row() { git show memory/autoloop:rise.md | sed -nE "s/^\| $1 \| (.*) \|\$/\1/p"; }

# agree WHEN: what must hold after a tick that came to its end.
agree() {
    local best value tip
    best=$("$APSIS" best "$home" --json 2>/dev/null | sed -nE 's/.*"candidate": *"(c[0-9]+)".*/\1/p')
    value=$("$APSIS" best "$home" --json 2>/dev/null | sed -nE 's/.*"value": *([0-9.]+).*/\1/p')
    tip=$(git rev-parse autoloop/rise^{tree})
    is "$1: the branch holds the best" "$tip" "$(git rev-parse "refs/apsis/rise/$best^{tree}")"
    is "$1: the state file has its value" "$(row 'Best Metric')" "$value"
    is "$1: the state file has taken in every line" "$(row 'Journal Lines')" "$(wc -l <$home/logs/results.jsonl | tr -d ' ')"
    is "$1: the copy is the journal" "$(git show memory/autoloop:rise.jsonl | cksum)" "$(cksum <$home/logs/results.jsonl)"
    is "$1: no experiment stands twice" "$(sed -nE 's/.*"experiment": *([0-9]+).*/\1/p' $home/logs/results.jsonl | sort | uniq -d)" ""
    is "$1: iterations are counted once" "$(row 'Iteration Count')" "$(($(wc -l <$home/logs/results.jsonl) - 1))"
    is "$1: the working tree is untouched" "$(git status --porcelain)" ""
    ok "$1: the repository is sound" git fsck --strict --no-dangling
}

apsis tick --quiet
is "a first tick" "$code" 0
agree "undisturbed"

most=${APSIS_SANITIZED:+2}
for call in fsync rename; do
    killed=0
    for at in $(seq 1 "${most:-40}"); do
        item "killed at $call number $at"
        capture "${TRACED[@]}" -f -o /dev/null -e trace="$call" -e inject="$call:signal=SIGKILL:when=$at" "$APSIS" tick --quiet 2>/dev/null
        ended=$code
        [ "$ended" = 137 ] && killed=$((killed + 1))
        apsis tick --quiet
        is "the next tick's exit" "$code" 0
        agree "then"
        end_item
        [ "$ended" = 137 ] || break
    done
    ok "kills at $call were tried" test "$killed" -ge 1
done

finish
