#!/bin/bash
# old_project: two projects that apsis 6dada4b made (tests/data/old). They are shown, reported, replayed and gone on from
# as by 6dada4b: all that it printed as JSON is printed still, with the same values.
. tests/cli/lib.sh || exit 1

OLD=$ROOT/tests/data/old

# open_project NAME: one of them, as a clone of its own with what is not in git.
open_project() {
    mkdir "$T/$1" && cd "$T/$1" || exit 1
    git init -q .
    git fetch -q "$OLD/$1/repository.bundle" 'refs/*:refs/*' --update-head-ok
    git reset -q --hard
    cp -r "$OLD/$1/logs" .
    [ ! -e "$OLD/$1/runs" ] || cp -r "$OLD/$1/runs" .
}

# same NAME ARGUMENTS: a command prints what it printed.
same() {
    local file=$1
    shift
    apsis "$@"
    is "$*: exit" "$code" 0
    local differs
    differs=$("$APSIS" exec "$ROOT/tests/cli/same.lua" "$OLD/$project/$file.json" "$T/.out" directory elapsed_s 2>&1)
    is "$*" "$differs" ""
}

# shown IDS: all commands that only look.
shown() {
    local id
    same status status --json
    same log log --json
    same best best --json
    same report report --json
    same replay replay --check --json
    for id in "$@"; do
        same "show-$id" show "$id" --json
        apsis diff --parent "$id"
        is "diff --parent $id" "$out" "$(cat "$OLD/$project/diff-$id.patch")"
    done
    apsis report --out "$T/report.html"
    is "the page" "$code" 0
}

for project in climb noisy; do
    item "$project: what 6dada4b printed is printed"
    open_project "$project"
    if [ "$project" = climb ]; then shown c0001 c0008 c0034 best; else shown c0001 best; fi
    is "only looked" "$(git status --porcelain; cmp logs/results.jsonl "$OLD/$project/logs/results.jsonl")" ""
    end_item
done

item "climb: the experiment that was killed is done again from its proposal, and the run goes on"
cd "$T/climb" || exit 1
before=$(lines)
apsis run -q --iterations 15
is "exit" "$code" 0
is "the lines before" "$(head -n "$before" logs/results.jsonl | cmp - "$OLD/climb/logs/results.jsonl")" ""
like "its line" "$(sed -n "$((before + 1))p" logs/results.jsonl)" '"experiment":46,'
is "its proposal" "$(sed -n "$((before + 1))p" logs/results.jsonl | grep -o '"parents":\["c[0-9]*"\]' | sort -u)" \
    "$(grep -o '"parents":\["c[0-9]*"\]' "$OLD/climb/runs/0046/proposal.json")"
ok "more lines" test "$(lines)" -ge $((before + 15))
apsis replay --check
is "replay --check" "$code" 0
apsis best --json
best=$(grep -o 'c[0-9][0-9]*' "$T/.out" | head -n 1)
is "the branch" "$(git rev-parse 'apsis/climb^{tree}')" "$(git rev-parse "refs/apsis/climb/$best^{tree}")"
ok "fsck" git fsck --strict --no-dangling
end_item

item "noisy: candidates are judged on by the noise that was recorded"
cd "$T/noisy" || exit 1
before=$(lines)
apsis run -q --iterations 3
is "exit" "$code" 0
is "the lines before" "$(head -n "$before" logs/results.jsonl | cmp - "$OLD/noisy/logs/results.jsonl")" ""
ok "more lines" test "$(lines)" -ge $((before + 3))
like "acceptance" "$(tail -n +$((before + 1)) logs/results.jsonl)" '"acceptance":'
apsis replay --check
is "replay --check" "$code" 0
end_item

finish
