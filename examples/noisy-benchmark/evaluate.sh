#!/bin/sh
# evaluate: builds the candidate and judges it.
#   evaluate.sh check   the gate: it compiles, defines inspect alone, calls nothing but itself, finds what it did before
#   evaluate.sh time    the metric: processor time by that of the reference; what it found while it was timed is compared, too
# -O1 and no inlining: what is not written is not done, so that an edit is worth what it says. Aligned functions: that a
# section became shorter does not move the others, which can cost as much as an edit is worth.
set -eu
LC_ALL=C
export LC_ALL

fail()
{
    echo "evaluate.sh: $*" >&2
    exit 1
}

# $CC is a list of words.
compile()
{
    # shellcheck disable=SC2086
    ${CC:-cc} -std=c11 -w -O1 -fno-inline -falign-functions=64 "$@" 2>"$build/errors" && return
    cat "$build/errors" >&2
    fail "it does not compile"
}

# The routine may not reach the clock, nor take the place of what the benchmark calls.
check_symbols()
{
    nm "$build/routine.o" | awk '
        NF == 2 && $2 !~ /^_?(memcpy|memset|memmove|_?_stack_chk_fail(_local)?|_GLOBAL_OFFSET_TABLE_)$/ { bad = bad " " $2 }
        NF == 3 && $2 ~ /^[A-Z]$/ && $3 !~ /^_?inspect$/ { bad = bad " " $3 }
        END { if (bad) { print "routine.c: not allowed:" bad; exit 1 } }' >&2 || fail "refused"
}

same_findings()
{
    grep "^$1 " "$build/output" >"$build/found" || :
    grep "^$1 " expected.txt | cmp -s - "$build/found" && return
    grep "^$1 " expected.txt | diff - "$build/found" | head -n 4 >&2
    fail "it does not find what it did before"
}

build=$(mktemp -d "${APSIS_RUN_DIR:-${TMPDIR:-/tmp}}/build.XXXXXX")
trap 'rm -rf "$build"' EXIT
trap 'exit 1' HUP INT TERM
TMPDIR=$build # the compiler's own files, too
export TMPDIR
case "${1-}" in
check)
    compile -c -o "$build/routine.o" routine.c
    check_symbols
    compile -o "$build/bench" bench.c "$build/routine.o"
    "$build/bench" check >"$build/output" || fail "it ended with exit $?"
    same_findings check
    echo "it finds what it did before"
    ;;
time)
    compile -o "$build/bench" bench.c routine.c
    "$build/bench" time >"$build/output" || fail "it ended with exit $?, or does not find what it did before"
    same_findings timed
    grep '^METRIC' "$build/output"
    ;;
*) fail "usage: evaluate.sh check|time" ;;
esac
