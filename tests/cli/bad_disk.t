#!/bin/bash
# bad_disk: a full disk, a disk that may not be written, and errors of fsync: apsis stops with a clear error, the
# journal stays valid, and when there is room again the run goes on with nothing lost.
. tests/cli/lib.sh || exit 1

# stopped: the last command ended with exit 3, said MESSAGE, and the journal is whole.
stopped() {
    is "exit code" "$code" 3
    like "message" "$err" "$1"
    unlike "message" "$err" "traceback"
    [ ! -s logs/results.jsonl ] || is "the journal's last byte" "$(tail -c 1 logs/results.jsonl | od -An -tx1 | tr -d ' ')" 0a
    ok "its lines are whole" valid
}

valid() { [ ! -e logs/results.jsonl ] || "$APSIS" exec "$ROOT/tests/cli/valid.lua" logs/results.jsonl; }

# goes_on: another run does again what was in flight, and one more; every number once, and the branch has the last one's tree.
goes_on() {
    local before in_flight=0 folder
    before=$(lines)
    for folder in runs/[0-9]*; do
        case $folder in *_baseline) continue ;; esac
        [ -e "$folder/proposal.json" ] && ! grep -q "\"experiment\":$((10#${folder#runs/}))," logs/results.jsonl && in_flight=$((in_flight + 1))
    done
    apsis run --iterations 1
    is "afterwards" "$code" 0
    ok "the journal" valid
    is "lines" "$(lines)" $((before + in_flight + 1))
    is "the branch" "$(git show apsis/tiny:value.txt | tr -d " ")" "$(($(lines) - 1))"
}

# injected NAME SYSCALLS ERROR WHEN MESSAGE: a run of three in which the WHEN-th of these calls fails.
injected() {
    item "$1"
    new_project "d$count"
    apsis baseline
    capture "${TRACED[@]}" -o /dev/null -e trace="$2" -e inject="$2":error="$3":when="$4" "$APSIS" run --quiet --iterations 3
    stopped "$5"
    goes_on
    end_item
}
injected "EIO on the first two fsyncs, of a candidate's file and of its second try: the run stops and says so" fsync EIO 1..2 \
    "EIO|Input/output error"
item "EIO on the first fsync only: the object is written to another file, and the run goes on"
new_project "d$count"
apsis baseline
capture "${TRACED[@]}" -o /dev/null -e trace=fsync -e inject=fsync:error=EIO:when=1 "$APSIS" run --quiet --iterations 3
is "exit code" "$code" 0
is "git fsck finds nothing" "$(git fsck --strict --no-dangling 2>&1)" ""
goes_on
end_item
injected "EIO on the fsync of the folder of all objects" fsync EIO 7 "cannot sync .*/objects"
injected "EIO on the fsync of a candidate's ref" fsync EIO 8 "c0001.lock.: Input/output error"
injected "EIO on the fsync of the ref's directory" fsync EIO 9 "c0001: failed to fsync directory .*refs/apsis/tiny.: Input/output error"
injected "EIO on the third fsync and all that follow" fsync,fdatasync EIO 3+ "EIO|Input/output error"
injected "EIO on every fsync" fsync,fdatasync EIO 1+ "EIO|Input/output error"

item "EIO on the fsync of a folder that the first ref is made in: no baseline, and the next one is as if nothing had been"
new_project first
capture "${TRACED[@]}" -o /dev/null -P "$PWD/.git/refs" -e trace=fsync -e inject=fsync:error=EIO:when=1 "$APSIS" baseline --quiet
is "exit code" "$code" 3
like "message" "$err" "cannot sync .*/refs: Input/output error"
apsis baseline
is "afterwards" "$code" 0
end_item

# starting NAME SYSCALLS ERROR WHEN MESSAGE: what keeps the verifier from being started says nothing about the candidate.
starting() {
    injected "$@"
    item "$1: no line of the journal blames the candidate"
    unlike "outcomes" "$(cat logs/results.jsonl)" "skipped_"
    end_item
}
starting "no descriptor to find out whether commands can be confined: nothing is run without" pipe2 EMFILE 1 "cannot find out whether commands can be confined: EMFILE"
EXTRA='sandbox: off' # else that comes first
starting "no descriptor for the verifier's pipes: the run stops" pipe2 EMFILE 2 "measure could not be started: EMFILE"
starting "no descriptor to watch the verifier by: the run stops" pidfd_open EMFILE 1 "measure could not be started: EMFILE"
starting "no memory to wait with: the run stops" ppoll,poll ENOMEM 1 "poll: Cannot allocate memory"
EXTRA=

item "a run that an error stopped goes on with what is left of its budget"
EXTRA="budget: {iterations: 3}"
new_project budget
EXTRA=
apsis baseline
capture "${TRACED[@]}" -o /dev/null -e trace=fsync -e inject=fsync:error=EIO:when=15..16 "$APSIS" run --quiet
stopped "EIO|Input/output error"
is "lines" "$(lines)" 2
like "state" "$(cat logs/state.json)" '"status":"stopped"'
apsis run
is "afterwards" "$code" 0
is "lines then" "$(lines)" 4
is "the number of the run" "$(field 1 run) $(field 3 run)" "1 1"
end_item

# Which of a run's renames replace this file.
renames_of() {
    (
        new_project "probe-$1"
        apsis baseline
        "${TRACED[@]}" -o "$T/renames" -e trace=rename,renameat,renameat2 -e signal=none "$APSIS" run --quiet --iterations 3 >/dev/null 2>&1
        grep -n "/$1\"" "$T/renames" | cut -d: -f1
    )
}
for file in state.json proposal.json; do
    injected "ENOSPC on the first replacement of $file" rename,renameat,renameat2 ENOSPC "$(renames_of $file | head -1)" \
        "ENOSPC|No space left"
done

item "ENOSPC on the move of the branch: left where it is, said, and moved by the next run"
new_project move
apsis baseline
capture "${TRACED[@]}" -o /dev/null -P "$PWD/.git/refs/heads/apsis/tiny.lock" -e trace=rename,renameat,renameat2 \
    -e inject=rename,renameat,renameat2:error=ENOSPC:when=1+ "$APSIS" run --quiet --iterations 2
is "run" "$code" 0
like "said" "$err" "branch apsis/tiny is left.*No space left"
is "branch" "$(git show apsis/tiny:value.txt)" 0
goes_on
end_item

# The append to the journal is the only write to that file.
item "ENOSPC on the append to the journal: the line is not half there"
new_project append
apsis baseline
capture "${TRACED[@]}" -o /dev/null -P "$PWD/logs/results.jsonl" -e trace=write,writev,pwrite64 \
    -e inject=write,writev,pwrite64:error=ENOSPC:when=1+ "$APSIS" run --quiet --iterations 3
stopped "journal cannot be written.*(ENOSPC|No space left)"
is "lines" "$(lines)" 1
goes_on
end_item

item "the user's limit on the size of files: an error that says so, and nothing is lost"
new_project limited
apsis baseline
for command in "run --quiet --iterations 30" "baseline --again" setup; do
    capture bash -c "ulimit -f 100; exec '$APSIS' $command"
    is "exit code of $command" "$code" 3
    like "cause and remedy of $command" "$err$out" "ulimit -f.*raise the limit"
    unlike "other causes of $command" "$err$out" "no /proc|TMPDIR"
done
capture bash -c "ulimit -f 100; exec '$APSIS' doctor --no-agent"
like "doctor" "$out" "sandbox: .*ulimit -f.*raise the limit"
unlike "other causes in doctor" "$out" "no git command"
is "lines" "$(lines)" 1
apsis run --quiet --iterations 2
is "without it" "$code" 0
ok "the journal" valid
end_item

item "EIO on the fsync of the journal: the line does not count"
new_project sync
apsis baseline
capture "${TRACED[@]}" -o /dev/null -P "$PWD/logs/results.jsonl" -e trace=fsync,fdatasync \
    -e inject=fsync,fdatasync:error=EIO:when=1+ "$APSIS" run --quiet --iterations 3
stopped "journal cannot be written.*(EIO|Input/output error)"
goes_on
end_item

item "a file-size limit reached in the journal: nothing half written stays"
new_project limit
apsis baseline
# A long line, so that the limit is above the size of the cage's own program.
sed -i "s/\"description\":null/\"description\":\"PAD\"/; s/PAD/$(printf 'PAD%.0s' {1..1000})/; s/PAD/$(printf 'x%.0s' {1..1000})/g" \
    logs/results.jsonl
rm -f .apsis/digests
size=$(stat -c %s logs/results.jsonl)
capture bash -c "trap '' XFSZ; ulimit -f $(((size + 1500) / 1024)); exec '$APSIS' run --quiet --iterations 20"
unlike "it stopped" "$code" "^0$"
like "message" "$err" "journal cannot be written.*ulimit -f"
unlike "message" "$err" "traceback"
ok "its lines are whole" valid
goes_on
end_item

# A disk of its own where this user may mount one, else the error is injected into every write below the project.
full_disk() { # full_disk DIR SIZE
    mkdir -p "$1" && mount -t tmpfs -o "size=$2,mode=700" tmpfs "$1" 2>/dev/null && at_end+=("umount -l '$1'")
}
fill() { head -c 100000000 /dev/zero >"$1/filler" 2>/dev/null; true; }
writes_fail() { # runs apsis with every write to a file of the project or repository failing after the N-th
    capture "${TRACED[@]}" -o /dev/null -e trace=openat,mkdir,mkdirat -e "inject=mkdir,mkdirat:error=$1:when=2+" "$APSIS" run --quiet \
        --iterations 3
}

item "disk full, with the project on it: stops with a clear error; with room again the run goes on"
if full_disk "$T/full" 4m; then
    new_project full
    apsis baseline
    apsis run --iterations 1
    fill "$T/full"
    apsis run --quiet --iterations 3
    stopped "ENOSPC|No space left"
    rm filler
else
    new_project full
    apsis baseline
    apsis run --iterations 1
    writes_fail ENOSPC
    stopped "ENOSPC|No space left"
fi
goes_on
end_item

item "disk full in the middle of a run: stops with a clear error; nothing journalled is lost"
if full_disk "$T/middle" 4m; then
    EXTRA="sandbox: {allow: ['$T:rw', '$T/middle:rw']}" new_project middle
    cat >evaluate.sh <<END
echo "METRIC score=\$(cat value.txt)"
[ "\$APSIS_EXPERIMENT" != 2 ] || [ -e $T/room ] || head -c 100000000 /dev/zero >$T/middle/filler 2>/dev/null
true
END
    git commit -qam evaluator
    apsis baseline
    apsis run --quiet --iterations 3
    stopped "ENOSPC|No space left"
    is "experiment 1" "$(field 1 outcome)" kept
    rm -f filler
    touch "$T/room"
else
    new_project middle
    apsis baseline
    writes_fail ENOSPC
    stopped "ENOSPC|No space left"
fi
goes_on
end_item

item "disk full, with the workspaces on it: stops with a clear error"
new_project small
mkdir -p "$T/tiny-cache"
sed -i 's/"\\n"/(" "):rep(60000) .. "\\n"/' propose.lua
sed -i 's/cat value/tr -d " " <value/' evaluate.sh
git commit -qam large
if full_disk "$T/tiny-cache" 300k; then
    export XDG_CACHE_HOME=$T/tiny-cache
    apsis baseline
    is "baseline" "$code" 0
    fill "$T/tiny-cache"
    apsis run --quiet --iterations 2
    stopped "ENOSPC|No space left"
    rm "$T/tiny-cache/filler"
    goes_on
    export XDG_CACHE_HOME=$T/cache
else
    apsis baseline
    writes_fail ENOSPC
    stopped "ENOSPC|No space left"
    goes_on
fi
end_item

item "read-only disk: exit 3 naming what cannot be written; reading commands work"
if mkdir -p "$T/ro" && full_disk "$T/ro" 4m; then
    new_project ro
    apsis baseline
    apsis run --iterations 1
    mount -o remount,ro "$T/ro"
    for command in "run --iterations 1" "baseline --again"; do
        apsis $command
        stopped "EROFS|Read-only"
    done
    for command in log status best "show c0001"; do
        apsis $command
        is "$command" "$code" 0
    done
    mount -o remount,rw "$T/ro"
else
    new_project ro
    apsis baseline
    apsis run --iterations 1
    writes_fail EROFS
    stopped "EROFS|Read-only"
fi
goes_on
end_item

item "logs/ is a file: exit 3 naming it"
new_project logsfile
echo x >logs
apsis baseline
is "exit code" "$code" 3
like "message" "$err" "logs"
unlike "message" "$err" "traceback"
end_item

item "no watches of inotify left: said once, and the run goes on"
new_project watches
mkdir lib && echo x >lib/x && git add lib && git commit -qm "a folder"
apsis baseline
capture "${TRACED[@]}" -o /dev/null -e trace=inotify_add_watch -e inject=inotify_add_watch:error=ENOSPC "$APSIS" run --iterations 2
is "exit code" "$code" 0
is "experiments" "$(lines)" 3
is "warnings" "$(grep -c 'raise fs.inotify.max_user_watches' "$T/.err")" 1
end_item

item "no watches left where there were some, as a candidate may bring about: the run waits, then stops"
capture "${TRACED[@]}" -o /dev/null -e trace=inotify_add_watch -e inject=inotify_add_watch:error=ENOSPC:when=2+ "$APSIS" run --iterations 2
is "exit code" "$code" 3
like "message" "$err" "ENOSPC: watching"
is "no experiment is blamed" "$(lines)" 4
goes_on
end_item

item "runs/ is a file: exit 3 naming it"
new_project runsfile
echo x >runs
apsis baseline
is "exit code" "$code" 3
like "message" "$err" "runs"
unlike "message" "$err" "traceback"
end_item

finish
