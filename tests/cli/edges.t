#!/bin/sh
# The command provider's surroundings: its private folder, asi.json, long prompts, long outputs, and the step that failed;
# and a project whose name is free text.
. tests/cli/lib.sh

# agent NAME PROVIDER [PROJECT]: a project whose provider is agent.sh (from stdin), measured by value.txt; baselined.
agent() {
    mkdir -p "$T/$1" && cd "$T/$1" && git init -q . || exit 1
    { echo '#!/bin/sh'; cat; } > agent.sh
    echo 'echo "METRIC score=$(cat value.txt)"' > measure.sh
    chmod +x agent.sh
    echo 1 > value.txt
    printf '/logs/\n/runs/\n/.apsis/\n' > .gitignore
    cat > manifest.yaml <<YAML
version: 1
project: {name: ${3:-$1}}
files: [{path: value.txt, mode: writable}${RULES:-}]
verification: {commands: [{name: measure, run: sh measure.sh}]}
metric: {name: score, direction: higher}
provider: {kind: command, retries: 0, run: ./agent.sh$2}
YAML
    commit
    apsis baseline
}

field() { # LINE KEY: a field of a journal line
    sed -n "$1p" logs/results.jsonl | "$APSIS" exec "$ROOT/tests/cli/json.lua" "$2"
}

# APSIS_RUN_DIR.
agent private '' <<'SH'
cat > /dev/null
case $APSIS_EXPERIMENT in
1)
    printf '%s' "$APSIS_RUN_DIR" > "$APSIS_RUN_DIR/where"
    ls -A "$APSIS_RUN_DIR" > "$APSIS_RUN_DIR/first"
    mkdir "$APSIS_RUN_DIR/sub" && echo deep > "$APSIS_RUN_DIR/sub/note"
    echo 2 > value.txt ;;
2)
    [ -e "$APSIS_RUN_DIR/where" ] && echo 99 > value.txt || echo 3 > value.txt ;;
*)
    rm -rf "$APSIS_RUN_DIR" && ln -s "$HOME" "$APSIS_RUN_DIR" && echo 4 > value.txt ;;
esac
SH
echo precious > "$HOME/precious"
apsis run --iterations 3 -q
is "a provider with a private folder runs" "$code" 0
where=$(cat runs/0001/provider/where)
no_line "APSIS_RUN_DIR is not in the project" "$where" "^$PWD/"
ok "and is gone, or empty, afterwards" test ! -e "$where/where"
is "what is left there is kept in runs/NNNN/provider" "$(cat runs/0001/provider/sub/note)" deep
is "the next experiment sees none of it" "$(field 3 primary_metric)" 3
ok "and keeps nothing where nothing was left" test ! -e runs/0002/provider
is "the folder cannot be taken away" "$(field 4 outcome)" skipped_provider_failure
echo 'sandbox: off' >> manifest.yaml
apsis run --iterations 1 -q
is "a link in the folder's place, where there is no sandbox, is no failure" "$(field 5 outcome)" kept
ok "nor followed" test ! -e runs/0004/provider/precious -a ! -e runs/0003/provider/precious
is "nor is anything removed through it" "$(cat "$HOME/precious")" precious

agent bounded '' <<'SH'
cat > /dev/null
head -c 3000000 /dev/zero > "$APSIS_RUN_DIR/big"
echo small > "$APSIS_RUN_DIR/small"
echo 2 > value.txt
SH
sed -i 's/^verification: {/&artifacts: {max_mb: 1}, /' manifest.yaml
apsis run --iterations 1 -q
is "what is kept of the provider's folder is bounded" "$(cat runs/0001/provider/small)" small
ok "as artifacts are" test ! -e runs/0001/provider/big

# asi.json.
RULES=', {path: asi.json, mode: writable}'
mkdir "$T/owned" && echo '{"hypothesis": "the file of the project"}' > "$T/owned/asi.json"
agent owned '' <<'SH'
cat > /dev/null
echo '{"hypothesis": "changed by the provider"}' > asi.json
echo 2 > value.txt
SH
RULES=
apsis run --iterations 1 -q
is "a committed asi.json may be changed" "$(field 2 outcome)" kept
is "and its change is part of the candidate" "$(git show refs/apsis/owned/c0001:asi.json)" \
    '{"hypothesis": "changed by the provider"}'
is "as it is not read as ASI" "$(field 2 hypothesis)" null

# A long prompt as an argument.
agent long ', prompt: argument' <<'SH'
printf '%s' "$1" > "$APSIS_RUN_DIR/argument"
file=$(printf '%s' "$1" | sed -n 's/^Read the file \(.*\) and do what it says\.$/\1/p')
if [ -n "$file" ]; then
    [ "$file" = "$APSIS_RUN_DIR/prompt.md" ] && cp "$file" "$APSIS_RUN_DIR/copy" && echo 3 > value.txt
else
    echo 2 > value.txt
fi
SH
apsis run --iterations 1 -q
is "a short prompt is the argument itself" "$(field 2 primary_metric)" 2
ok "as it is" cmp runs/0001/provider/argument runs/0001/prompt.md
awk 'BEGIN { for (i = 0; i < 30000; i++) print "it'"'"'s long" }' > program.md
commit 'a long program'
apsis run --iterations 1 -q
is "a prompt over 120,000 bytes is named by the argument" "$(field 3 outcome)" kept
ok "and is whole in the file" cmp runs/0002/provider/copy runs/0002/prompt.md
ok "which is not kept twice" test ! -e runs/0002/provider/prompt.md
sed -i 's|run: ./agent.sh|run: [./agent.sh]|' manifest.yaml
sed -i 's/echo 3 >/echo 4 >/' agent.sh && commit 'a list'
apsis baseline --again
apsis run --iterations 1 -q
is "also where the command is a list" "$(sed -n '$p' logs/results.jsonl | "$APSIS" exec "$ROOT/tests/cli/json.lua" primary_metric)" \
    4

# A prompt in a file.
agent file ', prompt: file' <<'SH'
printf '%s' "$1" > "$APSIS_RUN_DIR/argument"
cp "$1" "$APSIS_RUN_DIR/copy" && echo 2 > value.txt
SH
apsis run --iterations 1 -q
ok "with prompt: file the file has the prompt" cmp runs/0001/provider/copy runs/0001/prompt.md
no_line "and is not one of the project's" "$(cat runs/0001/provider/argument)" "^$PWD/"

# A long output.
agent loud '' <<'SH'
cat > /dev/null
echo "The plan comes first"
echo "ASI hypothesis=said at the beginning"
head -c 100000000 /dev/zero | tr '\0' 'x'
echo
echo "ASI learned=said at the end"
echo 2 > value.txt
SH
if [ -x /usr/bin/time ]; then
    /usr/bin/time -f '%M' -o "$T/rss" "$APSIS" run --iterations 1 -q > /dev/null 2>&1
    rss=$(tail -1 "$T/rss")
else
    apsis run --iterations 1 -q
    rss=0
fi
is "of a long output the beginning and the end are read" "$(field 2 hypothesis) / $(field 2 learned)" \
    "said at the beginning / said at the end"
ok "it is never all in memory ($rss kB)" test "$rss" -lt $((${APSIS_SANITIZED:-0} ? 250000 : 32000))
size=$(stat -c %s runs/0001/provider_output.md)
ok "provider_output.md has it up to output_limit_mb ($size bytes)" test "$size" -gt 60000000 -a "$size" -lt 68000000
line "the plan is its first line" "$(git log -1 --format=%s refs/apsis/loud/c0001)" "^The plan comes first$"

# Which step failed.
agent steps ', steps: [plan, implement]' <<'SH'
if grep -q '^Step 1 of 2' ; then
    [ "$APSIS_EXPERIMENT" = 1 ] && { echo "no plan today" >&2; exit 3; }
    echo "The plan"
else
    echo "out of ink" >&2
    exit 4
fi
SH
apsis run --iterations 2 -q
is "a plan step that fails is a provider's failure" "$(field 2 outcome)" skipped_provider_failure
is "reported as the plan step's" "$(field 2 rollback_reason)" \
    "plan step: the provider ended with exit 3: no plan today"
ok "after which there is no second step" test ! -e runs/0001/prompt.md -o "$(grep -c 'Step 2 of 2' runs/0001/prompt.md)" = 0
is "and the other as its own" "$(field 3 rollback_reason)" \
    "implement step: the provider ended with exit 4: out of ink"

# A name that is free text.
agent named '' '"My Project (x)"' <<'SH'
cat > /dev/null
echo 2 > value.txt
SH
is "a project with a free name has a baseline" "$code" 0
apsis run --iterations 1 -q
is "and runs" "$code" 0
ok "its refs have the name made fit for one" git rev-parse -q --verify refs/apsis/My-Project-x/c0001
ok "as has its branch" git rev-parse -q --verify refs/heads/apsis/My-Project-x
apsis status --json
is "while people see the name itself" "$(json project)" "My Project (x)"
finish
