#!/bin/sh
# evaluate: builds the candidate, checks its checksums, and measures both metrics, which are the same every time: bytes,
# by `size`, and instructions for a byte of input, by callgrind. What is compiled is written here anew from the allowed
# words in flags.txt and params.h, so that nothing else in those files can reach the compiler.
set -eu
LC_ALL=C
export LC_ALL
MEASURED=65536

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
            for (i = 1; i <= NF; i++) if ($i in flags) print $i > (build "/flags"); else refuse($i " is not in choices.txt")
            next
        }
        NF == 0 { next }
        $1 != "#define" || NF != 3 || !(($2, $3) in values) { refuse("not in choices.txt: " $0); next }
        { print "#define " $2 " " $3 > (build "/params.h") }
        END { exit bad }' choices.txt flags.txt params.h >&2 || fail "refused"
}

command -v valgrind >/dev/null || fail "valgrind is not installed; it counts the instructions"
build=$(mktemp -d "${APSIS_RUN_DIR:-${TMPDIR:-/tmp}}/build.XXXXXX")
trap 'rm -rf "$build"' EXIT
trap 'exit 1' HUP INT TERM
select_choices
cp crc.c main.c "$build"
touch "$build/flags"
# shellcheck disable=SC2046,SC2086
${CC:-cc} -std=c11 -w $(cat "$build/flags") -c -o "$build/crc.o" "$build/crc.c" || fail "it does not compile"
# shellcheck disable=SC2086
${CC:-cc} -std=c11 -w -O2 -DMEASURED=$MEASURED -o "$build/program" "$build/main.c" "$build/crc.o" || fail "main.c"
env -i "$build/program" || fail "a checksum is wrong"
env -i "$(command -v valgrind)" --command-line-only=yes --tool=callgrind --toggle-collect=measured \
    --callgrind-out-file=/dev/null --log-file="$build/log" "$build/program" || { cat "$build/log" >&2; fail "callgrind"; }
instructions=$(sed -n 's/.*Collected *: *\([0-9][0-9]*\).*/\1/p' "$build/log")
[ "${instructions:-0}" -gt 0 ] || { cat "$build/log" >&2; fail "callgrind reported no instruction count"; }
size "$build/crc.o" | awk 'NR == 2 { print "METRIC bytes=" $4 }'
awk -v count="$instructions" -v bytes=$MEASURED 'BEGIN { printf "METRIC instructions=%.4f\n", count / bytes }'
