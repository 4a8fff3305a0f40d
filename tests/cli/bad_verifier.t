#!/bin/bash
# bad_verifier: what a verification that misbehaves gets: the right outcome in bounded time and memory, nothing of it
# left running, and a next experiment that is measured as if nothing had been.
. tests/cli/lib.sh || exit 1

MARK=32$$ # seconds that only this test sleeps

# misbehaves NAME OUTCOME REASON: in a new project whose evaluator (read from stdin) does so for experiment 1 only,
# experiment 1 has OUTCOME and its reason matches REASON; experiment 2 is kept with the value 2. The item stays open for
# more checks.
misbehaves() {
    item "verifier $1"
    new_project "v$count"
    {
        echo 'if [ "$APSIS_EXPERIMENT" != 1 ]; then echo "METRIC score=$(cat value.txt)"; exit 0; fi'
        cat
    } >evaluate.sh
    git commit -qam evaluator
    apsis baseline
    is "baseline" "$code" 0
    capture /usr/bin/time -f 'rss %M' "$APSIS" run --quiet --iterations 2
    rss=$(sed -n 's/^rss //p' "$T/.err")
    is "run's exit code" "$code" 0
    is "outcome" "$(field 1 outcome)" "$2"
    like "reason" "$(field 1 rollback_reason)" "$3"
    is "the next experiment" "$(field 2 outcome)" kept
    is "the next value" "$(field 2 primary_metric)" 2
    is "the user's tree" "$(git status --porcelain)" ""
    is "the branch has the best tree" "$(git show apsis/tiny:value.txt)" 2
    ok "peak memory ($rss kB) at most 32 MB" test "$rss" -le $((32 * MB))
    ok "nothing of it is left running" gone "sleep $MARK"
    is "nothing is left in scratch folders" "$(find "$XDG_CACHE_HOME" -path "*/scratch-*" ! -type d)" ""
}
MEASURE='[bash, evaluate.sh]'

misbehaves "crashes" skipped_verification_crash "measure: exit 4: the last words" <<'END'
echo "METRIC score=1000"
echo "the last words" >&2
exit 4
END
is "status" "$(field 1 status)" crash
is "no value" "$(field 1 primary_metric)" null
ok "and no samples, as a list" grep -q '"samples": \[\]' runs/0001/metrics.json
ok "its commit is kept by its ref" git rev-parse -q --verify refs/apsis/tiny/c0001
end_item

misbehaves "is killed by a signal" skipped_verification_crash "$(died "killed by SIGABRT" 6)" <<'END'
echo "METRIC score=1000"
kill -ABRT $$
END
end_item

misbehaves "is killed by SIGKILL" skipped_verification_crash "$(died "killed by SIGKILL" 9)" <<'END'
echo "METRIC score=1000"
kill -KILL $$
END
end_item

misbehaves "kills everything it may signal" skipped_verification_crash "." <<'END'
echo "METRIC score=1000"
kill -KILL -1
kill -KILL $$
END
end_item

LIMIT_SEC=0.5 misbehaves "hangs" skipped_verification_crash "over its limit of 0.5 s" <<END
echo "METRIC score=1000"
sleep $MARK
END
end_item

LIMIT_SEC=0.5 misbehaves "hangs ignoring SIGTERM" skipped_verification_crash "over its limit of 0.5 s" <<END
trap '' TERM INT HUP
while :; do sleep $MARK; done
END
end_item

LIMIT_SEC=0.5 misbehaves "hangs stopped" skipped_verification_crash "over its limit of 0.5 s" <<END
kill -STOP \$\$
END
end_item

misbehaves "leaves daemons" kept . <<END
sleep $MARK >/dev/null 2>&1 &
setsid sleep $MARK >/dev/null 2>&1 &
(setsid bash -c 'sleep $MARK & sleep $MARK' >/dev/null 2>&1 &)
(trap '' TERM HUP; setsid bash -c 'trap "" TERM; while :; do sleep $MARK; done' >/dev/null 2>&1 &)
sleep 0.1
echo METRIC score=1
END
is "value" "$(field 1 primary_metric)" 1
end_item

misbehaves "leaves daemons that hold its output open" kept . <<END
setsid sleep $MARK &
(sleep $MARK &)
echo METRIC score=1
END
end_item

LIMIT_SEC=0.5 misbehaves "hangs with daemons" skipped_verification_crash "over its limit" <<END
(setsid sleep $MARK >/dev/null 2>&1 &)
setsid sleep $MARK
END
end_item

misbehaves "forks without end until it is over its limit" skipped_verification_crash "." <<END
for i in {1..300}; do (setsid sleep $MARK >/dev/null 2>&1 &); done
exit 1
END
end_item

misbehaves "closes stdout" skipped_verification_crash "no METRIC score=NUMBER" <<END
exec >&-
sleep 0.2
END
end_item

misbehaves "closes stdout after its metric and goes on" kept . <<END
echo METRIC score=1
exec >&- 2>&-
sleep 0.2
touch "\$APSIS_ARTIFACTS/after"
END
is "value" "$(field 1 primary_metric)" 1
ok "it was waited for" test -f runs/0001/artifacts/after
end_item

misbehaves "prints non-UTF-8" kept . <<'END'
printf '\377\376\300\200 METRIC score=9\n'
printf 'METRIC score=1\n'
printf '\0\0\0binary\0\n\355\240\200\n'
END
is "value" "$(field 1 primary_metric)" 1
ok "the journal is UTF-8" iconv -f UTF-8 -t UTF-8 logs/results.jsonl
end_item

misbehaves "crashes with last words that are not UTF-8" skipped_verification_crash "exit 1" <<'END'
printf 'broken \377\376\n' >&2
exit 1
END
ok "the journal is UTF-8" iconv -f UTF-8 -t UTF-8 logs/results.jsonl
end_item

misbehaves "prints NaN" skipped_verification_crash "no METRIC score=NUMBER.*(nan|NaN)" <<'END'
echo METRIC score=nan
END
is "no value" "$(field 1 primary_metric)" null
end_item

misbehaves "prints an infinite value" skipped_verification_crash "no METRIC score=NUMBER" <<'END'
echo METRIC score=1e999
echo METRIC score=inf
END
end_item

# What the user would have lost: a run that diverged is kept with the value it had before.
misbehaves "prints a value and then nan" skipped_verification_crash "the last line METRIC score .measure, line 2. is not finite" <<'END'
echo METRIC score=9
echo METRIC score=nan
END
is "no value" "$(field 1 primary_metric)" null
end_item

misbehaves "prints a value and then what Windows prints for nan" skipped_verification_crash "line 2. is not finite" <<'END'
echo METRIC score=9
echo 'METRIC score=-nan(ind)'
END
end_item

misbehaves "prints a value and then None" skipped_verification_crash "line 2. is not finite" <<'END'
echo METRIC score=9
echo METRIC score=None
END
end_item

misbehaves "prints a value, then one that is too large" skipped_verification_crash "is not finite" <<'END'
printf 'METRIC score=9\nMETRIC score=1e400\n'
END
end_item

misbehaves "prints no metric" skipped_verification_crash "no METRIC score=NUMBER in the output" <<'END'
echo all is well
END
is "status" "$(field 1 status)" crash
end_item

misbehaves "prints a metric of another name" skipped_verification_crash "no METRIC score=NUMBER" <<'END'
echo METRIC scroe=5
END
end_item

misbehaves "prints a near miss of its metric: said with line and reason" skipped_verification_crash 'near miss at line 2.*Metric: score=5' <<'END'
echo first
echo 'Metric: score=5'
END
like "said on the terminal" "$err" "line 2"
end_item

misbehaves "prints its metric on stderr only" skipped_verification_crash "no METRIC score=NUMBER" <<'END'
echo METRIC score=1 >&2
END
end_item

misbehaves "prints one line without end" kept . <<'END'
head -c 50000000 /dev/zero | tr '\0' x
echo
echo METRIC score=1
END
end_item

misbehaves "edits the candidate while it runs: what is judged is what was committed" skipped_verification_crash \
    "changed committed files \(value\.txt\)" <<'END'
echo 1000 >value.txt
echo "METRIC score=$(cat value.txt)"
END
is "the commit is what the provider made" "$(git show refs/apsis/tiny/c0001:value.txt)" 1
end_item

misbehaves "edits the candidate and sets its time back" skipped_verification_crash "changed committed files \(value\.txt\)" <<'END'
touch -r value.txt "$APSIS_RUN_DIR/time"
echo 9 >value.txt
touch -r "$APSIS_RUN_DIR/time" value.txt
echo "METRIC score=$(cat value.txt)"
END
end_item

misbehaves "deletes the candidate's files" skipped_verification_crash "changed committed files" <<'END'
rm value.txt propose.lua
echo "METRIC score=1"
END
end_item

misbehaves "edits its own evaluator for the next candidate" skipped_verification_crash "changed committed files \(evaluate\.sh\)" <<'END'
echo 'echo METRIC score=1000' >evaluate.sh
echo "METRIC score=1"
END
end_item

# What a sandbox keeps from happening is tried without one as well. Where Landlock alone keeps it in, what is allowed is so as a
# whole: not the folder that all of this test is in.
EXTRA='sandbox: {allow: []}'
misbehaves "deletes its workspace, whose folder stays" skipped_verification_crash "measure: exit 1: rm: cannot remove" <<'END'
echo "METRIC score=1"
rm -rf "$PWD"
END
end_item

misbehaves "empties its workspace" skipped_verification_crash "changed committed files" <<'END'
echo "METRIC score=1"
rm -rf "$PWD" || true
END
end_item

EXTRA='sandbox: off'
misbehaves "deletes its workspace, without a sandbox" skipped_verification_crash "changed committed files" <<'END'
echo "METRIC score=1"
rm -rf "$PWD"
END
end_item
EXTRA=

misbehaves "leaves files behind: the next verification does not see them" kept . <<'END'
echo 'echo METRIC score=1000' >left.sh
mkdir -p deep/er && touch deep/er/file && mkfifo pipe && ln -s / root
chmod 000 deep
echo "METRIC score=1"
END
is "left over in workspaces" "$(find "$XDG_CACHE_HOME" -path '*/verify-*' \( -name left.sh -o -name deep -o -name pipe -o -name root \))" ""
end_item

misbehaves "makes the workspace a git repository" kept . <<'END'
git init -q . && git add -A && git -c user.name=a -c user.email=a@a commit -qm x
echo "METRIC score=1"
END
end_item

misbehaves "empties its scratch folder" kept . <<'END'
echo "METRIC score=1"
rm -rf "$APSIS_RUN_DIR"/*
END
end_item

EXTRA='sandbox: {allow: []}'
misbehaves "deletes its scratch folder, which stays" skipped_verification_crash "measure: exit 1: rm: cannot remove" <<'END'
echo "METRIC score=1"
rm -rf "$APSIS_RUN_DIR"
END
end_item

EXTRA='sandbox: off'
misbehaves "deletes its scratch folder, without a sandbox" kept . <<'END'
echo "METRIC score=1"
rm -rf "$APSIS_RUN_DIR"
END
end_item
EXTRA=

misbehaves "puts a link where its artifacts are collected" kept . <<'END'
rm -rf "$APSIS_ARTIFACTS"; ln -s /etc "$APSIS_ARTIFACTS"
ln -s /etc/passwd "$APSIS_RUN_DIR/note"
echo "METRIC score=1"
END
ok "nothing of /etc is copied" test ! -e runs/0001/artifacts/passwd
ok "no copy of what the link leads to" test ! -f runs/0001/note -o -L runs/0001/note
end_item

misbehaves "uses APSIS_METRICS, and the candidate prints METRIC lines itself: the file wins" kept . <<'END'
echo METRIC score=1000
echo METRIC score=1 >"$APSIS_METRICS"
END
is "value" "$(field 1 primary_metric)" 1
end_item

# 10 GB where APSIS_TEST_FULL is set, else 300 MB: bounded memory and a bounded log.
if [ -n "${APSIS_TEST_FULL-}" ]; then BYTES=10000000000 LIMIT_SEC=300 LIMIT=400; else BYTES=300000000 LIMIT_SEC=30; fi
[ -z "${APSIS_SANITIZED:-}" ] || BYTES=30000000
item "verifier prints $BYTES bytes: bounded memory and log, the metric at the end counts"
EXTRA='' new_project prints
sed -i 's/^verification:/&\n  log_limit_mb: 2/' manifest.yaml
{
    echo 'if [ "$APSIS_EXPERIMENT" = 1 ]; then yes "METRICAL line of output" | head -c '$BYTES'; echo; fi'
    echo 'echo "METRIC score=$(cat value.txt)"'
} >evaluate.sh
git commit -qam evaluator
apsis baseline
capture /usr/bin/time -f 'rss %M' "$APSIS" run --quiet --iterations 2
rss=$(sed -n 's/^rss //p' "$T/.err")
is "run" "$code" 0
is "outcome 1" "$(field 1 outcome)" kept
is "outcome 2" "$(field 2 outcome)" kept
ok "peak memory ($rss kB) at most 32 MB" test "$rss" -le $((32 * MB))
ok "verifier.log is bounded" test "$(stat -c %s runs/0001/verifier.log)" -lt 3000000
like "what was left out is said in it" "$(grep -a 'apsis:' runs/0001/verifier.log)" "bytes left out"
end_item
LIMIT_SEC=10 LIMIT=300

item "verifier prints METRIC lines without end: bounded memory"
new_project many
{
    echo 'if [ "$APSIS_EXPERIMENT" = 1 ]; then awk '\''BEGIN { for (i = 0; i < 3000000; i++) print "METRIC m" i "=" i }'\''; fi'
    echo 'echo "METRIC score=$(cat value.txt)"'
} >evaluate.sh
git commit -qam evaluator
apsis baseline
capture /usr/bin/time -f 'rss %M' "$APSIS" run --quiet --iterations 2
rss=$(sed -n 's/^rss //p' "$T/.err")
is "run" "$code" 0
is "outcome 2" "$(field 2 outcome)" kept
ok "peak memory ($rss kB) at most 64 MB" test "$rss" -le $((64 * MB))
end_item

item "verifier crashes at the baseline: exit 5 with the reason, a line in the journal, and it may be repeated"
new_project at-baseline
echo 'echo "no compiler" >&2; exit 2' >evaluate.sh
git commit -qam broken
apsis baseline
is "exit code" "$code" 5
like "reason" "$err" "no compiler"
is "outcome" "$(field 0 outcome)" baseline
is "no value" "$(field 0 primary_metric)" null
apsis run
is "run" "$code" 3
like "remedy" "$err" "apsis baseline"
echo 'echo "METRIC score=$(cat value.txt)"' >evaluate.sh
git commit -qam mended
apsis baseline
is "the second baseline" "$code" 0
apsis run --iterations 1
is "a run on it" "$code" 0
is "lines" "$(lines)" 3
end_item

item "verifier's command does not exist: exit 5 naming it"
MEASURE='[no-such-program]' new_project nowhere
apsis baseline
is "exit code" "$code" 5
like "name" "$err" "no-such-program"
end_item

item "check fails: nothing is measured, crash"
EXTRA='' new_project gate
sed -i 's/^verification:/&\n  checks: [{name: valid, run: "test $(cat value.txt) != 1"}]/' manifest.yaml
apsis baseline
apsis run --iterations 2
is "run" "$code" 0
is "outcome" "$(field 1 outcome)" skipped_verification_crash
like "reason" "$(field 1 rollback_reason)" "check valid"
is "the next" "$(field 2 outcome)" kept
end_item

# A program as pytest is: before it says its version, it runs what it finds in the folder it is started in.
item "a command's version, for env.json, is asked in the cage and away from the project's files"
mkdir "$T/bin"
printf '%s\n' '#!/bin/sh' "set >>$T/seen" '[ "$1" = --version ] || exec sh evaluate.sh' '[ ! -f conftest.sh ] || . ./conftest.sh' \
    'echo tester 1.2' >"$T/bin/tester"
chmod +x "$T/bin/tester"
MEASURE='[tester]' new_project version
echo "echo ran >>$T/ran" >conftest.sh
git add -A && git commit -qm "what an agent wrote"
PATH="$T/bin:$PATH" MY_TOKEN=key-of-the-user apsis baseline
is "baseline" "$code" 0
like "it is recorded" "$(cat runs/0000_baseline/env.json)" '"tester": "tester 1.2"'
ok "what the project has is not run" test ! -e "$T/ran"
unlike "and it sees no keys" "$(cat "$T/seen")" "key-of-the-user"
end_item

item "python reads an evaluator without modules of the folder that import is started in"
mkdir "$T/stranger" "$T/evaluators" && cd "$T/stranger"
echo "open('$T/ran-import', 'w')" >argparse.py
printf 'def evaluate(path):\n    return {"combined_score": 1.0}\n' >"$T/evaluators/evaluator.py"
echo '# EVOLVE-BLOCK-START' >"$T/evaluators/initial_program.py"
apsis import openevolve "$T/evaluators" --into "$T/imported"
is "import" "$code" 0
ok "its argparse.py is not run" test ! -e "$T/ran-import"
end_item

finish
