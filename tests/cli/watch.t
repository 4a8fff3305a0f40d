#!/bin/bash
# watch: the full-screen view, on terminals that tmux makes; the same as lines; what is shown is what the other commands
# show, and nothing that a journal has in it controls the terminal.
. tests/cli/lib.sh || exit 1

export LC_ALL=C.UTF-8 TERM=xterm-256color
unset NO_COLOR TMUX
TMUX_TMPDIR=$T
export TMUX_TMPDIR
at_end+=(close)

terminals=0
close() { tmux -L "watch$terminals" kill-server 2>/dev/null; }

# open COLUMNS ROWS COMMAND: a terminal of that size, in which the command runs.
open() {
    close
    terminals=$((terminals + 1)) # a server that ends may keep its name for a moment
    tmux -L "watch$terminals" -f /dev/null new-session -d -x "$1" -y "$2" "stty susp undef; $3; echo exit \$?; stty -a | grep -o '.icanon\|.echo '; sleep 100"
}
screen() { tmux -L "watch$terminals" capture-pane -p "$@" 2>/dev/null; }
press() { tmux -L "watch$terminals" send-keys "$@"; }
shows() { screen | grep -Eq -e "$1"; }

# sees WHAT REGEX: the screen comes to show it.
sees() {
    local until=$((SECONDS + ${WATCH_SEC:-20}))
    while [ "$SECONDS" -lt "$until" ]; do
        if shows "$2"; then verdict yes "$1"; return; fi
        sleep 0.05
    done
    verdict no "$1" "no line matches '$2' of:
$(screen)"
}

scripted p
printf '%s\n' '1 one is nearer' '1.5 near ESC[31mred' '9 far too far' '1.25 between' '0.5 half is farther' \
    '1.6 six' '1.7 seven' '1.8 eight' '1.9 nine' >edits.txt
commit edits
"$APSIS" baseline >/dev/null
"$APSIS" run -q --iterations 5 >/dev/null
status=$("$APSIS" status)
best=$(printf '%s\n' "$status" | sed -n 's/^best: *//p')

item "a first screen of 80x24: where the run stands, its curve, what there is to know before believing it"
open 80 24 "'$APSIS' watch"
sees "the title" '^p: loss, lower is better +finished$'
sees "the best, as status shows it" "^best +$(printf '%s' "$best" | cut -c1-40 | sed 's/[][().*+]/\\&/g')"
sees "how they ended" '^done +5 experiments: kept [0-9]'
sees "the curve" '[⡇⠉⣀⠤⠒]{5}'
sees "trust" '^sandbox +auto: '
sees "noise" '^noise +none in 5 equal measurements$'
sees "the keys" '^\[1 now\] 2 journal .* q quit$'
is "no row is wider" "$(screen | wc -L)" 80
end_item

item "the journal: newest first, opened with Enter; a text narrows it down"
press 2
sees "the newest" '^> c0005 .* half is farther$'
press Down Down
sees "moved" '^> c0003 .* far too far$'
press Enter
sees "what show prints" '^candidate: +c0003$'
press Tab
sees "the patch" '^-return \{ 1.5, 0, 0 }$'
sees "and what is new" '^\+return \{ 9, 0, 0 }$'
press Tab
sees "the log" '^METRIC loss='
press Escape
sees "back" '^> c0003 '
press /
press -l near
press Enter
sees "what is looked for" '^2 of them contain "near" \(all 6 lines\)'
press Escape
sees "all again" '^> c0005 '
end_item

item "the best path: its steps and their shares; they add up"
press 3
sees "the baseline" '^  c0000 +36.2 +where it starts$'
like "shares of 100 %" "$(screen | sed -n 's/.*+\([0-9.]*\) %.*/\1/p' | awk '{ sum += $1 } END { print (sum > 99.7 && sum < 100.3) }')" 1
press Enter
sees "its patch" '^[+]return \{ '
press q
sees "back" 'where it starts$'
end_item

item "the search: what was kept by operator, in all and over the run; what failed, counted"
press 4
kept=$("$APSIS" log --json | grep -c '"outcome":"kept"')
sees "by operator" "^exploitation +$kept of 5 +[0-9]+ % +[^ ]+$"
sees "tried before" '^tried before  0 duplicates \(0 % of 5 candidates\), 0 without a change$'
sees "failures" '^failures  0 in all$'
end_item

item "another size: the screen follows"
press 1
tmux -L "watch$terminals" resize-window -x 200 -y 60
sees "wide" '^p: loss, lower is better {150,}finished$'
sees "tall" '^\[1 now\]'
is "60 rows" "$(screen | wc -l)" 60
tmux -L "watch$terminals" resize-window -x 40 -y 12
sees "small" '^\[1 now\] 2 journal'
is "no row is wider" "$(screen | wc -L)" 40
tmux -L "watch$terminals" resize-window -x 80 -y 24
end_item

item "pause, resume and a note are the commands'"
press p
sees "paused" '^paused; no loop is running'
ok "the file is there" test -f .apsis/pause
press p
sees "resumed" '^resumed; no loop is running'
ok "and gone" test ! -e .apsis/pause
press d
press -l 'look at the second number'
press Enter
sees "noted" '^noted; the next prompts carry it'
like "as direct shows it" "$("$APSIS" direct --list)" 'look at the second number'
press '?'
sees "the keys" '^  Enter +open a candidate'
end_item

item "leaving: the terminal is as it was"
press q q
sees "the exit" '^exit 0$'
sees "lines" '^ icanon$'
sees "echo" '^ echo $|^ echo$'
open 80 24 "'$APSIS' watch"
sees "again" '^\[1 now\]'
press C-c
sees "Ctrl-C leaves" '^exit 0$'
open 80 24 "'$APSIS' watch & sleep 0.7; kill %1; wait %1; stty -a | grep -o '.icanon'"
sees "a signal leaves as well" '^exit 130$|^ icanon$'
end_item

item "a run that goes on: new experiments appear, with what is in flight"
sed -i "s|^  local number = |  while require 'apsis.fs'.stat '$T/hold' do require 'apsis.wait'.sleep(0.05) end\n&|" mutate.lua
touch "$T/hold"
open 120 40 "'$APSIS' watch"
sees "5 before" '^done +5 experiments'
"$APSIS" run -q --iterations 4 >/dev/null 2>&1 &
run=$!
sees "running" ' running$'
sees "in flight" '^ +6 +proposing'
rm "$T/hold"
wait $run
sees "9 after it" '^done +9 experiments'
sees "and it is over" ' finished$'
end_item

item "ASCII and no colour where the terminal is asked for that"
open 80 24 "LC_ALL=C NO_COLOR=1 '$APSIS' watch"
sees "the curve" '^ +[0-9.]+ \*'
is "no braille" "$(screen | grep -c '[⡇⠉⣀⠤⠒]')" 0
is "no colour" "$(screen -e | grep -c "$(printf '\033')\[[0-9;]*3[1-6]m")" 0
open 80 24 "'$APSIS' watch"
sees "with" '^\[1 now\]'
ok "colour elsewhere" test "$(screen -e | grep -c "$(printf '\033')\[[0-9;]*3[1-6]m")" -gt 0
end_item

item "not a terminal, or too small a one: what to do instead"
apsis watch
is "code" "$code" 2
like "why" "$err" 'not a terminal: `apsis watch --plain` prints lines, `apsis status` the state once'
out=$(script -qec "stty cols 80 rows 24; TERM=dumb '$APSIS' watch" /dev/null | tr -d '\r')
like "dumb" "$out" 'TERM=dumb\): `apsis watch --plain`'
out=$(script -qec "stty cols 20 rows 24; '$APSIS' watch" /dev/null | tr -d '\r')
like "narrow" "$out" 'has 20 columns and 24 rows'
apsis watch "$T"
is "no project" "$code" 2
end_item

item "the figures are those of status, log and report"
best=$("$APSIS" status | sed -n 's/^best: *//p')
apsis watch --plain
is "code" "$code" 0
plain=$out
line "the best" "$plain" "^best: $(printf '%s' "$best" | sed 's/[][().*+]/\\&/g')$"
apsis status --json
like "experiments" "$plain" "done: $(json experiments) experiments: "
kept=$(json outcomes.kept)
like "kept" "$plain" "kept $kept"
value=$(json best.value) id=$(json best.candidate) baseline=$(json baseline.value) experiments=$(json experiments)
apsis report --json
is "report's best" "$(json best.id) $(json best.value)" "$id $value"
is "its baseline" "$(json baseline.value)" "$baseline"
is "its experiments and kept ones" "$(json experiments) $(json kept)" "$experiments $kept"
apsis log --json
is "log's lines" "$(printf '%s\n' "$out" | grep -c '"outcome":"kept"') $(printf '%s\n' "$out" | grep -vc '"outcome":"baseline"')" \
    "$kept $experiments"
end_item

item "a change of what measures is shown; nothing is written, and where the journal breaks it ends with the message"
snapshot() { find . -name .git -prune -o -type f -print0 | sort -z | xargs -0 sha256sum; git for-each-ref; }
cp evaluate.lua "$T/evaluate.lua"
echo '-- another one' >>evaluate.lua
commit changed
snapshot >"$T/before"
apsis watch --plain
line "shown" "$out" '^trust, evaluator, doubtful: evaluate.lua: not what it was at the baseline'
is "nothing is written" "$(snapshot | diff "$T/before" -)" ""
cp "$T/evaluate.lua" evaluate.lua && commit back
apsis watch --plain
no_line "shown no more" "$out" 'evaluator'
open 80 24 "'$APSIS' watch"
sees "the screen" '^\[1 now\]'
cp logs/results.jsonl "$T/journal"
echo '{broken' >>logs/results.jsonl
sees "the file, the line and the remedy" 'logs/results.jsonl:11: '
sees "the exit" '^exit 3$'
cp "$T/journal" logs/results.jsonl
end_item

item "wide characters: no row is wider than the terminal, and the one below is where it was"
cp -r "$T/p" "$T/wide" && cd "$T/wide" && rm -f .apsis/fold
sed -i 's/"\(hypothesis\|description\)":"/&\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xf0\x9f\x9a\x80\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe6\x97\xa5\xe6\x9c\xac/' logs/results.jsonl
open 60 12 "'$APSIS' watch"
sees "now" '^\[1 now\]'
press 2
sees "cut where the row ends" '^> c0009 .*~$'
is "no row is wider" "$(screen | wc -L)" 60
is "rows that are too long end in ~, the keys as well" "$(screen | grep -c '~$')" 10
end_item

item "several metrics: the noise is known, and a short screen shows that members of the front are hidden"
new_project front
sed -i 's/^metric:.*/metric: {pareto: [{name: a, direction: higher}, {name: b, direction: lower}]}/' manifest.yaml
echo '0 0' >value.txt
echo 'read a b <value.txt; echo "METRIC a=$a"; echo "METRIC b=$b"' >evaluate.sh
echo 'return function(p) local n = p.experiment return { ["value.txt"] = n .. " " .. n * n .. "\n" } end' >propose.lua
commit several
"$APSIS" baseline >/dev/null && "$APSIS" run -q --iterations 12 >/dev/null
apsis watch --plain
line "the noise" "$out" '^trust, noise: none in 5 equal measurements$'
open 80 24 "'$APSIS' watch"
sees "how many are hidden" '^  \.\.\. +5 more rows, which `apsis status` shows$'
sees "the curve has its place" '^── 12 experiments, best so far'
open 80 40 "'$APSIS' watch"
sees "all where there is room" '^  \.\.\. +5 more: apsis best$'
sed -i 's/"noise":{"a":0,/"noise":{"a":0.5,/' logs/results.jsonl && rm -f .apsis/fold
apsis watch --plain
line "noisy" "$out" '^trust, noise, doubtful: a sd 0.5, b sd 0; one measurement decides, so luck may join the front$'
end_item

item "into a pipe that nobody reads, it ends as other commands do"
cd "$T/p"
# A pipe whose reader is gone already: one that goes while watch starts may go too late for it to notice.
mkfifo "$T/pipe"
true <"$T/pipe" &
exec 9>"$T/pipe"
wait $!
"$APSIS" watch --plain >&9 2>"$T/err"
is "the exit" "$? $(cat "$T/err")" "141 "
touch "$T/hold"
"$APSIS" run -q --iterations 3 >/dev/null 2>&1 9>&- &
run=$!
wait_for "the run" sh -c "'$APSIS' status | grep -q '^loop: *running'"
timeout 60 "$APSIS" watch --plain >&9 2>"$T/err"
is "beside a run as well, without waiting for its end" "$? $(kill -0 $run && echo runs)" "141 runs"
exec 9>&-
rm "$T/hold"
wait $run
end_item

item "what a repository brings along does not control the terminal"
cp -r "$T/p" "$T/brought" && cd "$T/brought" && rm -f .apsis/fold
bad='\\u001b]0;PWNED\\u0007\\u009b31mRED\\u202eREVERSED'
sed -i "s/\"\(operator\|strategy\|hypothesis\|description\|rollback_reason\)\":\"/&$bad/g" logs/results.jsonl
sed -i "s/\"\(status\|reason\)\":\"/&$bad/g" logs/state.json
for run in runs/*; do printf '\033]0;PWNED\007\302\23331mRED\342\200\256R\n' >>"$run/verifier.log"; done
open 80 24 "script -qf -c \"'$APSIS' watch\" $T/typescript"
sees "now" '^\[1 now\]'
press 2
sees "journal" 'PWNED'
press Enter
sees "candidate" '^candidate:'
press End
sleep 0.3
press Tab Tab
sees "log" 'PWNED'
press 3
sees "path" 'where it starts'
press q
sees "left" '^exit'
unlike "neither a title, nor C1, nor a mark of direction" "$(tr -d '\0' <"$T/typescript")" \
    "$(printf '\033')]|$(printf '\007')|$(printf '\302\233')|$(printf '\342\200\256')"
apsis watch --plain
like "plain has it as text" "$out" 'PWNED'
unlike "and no sequence" "$out" "$(printf '\033')|$(printf '\302\233')|$(printf '\342\200\256')"
end_item

finish
