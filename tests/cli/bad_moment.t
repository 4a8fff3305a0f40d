#!/bin/bash
# bad_moment: two runs at once, kill -9 at chosen moments, Ctrl-C once and twice, and the other signals. No finished
# experiment is lost, no number is used twice, no process stays, and the branch has the best candidate's tree.
. tests/cli/lib.sh || exit 1

MARK=33$$ # seconds that only this test sleeps

# until_true COMMAND...: waits for it, at most two minutes.
until_true() {
    local i
    for i in {1..6000}; do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.02
    done
    return 1
}

# starts ARGUMENTS...: apsis in the background: $pid. Its own session, so that a signal reaches nothing else.
starts() {
    setsid "$APSIS" "$@" >"$T/bg.out" 2>"$T/bg.err" </dev/null &
    pid=$!
}

ends() { # the background apsis has ended: $code
    ( sleep 300; kill -9 "$pid" 2>/dev/null ) >/dev/null 2>&1 &
    local guard=$!
    { wait "$pid"; code=$?; } 2>/dev/null
    pkill -P "$guard" 2>/dev/null
    kill "$guard" 2>/dev/null
    wait "$guard" 2>/dev/null
    out=$(cat "$T/bg.out") err=$(cat "$T/bg.err")
}

more_lines_than() { test "$(lines)" -gt "$1"; }
lines_are() { test "$(lines)" = "$1"; }

phase_is() { grep -q "\"phase\":\"$1\"" logs/state.json; }

# whole N: the journal has the experiments 0 to N once each, and the branch the best one's tree.
whole() {
    is "numbers" "$(grep -o '"experiment":[0-9]*,"hypo' logs/results.jsonl | tr -dc '0-9\n' | tr '\n' ' ')" "$(seq -s ' ' 0 "$1") "
    apsis best --json
    local best
    best=$(printf '%s' "$out" | grep -o 'c[0-9][0-9][0-9][0-9]' | head -1)
    is "the branch's tree" "$(git rev-parse 'apsis/tiny^{tree}')" "$(git rev-parse "refs/apsis/tiny/$best^{tree}")"
    ok "git fsck" git fsck --strict
    is "the user's tree" "$(git status --porcelain)" ""
    ok "no process" gone "sleep $MARK"
}

# A project whose verifier waits in experiment 2, until $T/go exists.
waits_in_verifier() {
    new_project "$1"
    {
        echo 'echo "METRIC score=$(cat value.txt)"'
        echo "if [ \"\$APSIS_EXPERIMENT\" = 2 ] && [ ! -e $T/go ]; then setsid sleep $MARK & sleep $MARK; fi"
    } >evaluate.sh
    git commit -qam evaluator
    rm -f "$T/go"
    apsis baseline
    is "baseline" "$code" 0
}

waits_in_provider() {
    agent <<END
echo "\$APSIS_EXPERIMENT" >value.txt
if [ "\$APSIS_EXPERIMENT" = 2 ] && [ ! -e $T/go ]; then setsid sleep $MARK & sleep $MARK; fi
END
    new_project "$1"
    unset PROVIDER
    rm -f "$T/go"
    apsis baseline
    is "baseline" "$code" 0
}

LIMIT_SEC=30

item "two runs of one project at once: the second exits 3 and names the holder's pid; the first goes on"
waits_in_verifier two
starts run --iterations 3
until_true lines_are 2
until_true pgrep -f "sleep $MARK"
for command in "run --iterations 1" "baseline --again" step; do
    apsis $command
    is "$command" "$code" 3
    like "pid" "$err" "(^|[^0-9])$pid([^0-9]|$)"
done
apsis status
is "status works meanwhile" "$code" 0
touch "$T/go"
pkill -f "sleep $MARK" # the verifier of experiment 2 goes on
ends
is "the first" "$code" 0
whole 3
end_item

item "two runs at once, the second by another path (a symlink): also exit 3"
waits_in_verifier linked
ln -s "$T/linked" "$T/alias"
starts run --iterations 2
until_true pgrep -f "sleep $MARK"
apsis run "$T/alias" --iterations 1
is "exit code" "$code" 3
touch "$T/go"
pkill -f "sleep $MARK"
ends
is "the first" "$code" 0
end_item

item "a lock that a killed run left holds nothing"
new_project left
apsis baseline
echo 999999 >.apsis/lock
apsis run --iterations 1
is "run" "$code" 0
end_item

# killed NAME WAITS PHASE WORKERS: kill -9 while experiment 2 is in that phase; resumed, all is there.
killed() {
    item "kill -9 $1: resume loses nothing, repeats no number, leaves no process"
    $2 "k$count"
    starts run --iterations 4 --workers "$4"
    until_true pgrep -f "sleep $MARK"
    until_true phase_is "$3"
    kill -9 "$pid"
    ends
    until_true gone "sleep $MARK"
    ok "nothing of it lives on" gone "sleep $MARK"
    before=$(cat logs/results.jsonl)
    touch "$T/go"
    apsis run
    is "resume" "$code" 0
    like "said" "$err" "continuing run"
    is "what was journalled stays" "$(head -n "$(printf '%s\n' "$before" | wc -l)" logs/results.jsonl)" "$before"
    if [ "$4" = 1 ]; then whole 4; else is "lines" "$(lines)" 5; fi
    end_item
}
killed "while the verifier runs" waits_in_verifier VERIFY 1
killed "while the provider runs" waits_in_provider APPLY_CHANGE 1
killed "while the verifier runs, two workers" waits_in_verifier VERIFY 2

item "kill -9 twice with an experiment in flight: status says what is left, and what is done again"
waits_in_verifier ktwice
for asked in 3 2; do
    starts run --iterations "$asked"
    until_true pgrep -f "sleep $MARK"
    until_true phase_is VERIFY
    kill -9 "$pid"
    ends
    until_true gone "sleep $MARK"
done
apsis status
line "status" "$out" '^budget: +0 of 2 iterations since run 1 went on \(2 left, and 1 to be done again\), 1 in all$'
touch "$T/go"
apsis run -q
is "experiments" "$(lines)" 5
end_item

item "kill -9 during the baseline: the baseline is measured again"
new_project kbase
{ echo 'echo "METRIC score=$(cat value.txt)"'; echo "[ -e $T/go ] || sleep $MARK"; } >evaluate.sh
git commit -qam evaluator
rm -f "$T/go"
starts baseline
until_true pgrep -f "sleep $MARK"
kill -9 "$pid"
ends
until_true gone "sleep $MARK"
is "no line" "$(lines)" 0
touch "$T/go"
apsis baseline
is "baseline" "$code" 0
apsis run --iterations 1
is "run" "$code" 0
whole 1
end_item

# killed_at NAME SYSCALL N: kill -9 by strace at the N-th call, in a run of three; gone on with, all is there.
killed_at() {
    item "kill -9 at $1 number $3: resume loses nothing"
    new_project "c$count"
    apsis baseline
    {
        "${TRACED[@]}" -o /dev/null -e trace="$2" -e inject="$2":signal=KILL:when="$3" "$APSIS" run --quiet --iterations 3 \
            >/dev/null 2>&1 </dev/null
        was_killed=$?
    } 2>/dev/null
    is "it was killed" "$was_killed" 137
    before=$(lines)
    apsis run --iterations $((4 - before)) # besides what is done again
    is "resume" "$code" 0
    ok "nothing lost" test "$(lines)" -ge "$before"
    again=$(sed -n 's/.*; \([0-9]*\) experiments\{0,1\} that w[a-z]* in flight starts\{0,1\} again.*/\1/p' <<<"$err")
    whole $((3 + ${again:-0}))
    budget=$("$APSIS" status --json)
    is "the limit covers what was done" "$("$APSIS" exec "$ROOT/tests/cli/json.lua" budget.iterations.limit <<<"$budget")" \
        "$("$APSIS" exec "$ROOT/tests/cli/json.lua" budget.iterations.spent <<<"$budget")"
    end_item
}
for when in 1 2 3 5 8; do killed_at "fsync" fsync,fdatasync $when; done
for when in 1 4 9; do killed_at "rename" rename,renameat,renameat2,link $when; done
for when in 10 40; do killed_at "write" write,pwrite64 $when; done

# interrupted NAME WAITS SIGNAL: once: exit 130 with the state saved and nothing left; resumed, all is there.
interrupted() {
    item "$1"
    $2 "i$count"
    starts run --iterations 3
    until_true pgrep -f "sleep $MARK"
    kill -"$3" "$pid"
    ends
    is "exit code" "$code" 130
    ok "nothing of it lives on" gone "sleep $MARK"
    like "the state is saved" "$(cat logs/state.json)" '"status":"interrupted"'
    is "what was finished is journalled" "$(field 1 outcome)" kept
    touch "$T/go"
    apsis run
    is "resume" "$code" 0
    whole 3
    end_item
}
interrupted "Ctrl-C once while the verifier runs: exit 130, saved, resumable" waits_in_verifier INT
interrupted "Ctrl-C once while the provider runs: exit 130, saved, resumable" waits_in_provider INT
interrupted "SIGTERM is as Ctrl-C" waits_in_verifier TERM
interrupted "SIGHUP is as Ctrl-C" waits_in_verifier HUP

item "Ctrl-C to the whole foreground group, as a terminal does"
waits_in_verifier group
starts run --iterations 3
until_true pgrep -f "sleep $MARK"
kill -INT -- "-$pid"
ends
is "exit code" "$code" 130
ok "nothing of it lives on" gone "sleep $MARK"
touch "$T/go"
apsis run
is "resume" "$code" 0
whole 3
end_item

item "Ctrl-C twice: at once, still resumable"
new_project twice
{
    echo 'echo "METRIC score=$(cat value.txt)"'
    echo "if [ \"\$APSIS_EXPERIMENT\" = 2 ] && [ ! -e $T/go ]; then trap '' TERM INT; sleep $MARK; sleep $MARK; fi"
} >evaluate.sh
git commit -qam evaluator
rm -f "$T/go"
apsis baseline
starts run --iterations 3
until_true pgrep -f "sleep $MARK"
kill -INT "$pid"
kill -INT "$pid" 2>/dev/null
ends
like "exit code" "$code" "^130$"
until_true gone "sleep $MARK"
ok "nothing of it lives on" gone "sleep $MARK"
touch "$T/go"
apsis run
is "resume" "$code" 0
whole 3
end_item

item "Ctrl-C twice ends a run that a provider in Lua holds in code which nothing can stop"
PROVIDER='provider: {kind: lua, use: endless.lua}'
new_project endless
cat >endless.lua <<'END'
return function()
  setmetatable({}, { __gc = function() io.open("in-finalizer", "w"):close() while true do end end })
  while true do collectgarbage() end
end
END
git add -A && git commit -qm endless
apsis baseline
starts run --iterations 3
until_true test -e in-finalizer
kill -INT "$pid"
sleep 0.2
kill -INT "$pid" 2>/dev/null
ends
like "exit code" "$code" "^130$"
PROVIDER='provider: {kind: lua, use: propose.lua}'
sed -i s/endless.lua/propose.lua/ manifest.yaml && git add -A && git commit -qm "one that ends"
apsis run --iterations 2
is "resume" "$code" 0
end_item

item "Ctrl-C during the baseline: exit 130, and it may be measured again"
waits_in_verifier base
sed -i 's/= 2 /= 0 /' evaluate.sh && git commit -qam base && rm -rf logs runs
git for-each-ref --format='delete %(refname)' refs/apsis | git update-ref --stdin
starts baseline
until_true pgrep -f "sleep $MARK"
kill -INT "$pid"
ends
is "exit code" "$code" 130
ok "nothing of it lives on" gone "sleep $MARK"
touch "$T/go"
apsis baseline
is "again" "$code" 0
end_item

# What the user would have lost: the lines written after an editor, rsync, `sed -i` or `git clean` replaced or removed the
# file (21 of 31, exit 0), and then the candidates under the numbers that were given again.
item "the journal is replaced, removed or changed while a run goes on: it stops, what it held is kept, no ref is given again"
agent <<'END'
sleep 0.2
echo "$APSIS_EXPERIMENT" >value.txt
END
new_project others && apsis baseline
for way in 'cp logs/results.jsonl new; mv new logs/results.jsonl' 'sed -i s/kept/kept/ logs/results.jsonl' \
    'mv logs/results.jsonl logs/old~; cp logs/old~ logs/results.jsonl' 'rm logs/results.jsonl' 'echo {} >>logs/results.jsonl' \
    'command rm -rf logs' 'mv logs "$T/$RANDOM"' 'git clean -qfdx'; do
    first=$(lines)
    starts run --iterations 50
    until_true more_lines_than "$((first + 1))"
    cp logs/results.jsonl "$T/before"
    eval "$way"
    ends
    is "$way: exit code" "$code" 3
    like "$way: message" "$err" "results.jsonl: another program has (replaced|removed|changed) it"
    [ -e logs/results.jsonl.kept ] && cp logs/results.jsonl.kept logs/results.jsonl
    ok "$way: nothing that was measured is lost" cmp -n "$(stat -c %s "$T/before")" "$T/before" logs/results.jsonl
    rm -f logs/results.jsonl.kept
    sed -i '/^{}$/d' logs/results.jsonl
done
apsis run --iterations 2
is "and the run goes on" "$code" 0
git for-each-ref --format='%(refname) %(objectname)' refs/apsis/tiny >"$T/refs"
head -n 2 logs/results.jsonl >"$T/few" && cp "$T/few" logs/results.jsonl && rm -rf runs
apsis run --iterations 1
is "with an old copy of the journal the run goes on" "$code" 0
is "and no candidate's ref is overwritten" "$(git for-each-ref --format='%(refname) %(objectname)' refs/apsis/tiny | comm -13 - "$T/refs")" ""
end_item

# What the user would have lost: the record of who planned what; `replay --check` exited with 5.
item "a proposal in flight belongs to the strategy that made it"
waits_in_verifier whose
starts run --strategy random_walk --iterations 3
until_true lines_are 2
until_true pgrep -f "sleep $MARK"
kill -INT "$pid"
ends
apsis run --iterations 1
is "the next run" "$code" 0
is "whose it was" "$(field 2 strategy) $(field 2 outcome)" "random_walk skipped_not_selected"
is "why" "$(field 2 rollback_reason)" "planned by random_walk, and this run's strategy is hillclimb"
is "the next one" "$(field 3 strategy)" hillclimb
for strategy in hillclimb random_walk; do
    apsis replay --check --strategy $strategy
    is "replay --check, $strategy" "$code" 0
done
end_item

# What the user would have lost: 17 numbers twice, and a project that is refused afterwards.
item "rm -rf .apsis under a run: a second run does not start"
waits_in_verifier removed
starts run --iterations 3
until_true lines_are 2
until_true pgrep -f "sleep $MARK"
rm -rf .apsis
apsis run --iterations 1
is "exit code" "$code" 3
like "message" "$err" "another apsis is running with the candidates of .* in this repository: held by"
touch "$T/go"
kill -INT "$pid"
ends
end_item

# What the user would have lost: the candidates of the first, overwritten by the second, and then git gc.
item "two working trees of one repository: the second is refused until it has a name of its own"
new_project first && apsis baseline && apsis run --iterations 2
git worktree add -q ../second
before=$(git for-each-ref refs/apsis)
cd ../second
apsis baseline
is "baseline" "$code" 3
like "message" "$err" "/first, which shares this repository's refs, has the candidates of .*: give one of the two another project.name"
apsis run
is "run" "$code" 3
is "the first one's candidates" "$(git for-each-ref refs/apsis)" "$before"
sed -i 's/^project:.*/project: {name: other}/' manifest.yaml
apsis baseline
is "with a name of its own" "$code" 0
cd .. && mv first moved && cd moved && git worktree repair >/dev/null 2>&1
apsis run --iterations 1
is "a project that was moved goes on" "$code" 0
cp -r . ../copied && cd ../copied
apsis run --iterations 1
is "and so does a copy" "$code" 0
end_item

# What the user would have lost: the journal became standard output, and every later command refused it.
item "started without standard input, output and error: the journal holds its lines only"
new_project closed && apsis baseline
"$APSIS" run --iterations 2 0<&- 1>&- 2>&-
is "exit code" $? 0
whole 2
apsis status
is "and it can be read" "$code" 0
end_item

item "its terminal's output goes away: the run goes on or ends with a clear code, never a broken journal"
new_project pipe
apsis baseline
{ timeout 300 "$APSIS" run --iterations 5; echo $? >"$T/pipe.code"; } 2>&1 | head -c 1 >/dev/null
apsis run --iterations 1
is "the next run" "$code" 0
is "the lines are whole" "$("$APSIS" log --json >/dev/null 2>&1; echo $?)" 0
end_item

# gone COMMAND: while the measuring command of COMMAND waits, the project's folder is moved away.
gone() {
    item "the project's folder is gone under $1: the message is that, whatever fails first"
    new_project "gone_${1%% *}"
    echo "touch '$T/gone.mark'; while [ -e '$T/gone.wait' ]; do sleep 0.05; done; echo METRIC score=\$(cat value.txt)" >evaluate.sh
    commit gone
    if [ "$1" != baseline ]; then apsis baseline; fi
    rm -f "$T/gone.mark"
    touch "$T/gone.wait"
    "$APSIS" $1 >"$T/gone.out" 2>"$T/gone.err" </dev/null &
    local pid=$! _
    for _ in $(seq 600); do [ -e "$T/gone.mark" ] && break; nap 0.05; done
    cd "$T" && mv "gone_${1%% *}" away
    rm -f "$T/gone.wait"
    wait $pid
    is "exit code" "$?" 3
    like "message" "$(cat "$T/gone.err")" "the project folder $T/gone_${1%% *} is gone"
    unlike "no other cause" "$(cat "$T/gone.err")" "ENOENT|traceback"
    rm -rf away "gone_${1%% *}"
    end_item
}
gone "run --iterations 3 -q"
gone baseline

finish
