#!/bin/bash
# mapped: attacks by a shared mapping of a file, where the workspaces are in memory (tmpfs): the kernel notes no time of such a write.
. tests/attacks/lib.sh || exit 1

memory=$(mktemp -d /dev/shm/apsis-attack.XXXXXX 2>/dev/null)
if [ -z "$memory" ] || [ "$(stat -f -c %T "$memory")" != tmpfs ]; then
    rm -rf "$memory"
    echo "1..0 # SKIP /dev/shm is no tmpfs that can be written"
    exit 0
fi
at_end+=("rm -rf '$memory'")
export XDG_CACHE_HOME=$memory

# The evaluator measures with a hidden file, between two parts of the candidate.
scaled() {
    echo 00001 >secret/scale.txt
    printf '%s\n' '[ "$APSIS_EXPERIMENT" = 0 ] || bash candidate.sh first' 'scale=$(cat secret/scale.txt)' \
        '[ "$APSIS_EXPERIMENT" = 0 ] || bash candidate.sh last' 'echo "METRIC score=$(($(cat value.txt) * 10#$scale))"' >evaluate.sh
}
refused() {
    is "outcome" "$(outcome "${1:-1}")" skipped_verification_crash
    like "why" "$(field "${1:-1}" rollback_reason)" 'verification changed committed files \(secret/scale.txt'
    won "its own value was taken" value_is 10000 "${1:-1}"
}

attack mapped-restored "a candidate writes a hidden file by a mapping, and puts it back when it has been read"
fill() { scaled; }
candidate <<'END'
if [ "$1" = first ]; then ./tool mapped secret/scale.txt 10000; else ./tool mapped secret/scale.txt 00001; fi
END
ok "it could write" said "GOT written"
refused
end_attack

attack mapped-behind "it does so with one descriptor, which the kernel closes after the command has ended"
fill() { scaled; }
candidate <<'END'
if [ "$1" = first ]; then
    ./tool mapped secret/scale.txt 10000 restore >said &
    until grep -q GOT said; do sleep 0.01; done
else
    touch restore
    wait_for() { until grep -q behind said; do sleep 0.01; done; }
    wait_for
fi
END
refused
end_attack

attack mapped-left "a candidate leaves a hidden file as it wrote it by a mapping, for the next one"
ITERATIONS=2
fill() { scaled; }
candidate <<'END'
[ "$1" = first ] || ./tool mapped secret/scale.txt 10000
END
refused
is "the second" "$(outcome 2)" kept
won "the second was measured with it" value_is 20000 2
end_attack

attack mapped-writable "a candidate leaves one of its own files as it wrote it by a mapping, for the next one, which has another"
ITERATIONS=2
NEXT='echo "OWN-$(cat own.txt)"'
fill() {
    scaled
    echo 11111 >own.txt
    sed -i 's|hidden}|&\n  - {path: own.txt, mode: writable}|;' manifest.yaml
}
candidate <<'END'
[ "$1" = first ] || ./tool mapped own.txt 99999
END
is "outcome" "$(outcome)" skipped_verification_crash
won "the second has it" said OWN-99999 0002
end_attack

attack mapped-provider "a provider leaves a read-only file as it wrote it by a mapping, for the next provider"
ITERATIONS=3
provider <<'END'
cat lib/check.sh
[ "$APSIS_EXPERIMENT" != 2 ] || ./tool mapped lib/check.sh evil # what has just been checked out is compared in any case
echo "$APSIS_EXPERIMENT" >value.txt
END
won "the next one has it" said evil 0003
end_attack

finish
