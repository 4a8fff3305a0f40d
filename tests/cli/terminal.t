#!/bin/bash
# terminal: what a person sees on one: colours unless NO_COLOR says not, a pager, lines that fit; and none of it in a
# pipe.
. tests/cli/lib.sh || exit 1

new_project t
"$APSIS" baseline >/dev/null
"$APSIS" run -q --iterations 3 >/dev/null

# on COLUMNS COMMAND: what the command shows on a terminal of that width, in $out.
on() {
    out=$(script -qec "stty cols $1; TERM=xterm; $2" /dev/null | tr -d '\r')
}
ESC=$(printf '\033')
unset NO_COLOR LESS APSIS_PAGER

item "log and diff are coloured on a terminal"
on 80 "'$APSIS' log"
line "kept ones" "$out" "^$ESC\[32m3 +c0003 +kept"
on 80 "'$APSIS' diff best"
line "what is new" "$out" "^$ESC\[32m\+3"
line "what is gone" "$out" "^$ESC\[31m-0"
end_item

item "not in a pipe, with NO_COLOR, or on a dumb terminal"
is "a pipe" "$("$APSIS" log | grep -c "$ESC")" 0
on 80 "NO_COLOR=1 '$APSIS' log"
unlike "NO_COLOR" "$out" "$ESC"
on 80 "TERM=dumb '$APSIS' log"
unlike "dumb" "$out" "$ESC"
on 80 "NO_COLOR= '$APSIS' log"
line "an empty NO_COLOR says nothing" "$out" "^$ESC\[32m3"
end_item

item "a pager shows what log, show and diff print: APSIS_PAGER before PAGER; not in a pipe"
for command in log "show best" "diff best" "help journal" "help manifest.metric"; do
    on 80 "PAGER='sed s/^/P/' '$APSIS' $command"
    is "$command" "$(printf '%s\n' "$out" | grep -vc '^P')" 0
    like "$command in a pipe" "$(PAGER='sed s/^/P/' "$APSIS" $command | head -n 1)" "^[^P]"
done
on 80 "PAGER='sed s/^/P/' APSIS_PAGER='sed s/^/A/' '$APSIS' log"
line "its own" "$out" "^A"
no_line "status has none" "$(PAGER='sed s/^/P/' script -qec "'$APSIS' status" /dev/null)" "^P"
on 80 "PAGER='head -n 1' '$APSIS' log; echo exit \$?"
line "one that ends early is no error" "$out" "^exit 0"
no_line "nothing is said of it" "$out" "apsis:"
end_item

item "help fits a terminal of 50 columns"
for command in --help "log --help" "init --help" "run --help" "lab --help"; do
    on 50 "'$APSIS' $command"
    is "$command" "$(printf '%s\n' "$out" | grep -v '{.*}\|^ *[^ ]*}\|(\[' | wc -L | awk '{print ($1 <= 50)}')" 1
done
end_item

item "a journal and a state that a repository brings along do not control the terminal"
cp -r "$T/t" "$T/brought" && cd "$T/brought" && rm -f .apsis/fold
sed -i 's/"\(timestamp\|operator\|strategy\|model\|metric\|hypothesis\)":"/&\\u001b]0;PWNED\\u0007\\u009b31mRED\\u202eREVERSED/g' logs/results.jsonl
sed -i 's/"\(status\|reason\)":"/&\\u001b]0;PWNED\\u0007\\u009b31mRED\\u202eREVERSED/g' logs/state.json
for command in status log "log --graph" "show 1" best "diff best" "replay --check"; do
    on 120 "'$APSIS' $command"
    unlike "$command" "$out" "$ESC]|$(printf '\007')|$(printf '\302\233')|$(printf '\342\200\256')"
done
like "which they bring" "$("$APSIS" status 2>&1)" PWNED
cd "$T/t" || exit 1
end_item

item "nor does a file's name that init asks about"
mkdir "$T/names" && cd "$T/names" && git init -q . || exit 1
printf 'echo METRIC x=1\n' >"$(printf 'bench\033]0;PWNED\007.sh')" && commit
out=$(: | script -qec "'$APSIS' init" /dev/null)
like "it is asked about" "$out" PWNED
unlike "without a sequence" "$out" "$ESC]"
cd "$T/t" || exit 1
end_item

is "-V is --version" "$("$APSIS" -V)" "$("$APSIS" --version)"

finish
