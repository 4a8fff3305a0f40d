#!/bin/bash
# resources: attacks by taking too much, and by what is left in a workspace: disk, memory, files by the thousand, depth, modes.
. tests/attacks/lib.sh || exit 1

attack tmp-full "a candidate fills /tmp"
opens landlock? "its folder for temporary files is on the disk of its workspace, whose reserve is kept free"
opens none "without a sandbox /tmp is the machine's"
EXTRA='limits: {tmp_mb: 16}'
candidate <<'END'
for dir in /tmp /var/tmp /dev/shm ~; do head -c 40000000 /dev/zero >$dir/apsis-attack-filling && echo "FILLED $dir"; rm -f $dir/apsis-attack-filling; done
END
unset EXTRA
is "outcome" "$(outcome)" kept
won "it held 40 MB" said FILLED
end_attack

attack tmp-files "a candidate fills /tmp with empty files, which take the kernel's memory"
opens bwrap "bwrap limits the bytes of its file systems in memory, not their files: SECURITY.md"
opens none "without a sandbox /tmp is the machine's"
files=/tmp/apsis-attack-${T##*.}
at_end+=("rm -rf '$files'")
EXTRA='limits: {tmp_mb: 16}' LIMIT_SEC=120
candidate <<END
mkdir $files && cd $files || exit 1
seq 20000 | xargs touch 2>/dev/null
echo "THERE ARE \$(ls | wc -l)"
END
unset EXTRA
is "outcome" "$(outcome)" kept
won "it made 20,000, where 16,384 are allowed" said "THERE ARE 20000"
rm -rf "$files"
end_attack

# On a disk of its own, 96 MB, of which 32 are to be left.
disk=$T/disk
mkdir "$disk"
if is_root && mount -t tmpfs -o size=96m tmpfs "$disk" 2>/dev/null; then
    at_end+=("umount -l '$disk'")
    attack disk-full "a candidate fills the disk of its workspace, with files that are gone by name"
    opens none
    EXTRA="workspace: {root: $disk}
limits: {disk_reserve_mb: 32}"
    candidate <<'END'
exec 7>filling && rm filling
for i in $(seq 90); do head -c 1000000 /dev/zero >&7 || break; sleep 0.03; done
echo "FILLED $(df --output=avail -m . | tail -1)"
END
    unset EXTRA
    won "it came to its end" said FILLED
    [ "$WAY" = none ] || like "why" "$(field 1 rollback_reason)" "disk_reserve_mb"
    end_attack
fi

attack file-size "a candidate writes a file above limits.file_mb"
EXTRA='limits: {file_mb: 8}'
candidate <<'END'
head -c 20000000 /dev/zero >big
echo "SIZE $(stat -c %s big)"
rm -f big
END
unset EXTRA
won "it did" said "SIZE 20000000"
end_attack

attack sparse "a provider leaves a sparse file of 1 GB, above max_file_mb"
provider <<'END'
truncate -s 1G value.txt
END
is "outcome" "$(outcome)" reverted_scope_violation
like "why" "$(field 1 rollback_reason)" "above max_file_mb"
end_attack

attack many-files "a provider and then a candidate leave 100,000 files"
ITERATIONS=2
AGENT_SEC=200
fill() { [ -n "${ATTACKS_LOG:-}" ] && echo FILES=100000 >>paths.sh || echo FILES=20000 >>paths.sh; } # all of it: make attacks
provider <<'END'
. ./paths.sh
[ "$APSIS_EXPERIMENT" = 2 ] || { mkdir many && cd many && seq "$FILES" | xargs touch && cd ..; }
echo "$APSIS_EXPERIMENT" >value.txt
END
is "outcome" "$(outcome)" reverted_scope_violation
is "the next" "$(outcome 2)" kept
won "they are still there" test -n "$(find "$XDG_CACHE_HOME/apsis" -name many)"
end_attack

attack deep "a candidate leaves folders 3000 deep, which no path can name, without their modes"
ITERATIONS=2
LIMIT_SEC=60
NEXT='ls -d d generated/d 2>/dev/null | sed "s/^/left /"'
candidate <<'END'
mkdir -p generated
for top in . generated; do (
    cd $top && perl -e 'for (1 .. 3000) { mkdir "d"; chdir "d" or last } open F, ">", "x"; chmod 0, "."'
) done 2>/dev/null
chmod 0 d generated
END
is "outcome" "$(outcome)" kept
is "the next" "$(outcome 2)" kept
won "they are there for the next" said "left " 0002
end_attack

attack modes "a provider leaves setuid programs, folders without modes, pipes and sockets"
provider <<'END'
mkfifo pipe
cp /bin/true setuid && chmod 6777 setuid
mkdir closed && echo x >closed/x && chmod 0 closed
chmod 6755 value.txt candidate.sh
echo 1 >value.txt
END
is "outcome" "$(outcome)" reverted_scope_violation
won "a setuid file is committed" test "$(outcome)" = kept
end_attack

attack setuid "a candidate becomes root by a setuid program"
candidate <<'END'
for program in /usr/bin/su /bin/su /usr/bin/sudo /usr/bin/passwd /usr/bin/mount; do
    [ -u $program ] && grep -E '^(NoNewPrivs|CapEff)' /proc/self/status && break
done
END
is_root || [ ! -u /bin/su ] || opens none
is_root && opens none? "root is root"
won "a setuid program would have effect" said "NoNewPrivs:	0"
won "it has capabilities" grep -aqE 'CapEff:.*[1-9a-f]' runs/0001/verifier.log
end_attack

attack workspace-link "a provider puts a link to the user's home in its workspace's place, or takes it away"
ITERATIONS=2
provider <<'END'
. ./paths.sh
here=$PWD
if [ "$APSIS_EXPERIMENT" = 1 ]; then
    cd .. && mv "$here" "$here.away" && ln -s "$USERS_HOME" "$here"
    cd / && rm -rf "$here" 2>/dev/null
    echo attacked >"$here/value.txt"
fi
[ "$APSIS_EXPERIMENT" = 1 ] || echo 2 >value.txt
END
is "the next" "$(outcome 2)" kept
ok "the home is whole" test -e "$HOME/.ssh/id_rsa"
won "it wrote through the link" test -e "$HOME/value.txt" -a "$WAY" != none
rm -f "$HOME/value.txt"
end_attack

attack candidates-write "one worker's candidate writes another's workspace"
opens none
EXTRA='execution: {workers: 2}'
ITERATIONS=2
NEXT='sleep 1.5; cat attacked 2>/dev/null'
candidate <<'END'
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    for dir in ../verify-*/; do [ "$(cd "$dir" && pwd)" = "$PWD" ] || echo ATTACKED >"$dir/attacked"; done
    sleep 0.1
done 2>/dev/null
END
unset EXTRA
won "it was written" said ATTACKED 0002
end_attack

attack state "a provider stores what it knows for the next experiment, in /tmp and elsewhere"
opens none
ITERATIONS=2
provider <<'END'
for place in /tmp /var/tmp /dev/shm ~ . "$APSIS_RUN_DIR" "$APSIS_RUN_DIR/.."; do
    cat "$place/apsis-attack-known" 2>/dev/null
    echo KNOWN-FROM-BEFORE >"$place/apsis-attack-known"
done 2>/dev/null
rm -f apsis-attack-known
echo "$APSIS_EXPERIMENT" >value.txt
END
rm -f /tmp/apsis-attack-known /var/tmp/apsis-attack-known /dev/shm/apsis-attack-known "$HOME/apsis-attack-known"
cp runs/0002/provider_output.md "$T/second"
won "it was there" holds "$T/second" KNOWN-FROM-BEFORE
end_attack

finish
