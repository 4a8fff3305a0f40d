#!/bin/bash
# schedule: what it shows of programs in every state, under a fixed clock; what it prints for systemd and cron; what it refuses.
. tests/cli/lib.sh || exit 1
export APSIS_NOW=2026-11-22T12:00:00Z

mkdir "$T/plain" && cd "$T/plain" || exit 1
apsis schedule
is "outside of a repository it exits 3" "$code" 3
like "and says what to do" "$err" "git init"

new_project "goals 100% it's"
home=$PWD
apsis schedule
is "without programs it exits 0" "$code" 0
like "and says how to write one" "$out" '`apsis init --program NAME` writes \.autoloop/programs/NAME\.md'
like "and where the guide has one" "$out" 'docs/guide/goals\.md of apsis$'
ok "which is there" test -f "$ROOT/docs/guide/goals.md"
apsis schedule --json
is "and its JSON has none" "$out" '{"now":"2026-11-22T12:00:00Z","programs":[]}'

# program FILE FRONT_MATTER: a program that raises value.txt.
program() {
    mkdir -p "$(dirname ".autoloop/programs/$1")"
    cat >".autoloop/programs/$1" <<END
---
$2
memory: folder
provider: {kind: lua, use: propose.lua}
---
# Raise the score

## Goal

The number in value.txt is to grow.

## Target

Only modify these files:
- \`value.txt\`

## Evaluation

\`\`\`bash
sh evaluate.sh
\`\`\`

The metric is \`score\`, printed as a METRIC line. ${3-Higher is better.}
END
}

# state NAME ROWS: the Machine State of a program.
state() {
    mkdir -p .autoloop/memory
    printf '# %s\n\n## ⚙️ Machine State\n\n| Field | Value |\n|-------|-------|\n%s\n' "$1" "$2" >".autoloop/memory/$1.md"
}

program coverage.md 'schedule: every 6h
target-metric: 90'
program latency/program.md 'schedule: "DAILY"
metric_direction: lower   # less is faster' 'Lower is better.'
program size.md 'schedule: 0 6 * * MON-FRI'
program done.md 'schedule: hourly
target-metric: 5'
program held.md 'schedule: hourly'
program flat.md 'schedule: hourly'
program new.md 'schedule: weekly'
program odd.md 'schedule: every 2h'
program shaky.md 'schedule: every 6h'
program late.md 'schedule: hourly'
program long.md 'schedule: hourly'
program draft.md '' '<!-- AUTOLOOP:UNCONFIGURED -->'
program broken.md 'schedule: every 5 hours'
state coverage '| Last Run | 2026-11-22T13:00:00+02:00 |
| Best Metric | 71.5 |'
state latency '| Last Run | 2026-11-21T11:00:00Z |
| Best Metric | 1.3 |
| Metric Direction | lower |'
state size '| Last Run | 2026-11-20T06:10:00Z |'
state done '| Last Run | 2026-11-20T06:10:00Z |
| Best Metric | 6 |
| Completed | true |
| Completed Reason | target metric 5 reached with value 6 (higher is better) |'
state held '| Last Run | 2026-11-20T06:10:00Z |
| Paused | true |
| Pause Reason | waiting for review |'
state flat '| Last Run | 2026-11-20T06:10:00Z |
| Recent Statuses | accepted, rejected, rejected, rejected, rejected, rejected |'
state shaky '| Last Run | 2026-11-22T11:00:00Z |
| Consecutive Errors | 2 |'
state late '| Last Run | 2026-11-22T10:00:00Z |
| Consecutive Errors | 1 |'
state long '| Last Run | 2026-11-20T06:10:00Z |
| Paused | true |
| Pause Reason | ci-fix-exhausted: fatal: the build of the documentation ends with an error that nobody can read who has only this terminal |'
state odd '| Last Run | last tuesday |'
git add -A && git commit -qm programs

# value NAME KEY: of a program in the JSON of the last command.
value() {
    printf '%s' "$out" | "$APSIS" exec "$T/value.lua" "$1" "$2"
}
cat >"$T/value.lua" <<'END'
local json = require "apsis.json"
local name, key = ...
for _, program in ipairs(json.decode(io.read "a").programs) do
  if program.name == name then
    local found = program[key]
    print(type(found) == "table" and json.encode(found) or tostring(found))
  end
end
END

apsis schedule --json
is "with programs it exits 0" "$code" 0
item "every program has its state in the JSON, and what is due says so"
while read -r name state due; do
    is "$name state" "$(value "$name" state)" "${state//_/ }"
    is "$name due" "$(value "$name" due)" "$due"
done <<'END'
broken invalid false
coverage not_due false
done completed false
draft unconfigured false
flat plateau false
held paused false
late due true
latency due true
new due true
odd due true
shaky not_due false
size not_due false
END
end_item
is "the next time is an instant in UTC, whatever offset the last run has" "$(value coverage next_due)" 2026-11-22T17:00:00Z
is "so is the last run" "$(value coverage last_run)" 2026-11-22T11:00:00Z
is "a cron expression is due at its next match" "$(value size next_due)" 2026-11-23T06:00:00Z
is "what is due has been since" "$(value latency next_due)" 2026-11-22T11:00:00Z
is "what never ran has no times" "$(value new next_due) $(value new last_run)" "null null"
is "the best is the state file's" "$(value coverage best) $(value new best)" "71.5 null"
is "with direction and target" "$(value coverage direction) $(value coverage target) $(value latency direction)" "higher 90 lower"
is "the file is relative to the repository" "$(value latency file)" .autoloop/programs/latency/program.md
is "the schedule is as it was written" "$(value latency schedule)" DAILY
is "a pause has its reason" "$(value held reason)" "paused: waiting for review"
is "completed is in autoloop's words" "$(value done reason)" "completed: target metric reached"
is "and so is a plateau" "$(value flat reason)" "plateau: 5 consecutive rejections"
is "errors in a row are counted" "$(value shaky errors) $(value late errors) $(value new errors)" "2 1 0"
is "and what is not due" "$(value size reason)" "not due yet"
like "an invalid schedule names file, line, key and what was meant" "$(value broken reason)" \
    "broken\.md:2: schedule: .*every 5 hours.*did you mean 'every 5h'"
like "an unreadable last run is warned of" "$(value odd warnings)" "Last Run: 'last tuesday' is no time"

apsis schedule
item "the table has a row for each, with schedule, when and why"
like head "$out" '^program +state +schedule +next due +last run +best +direction +target +reason'
like coverage "$out" 'coverage +not due +every 6h +in 5 h \(2026-11-22 17:00Z\) +2026-11-22 11:00Z +71\.5 +higher +90'
like latency "$out" 'latency +due +DAILY +now +2026-11-21 11:00Z +1\.3 +lower +-'
like size "$out" 'size +not due +0 6 \* \* MON-FRI +in 18 h'
like new "$out" 'new +due +weekly +now +never'
like done "$out" 'done +completed +hourly +- .*target metric 5 reached with value 6'
like held "$out" 'held +paused +hourly +- .* waiting for review'
like flat "$out" 'flat +plateau +hourly +- .*5 consecutive rejections'
like draft "$out" 'draft +unconfigured +- +- '
like broken "$out" 'broken +invalid +- +- '
like shaky "$out" 'shaky +not due +every 6h [^
]* 2 errors in a row'
like late "$out" 'late +due +hourly [^
]* the last turn was an error'
end_item
like "an error stands whole below its row" "$out" $'broken +invalid[^\n]*\n  \\.autoloop/programs/broken\\.md:2: schedule: [^\n]*MON-FRI'
like "and so does a warning" "$out" $'\nodd +due[^\n]*\n  warning: odd: Last Run: '
(cd .autoloop/programs/latency && "$APSIS" schedule >"$T/below" 2>&1)
is "from a folder below the table is the same" "$(grep -v 'broken\.md' "$T/below")" "$(grep -v 'broken\.md' <<<"$out")"
cd "$T" || exit 1
apsis schedule "$home"
like "and by the directory's name" "$out" "coverage +not due"
cd "$home" || exit 1
if command -v script >/dev/null; then
    # at COLUMNS: the table on a terminal so wide.
    at() {
        script -qec "stty cols $1; '$APSIS' schedule -C ." /dev/null </dev/null 2>&1 | tr -d '\r' >"$T/terminal"
    }
    for columns in 60 80 110; do
        at $columns
        is "at $columns columns no line is wider" "$(awk -v most=$columns 'length > most' "$T/terminal")" ""
        like "at $columns columns no word of a reason is lost" "$(tr -s '\n ' '  ' <"$T/terminal")" \
            "ci-fix-exhausted: fatal: the build of the documentation ends with an error that nobody can read who has only this terminal"
        unlike "at $columns columns nothing is cut" "$(grep -v '^  ' "$T/terminal")" '~'
    done
    at 80
    like "at 80 columns a reason stands below its row" "$(cat "$T/terminal")" $'\nlong +paused[^\n]*\n  ci-fix-exhausted: fatal: '
    like "wrapped, each line indented" "$(cat "$T/terminal")" $'\n  [^\n]*only this\n  terminal\n|\n  [^\n]*this terminal\n'
    like "at 80 columns all but the schedule is there" "$(head -1 "$T/terminal")" '^program +state +next due +last run +best +direction +target'
    like "as how long ago" "$(cat "$T/terminal")" 'coverage +not due +in 5 h +60 min ago +71\.5'
    at 60
    like "at 60 columns what is due still says so" "$(cat "$T/terminal")" "latency +due"
fi
is "looking wrote nothing" "$(git status --porcelain)" ""

printf '| Paused | \033[31mno\033[0m\x07 |\n' >>.autoloop/memory/coverage.md
apsis schedule
unlike "no escape sequence of a state file reaches the terminal" "$out$err" $'\033'
git checkout -q .

APSIS_NOW=2026-11-22T17:00:00Z apsis schedule --json
is "at the very instant it is due" "$(value coverage due)" true
APSIS_NOW=2026-11-22T16:59:59Z apsis schedule --json
is "and a second before it is not" "$(value coverage due)" false
APSIS_NOW=yesterday apsis schedule
is "a clock that is no time is refused" "$code" 2
like "with what to write" "$err" "APSIS_NOW: 'yesterday' is no time; write 2026"

for pair in "--json --cron" "--json --systemd" "--systemd --cron"; do
    # shellcheck disable=SC2086
    apsis schedule $pair
    is "$pair together are refused" "$code" 2
done

apsis schedule --cron
is "--cron exits 0" "$code" 0
is "and prints one line" "$(printf '%s\n' "$out" | wc -l | tr -d ' ')" 1
like "with how to add it beside" "$err" "crontab"
cat >"$T/words" <<'END'
#!/bin/sh
for word; do printf '<%s>' "$word"; done
END
chmod +x "$T/words"
command=${out#* * * * * }
line=$(printf '%s' "$command" | sed 's/\\%/%/g') # as cron does
line=$T/words${line#*/apsis}
like "often enough for all of them" "${out%% /*}" '^\*/15 \* \* \* \*$|^\*/10 \* \* \* \*$|^\*/5 \* \* \* \*$'
is "cron and sh read from it the repository's own path, and it is silent" "$(sh -c "$line")" "<tick><-q><$home>"
unlike "without a remote nothing is fetched" "$out$err" fetch

apsis schedule --systemd
is "--systemd exits 0" "$code" 0
item "it has a service, a timer, and where they go"
like service "$out" $'\n\\[Service\\]\nType=oneshot\nExecStart="[^"]*/apsis" tick -q "[^"]*/goals 100%% it\'s"\n'
like timer "$out" $'\n\\[Timer\\]\nOnCalendar=\\*-\\*-\\* \\*:00/(15|10|5):00\n'
like where "$out" '^# ~/\.config/systemd/user/apsis-goals-100-it-s-[0-9a-f]*\.service'
like enable "$out" 'systemctl --user enable --now apsis-goals.*\.timer|enable --now'
end_item

unlike "no fetching" "$out$err" fetch

git init -q --bare "$T/origin.git"
git remote add origin "$T/origin.git"
apsis schedule --cron
like "with a remote the line fetches before it ticks" "$out" ' GIT_TERMINAL_PROMPT=0 timeout 300 git -C .* fetch -q origin; [^;]* tick -q '
like "and the hint says so" "$err" "before each tick it fetches from origin"
# what cron runs, with another program in apsis's place
run_line() {
    local command=${out#* * * * * } tick
    command=$(printf '%s' "$command" | sed 's/\\%/%/g')
    tick=${command##*; }
    (cd / && sh -c "${command%; *}; $T/words${tick#*/apsis}") 2>"$T/.fetch"
}
git push -q origin HEAD:main
is "cron and sh fetch and tick in the repository's own path" "$(run_line)" "<tick><-q><$home>"
ok "it has fetched" git rev-parse -q --verify refs/remotes/origin/main
mv "$T/origin.git" "$T/gone.git"
is "where fetching fails the tick goes on" "$(run_line)" "<tick><-q><$home>"
ok "and git says so" test -s "$T/.fetch"
apsis schedule --systemd
like "in a unit too, where a failure is no matter" "$out" \
    $'\nExecStartPre=-/usr/bin/env GIT_TERMINAL_PROMPT=0 timeout 300 git -C "[^"]*/goals 100%% it\'s" fetch -q origin\nExecStart='
git worktree add -q "$T/tree" && cd "$T/tree" || exit 1
apsis schedule --cron
like "a worktree has the repository's remote" "$out" "git -C [^ ]*/tree fetch"

finish
