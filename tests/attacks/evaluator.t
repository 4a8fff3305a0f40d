#!/bin/bash
# evaluator: attacks on what a candidate is measured by: the verifier's files, what it prints, what is read of it, what the next one sees.
. tests/attacks/lib.sh || exit 1

HACKED='echo "METRIC score=1000"'
export HACKED
won_over() { won "its own value was taken" value_is 1000; }
refused() {
    is "outcome" "$(outcome)" skipped_verification_crash
    like "why" "$(field 1 rollback_reason)" "verification changed committed files"
    won_over
}

attack overwrite "a candidate overwrites the evaluator while it runs"
candidate <<'END'
echo 'echo "METRIC score=1000"' >lib/check.sh
echo 'echo "METRIC score=1000"; exit 0' >evaluate.sh
END
refused
end_attack

attack overwrite-provider "a provider writes the evaluator, which its workspace does not have"
provider <<'END'
echo 'echo "METRIC score=1000"' >evaluate.sh
mkdir -p secret && echo 'echo METRIC score=1000' >secret/answer.txt
echo 1 >value.txt
END
is "outcome" "$(outcome)" reverted_scope_violation
won_over
end_attack

attack by-symlink "a provider puts links where the evaluator's folder is"
provider <<'END'
mkdir own && echo 'echo METRIC score=1000' >own/check.sh
rm -r lib && ln -s own lib
echo 1 >value.txt
END
is "outcome" "$(outcome)" reverted_scope_violation
won_over
end_attack

attack symlink-out "a provider commits links out of the tree, absolute and by way of a folder"
provider <<'END'
. ./paths.sh
mkdir generated 2>/dev/null
rm candidate.sh && ln -s ../../../../../../../../../..$USERS_HOME/.ssh/id_rsa candidate.sh
rm value.txt && ln -s "$USERS_HOME/.ssh/id_rsa" value.txt
END
is "outcome" "$(outcome)" reverted_scope_violation
end_attack

attack verify-symlink "a candidate replaces the evaluator by a link to a file of its own"
candidate <<'END'
echo 'echo METRIC score=1000' >own.sh
ln -sf own.sh lib/check.sh && ln -sf ../own.sh lib/check.sh
END
refused
end_attack

attack hard-link "a candidate writes the evaluator by a hard link of another name, and takes the link away"
candidate <<'END'
ln lib/check.sh other.sh
cp other.sh kept.sh
echo 'echo METRIC score=1000' >other.sh
bash -c '. lib/check.sh'
cat kept.sh >other.sh
rm other.sh
END
refused
end_attack

attack hard-link-provider "a provider makes a hard link of one of its own files in the place of a read-only one"
provider <<'END'
echo 'echo METRIC score=1000' >candidate.sh
ln -f candidate.sh lib/check.sh
echo 1 >value.txt
END
is "outcome" "$(outcome)" reverted_scope_violation
won_over
end_attack

attack rename "a candidate puts a file of its own in the evaluator's place, and the evaluator back by its name"
candidate <<'END'
mv lib/check.sh lib/check.old
echo 'echo METRIC score=1000' >lib/check.sh
(sleep 0.3; mv lib/check.old lib/check.sh) &
sleep 0.1
END
refused
end_attack

# The evaluator sources lib/check.sh, which puts its own folder back.
swap() {
    echo 'mv lib lib.away && mkdir lib'
    echo "echo '$HACKED; rm -r lib; mv lib.away lib; exit 0' >lib/check.sh"
}
attack rename-folder "a candidate renames the folder of the evaluator, puts another in its place, and the first one back"
swap >"$T/swap" && candidate <"$T/swap"
won_over
end_attack

attack mode "a candidate takes away the evaluator's modes, and gives setuid"
candidate <<'END'
chmod 0 secret/answer.txt
chmod 6755 lib/check.sh
chmod 700 .
END
is "outcome" "$(outcome)" skipped_verification_crash
won "a setuid file is left" test -n "$(find "$XDG_CACHE_HOME" -perm /6000 -newer paths.sh -path '*scratch*')"
end_attack

attack restore "a candidate rewrites the evaluator, and restores its bytes, mode and time"
candidate <<'END'
cp -p lib/check.sh kept
cat >lib/check.sh <<'IN'
echo "METRIC score=1000"
cat kept >lib/check.sh; touch -r kept lib/check.sh; exit 0
IN
END
refused
end_attack

attack metric-lines "a candidate prints METRIC lines where the evaluator uses APSIS_METRICS"
fill() {
    printf '%s\n' 'metrics=$APSIS_METRICS' 'unset APSIS_METRICS APSIS_RUN_DIR' 'bash candidate.sh' \
        'echo "METRIC score=$(cat value.txt)" >"$metrics"' 'bash candidate.sh' >evaluate.sh
}
candidate <<'END'
echo "METRIC score=1000"
echo "METRIC score=1000" >&2
END
is "the evaluator's value" "$(field 1 primary_metric)" 1
won_over
end_attack

attack shared-environment "a candidate that shares the evaluator's environment writes APSIS_METRICS itself"
for way in namespaces bwrap landlock none; do
    opens $way "what runs in the evaluator's environment, as its user, can do what it can: SECURITY.md"
done
fill() { printf '%s\n' 'bash candidate.sh' 'echo "METRIC score=$(cat value.txt)"' >evaluate.sh; }
candidate <<'END'
[ "$APSIS_EXPERIMENT" = 0 ] || echo "METRIC score=1000" >"$APSIS_METRICS"
END
won_over
end_attack

attack metrics-fifo "a candidate makes APSIS_METRICS a pipe that nobody writes"
candidate <<'END'
mkfifo "$APSIS_METRICS"
END
like "why" "$(field 1 rollback_reason)" "APSIS_METRICS is no file"
won "there is a value" test "$(outcome)" = kept
end_attack

attack metrics-folder "a candidate makes APSIS_METRICS a folder"
candidate <<'END'
mkdir -p "$APSIS_METRICS/x"
END
like "why" "$(field 1 rollback_reason)" "APSIS_METRICS is no file"
end_attack

attack metrics-link "a candidate makes APSIS_METRICS a link to /etc/passwd, and to a file outside with a METRIC line"
fill() { echo "$HACKED" | sed 's/echo "\(.*\)"/\1/' >"$T/lines"; }
candidate <<'END'
. ./paths.sh
ln -s "$HOST/lines" "$APSIS_METRICS"
END
like "why" "$(field 1 rollback_reason)" "APSIS_METRICS is no file"
won_over
end_attack

attack output-link "a command makes the file that apsis keeps the next one's output in a link to the journal"
METRIC_EXTRA=', extractor: {type: stdout_json, json_pointer: /score}'
fill() {
    sed -i 's|^  commands:.*|  commands: [{name: first, run: [bash, candidate.sh]}, {name: second, run: [bash, evaluate.sh]}]|' manifest.yaml
    printf '%s\n' 'echo "{\"score\": $(cat value.txt)}"' >evaluate.sh
}
candidate <<'END'
. ./paths.sh
for name in stdout.txt stderr.txt; do
    for dir in "$APSIS_RUN_DIR" "$APSIS_RUN_DIR/.."; do
        rm -f "$dir/$name" && ln -s "$PROJECT/logs/written" "$dir/$name"
    done
done 2>/dev/null
for file in "$APSIS_RUN_DIR"/../*.txt "$APSIS_RUN_DIR"[-.]*; do rm -f "$file" && ln -s "$PROJECT/logs/written" "$file"; done 2>/dev/null
true
END
# Without a sandbox the link is there, and apsis does not follow it: the candidate has no measurement.
[ "$WAY" = none ] || is "the value" "$(field 1 primary_metric)" 1
won "it was written there" test -e logs/written
end_attack

attack output-fifo "it makes that file a pipe, so that apsis would wait for ever"
METRIC_EXTRA=', extractor: {type: stdout_json, json_pointer: /score}'
fill() {
    sed -i 's|^  commands:.*|  commands: [{name: first, run: [bash, candidate.sh]}, {name: second, run: [bash, evaluate.sh]}]|' manifest.yaml
    printf '%s\n' 'echo "{\"score\": $(cat value.txt)}"' >evaluate.sh
}
candidate <<'END'
rm -f "$APSIS_RUN_DIR/stdout.txt" && mkfifo "$APSIS_RUN_DIR/stdout.txt"
END
is "the value" "$(field 1 primary_metric)" 1
won "apsis hung" test "$code" = 124
end_attack

attack result-link "a check makes the folder of the result file a link out, to be removed from and read from"
METRIC_EXTRA=', extractor: {type: json_file, path: results/score.json, json_pointer: /score}'
fill() {
    sed -i 's|^  commands:.*|  checks: [{name: first, run: [bash, candidate.sh]}]\n  commands: [{name: second, run: [bash, evaluate.sh]}]|' manifest.yaml
    printf '%s\n' 'mkdir -p results; [ -s results/score.json ] || echo "{\"score\": $(cat value.txt)}" >results/score.json' >evaluate.sh
    mkdir -p "$T/elsewhere" && echo '{"score": 1000}' >"$T/elsewhere/score.json"
}
candidate <<'END'
. ./paths.sh
ln -s "$HOST/elsewhere" results
END
like "why" "$(field 1 rollback_reason)" "leads out of the workspace"
won "the file there was removed" test ! -e "$T/elsewhere/score.json"
won_over
end_attack

attack run-dir "a candidate makes its run folder a link to the project's logs, and its artifacts links out"
candidate <<'END'
. ./paths.sh
mv "$APSIS_RUN_DIR" "$APSIS_RUN_DIR.old" && ln -s "$PROJECT/logs" "$APSIS_RUN_DIR"
rm -r "$APSIS_ARTIFACTS" && ln -s "$USERS_HOME/.ssh" "$APSIS_ARTIFACTS"
END
won "the journal is gone" test ! -s logs/results.jsonl
won "the key was copied" grep -rqs PRIVATE-KEY runs
end_attack

attack artifact-links "a candidate leaves artifacts that are links to the user's files"
candidate <<'END'
. ./paths.sh
ln -s "$USERS_HOME/.ssh/id_rsa" "$APSIS_ARTIFACTS/key.txt"
ln "$USERS_HOME/.ssh/id_rsa" "$APSIS_ARTIFACTS/hard.txt"
ln -s "$USERS_HOME" "$APSIS_ARTIFACTS/home"
ln -s "$USERS_HOME/.ssh/id_rsa" "$APSIS_ARTIFACTS/stderr.txt"
echo fine >"$APSIS_ARTIFACTS/fine.txt"
END
opens none "a hard link to a file that it may read"
[ "$WAY" = none ] && may=yes
is "what is no link" "$(cat runs/0001/artifacts/fine.txt)" fine
won "the key was copied" grep -rqs PRIVATE-KEY runs
end_attack

attack evidence "a candidate leaves files of the names that apsis writes: its patch, its proposal, its log"
candidate <<'END'
for name in change.patch proposal.json plan.md prompt.md verifier.log provider_output.md env.json gate.log; do echo FORGED >"$APSIS_RUN_DIR/$name"; done
mkdir "$APSIS_RUN_DIR/result.json"
END
is "outcome" "$(outcome)" kept
won "one was taken" grep -rqsx FORGED runs
ok "the patch" grep -q candidate.sh runs/0001/change.patch
end_attack

attack poison "a candidate leaves files for the one measured after it, ignored and generated ones too"
ITERATIONS=2
NEXT='cat left.cache generated/left secret/left.cache .left lib/__pycache__/left 2>/dev/null; ls -A /tmp; cat /tmp/left /var/tmp/left /dev/shm/left ~/left "$TMPDIR/left"'
candidate <<'END'
mkdir -p generated lib/__pycache__ "$TMPDIR/folder"
for file in left.cache generated/left secret/left.cache .left lib/__pycache__/left /tmp/left /var/tmp/left /dev/shm/left ~/left "$TMPDIR/left" "$TMPDIR/folder/left"; do
    echo POISONED >"$file"
done
chmod 555 generated lib/__pycache__
chmod 0 "$TMPDIR/folder"
END
opens none "without a sandbox /tmp and the home are the user's"
rm -f /tmp/left /var/tmp/left /dev/shm/left "$HOME/left"
is "the second" "$(outcome 2)" kept
won "it was read" said POISONED 0002
end_attack

attack temporary-mode "a provider stores state in its folder for temporary files, and takes its mode away"
opens none "without a sandbox /tmp is the user's"
ITERATIONS=2
provider <<'END'
chmod 700 "$TMPDIR" 2>/dev/null
if [ "$APSIS_EXPERIMENT" = 2 ]; then cat "${TMPDIR:-/tmp}/apsis-attack-state"; chmod 700 "${TMPDIR:-/tmp}/apsis-attack-state"; cat "${TMPDIR:-/tmp}/apsis-attack-state"; fi
echo POISONED >"${TMPDIR:-/tmp}/apsis-attack-state"
echo "$APSIS_EXPERIMENT" >value.txt
[ -z "$TMPDIR" ] || [ "$TMPDIR" = /tmp ] || chmod 0 "$TMPDIR"
END
rm -f /tmp/apsis-attack-state
won "it was read" said POISONED 0002
end_attack

attack metric-flood "a candidate prints a million METRIC lines of a million names"
candidate <<'END'
seq -f 'METRIC name_%.0f=1' 1000000
seq -f 'METRIC score=%.0f' 1000000
END
like "its outcome" "$(outcome)" '^(kept|skipped_verification_crash)$' # more names than are kept: it harms itself
won "the journal has a line of over a megabyte" test -n "$(awk 'length($0) > 1048576' logs/results.jsonl)"
end_attack

attack xattr "a candidate leaves a note, or an access list, on the workspace's folder for those that come after it"
opens none
touch "$T/note" && "$T/bin/tool" xattr "$T/note" >/dev/null || opens none? "this file system has no extended attributes"
candidate <<'END'
./tool xattr .
END
won "the folder has it" said "GOT a note"
end_attack

attack flags "a candidate makes every write in the workspace's folder wait for the disk, for those that come after it, too"
opens none
mkdir -p "$T/flagged" && "$T/bin/tool" flags "$T/flagged" >/dev/null || opens none? "this file system has no such flags"
candidate <<'END'
./tool flags .
END
won "the folder has the flag" said "GOT a flag"
end_attack

attack long-line "a candidate prints a line of 10 GB"
LIMIT_SEC=60
fill() { sed -i '/^verification:/a\  log_limit_mb: 4' manifest.yaml; }
bytes=2G
[ -n "${ATTACKS_LOG:-}" ] && bytes=10G # all of it: make attacks
[ -n "${APSIS_SANITIZED:-}" ] && bytes=200M
candidate <<END
head -c $bytes /dev/zero
echo
END
is "outcome" "$(outcome)" kept
ok "the log is bounded" test "$(stat -c %s runs/0001/verifier.log)" -lt 6000000
end_attack

finish
