#!/bin/sh
# evaluate: builds the candidate and judges it.
#   evaluate.sh check   the gate: flags and parameters are allowed ones, it compiles, its output is expected.txt
#   evaluate.sh count   the metric: how many instructions main executes, by callgrind; the same number every time
# What is compiled is written here anew from the allowed words found in flags.txt and params.h, so that nothing else in
# those files (an -include, a linker's option, C code) can reach the compiler.
set -eu
LC_ALL=C
export LC_ALL

fail()
{
    echo "evaluate.sh: $*" >&2
    exit 1
}

# Copies the allowed words to $build/flags and $build/params.h; complains about any other.
select_choices()
{
    awk -v build="$build" '
        function refuse(why) { print FILENAME ":" FNR ": " why; bad = 1 }
        FILENAME == "choices.txt" {
            if ($1 == "level" || $1 == "flag") for (i = 2; i <= NF; i++) flags[$i] = $1
            else if ($1 !~ /^#/) for (i = 2; i <= NF; i++) values[$1, $i] = 1
            next
        }
        FILENAME == "flags.txt" {
            for (i = 1; i <= NF; i++) {
                if (!($i in flags)) { refuse($i " is not in choices.txt"); continue }
                if (flags[$i] == "level" && ++levels > 1) refuse($i " is a second level")
                print $i > (build "/flags")
            }
            next
        }
        NF == 0 { next }
        $1 != "#define" || NF != 3 || !(($2, $3) in values) { refuse("not in choices.txt: " $0); next }
        { print "#define " $2 " " $3 > (build "/params.h") }
        END { exit bad }' choices.txt flags.txt params.h >&2 || fail "refused"
}

# Static where the C library allows it: then no loader takes part. $CC and the flags are lists of words.
compile()
{
    cp program.c "$build/program.c"
    touch "$build/flags" "$build/params.h"
    for link in -static ""; do
        # shellcheck disable=SC2046,SC2086
        ${CC:-cc} -std=c11 -w $(cat "$build/flags") $link -o "$build/program" "$build/program.c" \
            2>"$build/errors" && return
    done
    cat "$build/errors" >&2
    fail "it does not compile"
}

same_output()
{
    cmp -s "$build/output" expected.txt && return
    diff expected.txt "$build/output" | head -n 20 >&2
    fail "its output is not expected.txt"
}

check()
{
    env -i "$build/program" >"$build/output" || fail "it ended with exit $?"
    same_output
    echo "the output is as expected"
}

# An empty environment and fixed addresses, and counting in main alone: the number depends on the program only.
count()
{
    fixed=""
    if setarch -R true 2>/dev/null; then fixed="setarch -R"; fi
    $fixed env -i "$valgrind" --command-line-only=yes --tool=callgrind --toggle-collect=main \
        --callgrind-out-file=/dev/null --log-file="$build/log" "$build/program" >"$build/output" ||
        { cat "$build/log" >&2; fail "callgrind failed"; }
    same_output
    instructions=$(sed -n 's/.*Collected *: *\([0-9][0-9]*\).*/\1/p' "$build/log")
    [ "${instructions:-0}" -gt 0 ] || { cat "$build/log" >&2; fail "callgrind reported no instruction count"; }
    echo "METRIC instructions=$instructions"
}

case "${1-}" in
check) ;;
count) valgrind=$(command -v valgrind) || fail "valgrind is not installed; it counts the instructions" ;;
*) fail "usage: evaluate.sh check|count" ;;
esac
build=$(mktemp -d "${APSIS_RUN_DIR:-${TMPDIR:-/tmp}}/build.XXXXXX")
trap 'rm -rf "$build"' EXIT
trap 'exit 1' HUP INT TERM
select_choices
compile
"$1"
