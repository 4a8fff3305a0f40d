# debug finds planted bugs of three kinds: one breakpoint each, of those that docs/guide/debug.md lists, stops at the
# bug's first effect, and does not once the file is corrected.
. tests/cli/lib.sh

planted=$PWD/tests/data/planted
mkdir "$T/here" && cd "$T/here" || exit 1

# session COMMANDS STRATEGY WORLD: $out
session() {
    out=$(printf "$1" | timeout -k 5 60 "$APSIS" debug --strategy "$2" --world "$3" --evaluations 60 --seed 2 2>&1)
}
last() { printf '%s\n' "$out" | grep '^step' | tail -n 1; }

# bug NAME WORLD BREAKPOINT COMMANDS HOOK CORRECTION: the correction is for sed.
bug() {
    cp "$planted/$1.lua" .
    session "b $3\nc\n$4l\n" "$1.lua" "$2"
    line "it stops" "$(last)" "experiment [0-9]+: $5 \($1.lua"
    line "with the source" "$out" "^ +[0-9]+  function $1.$5"
    found=$out
    sed -i "$6" "$1.lua"
    session "b $3\nc\n" "$1.lua" "$2"
    line "once it is corrected, it does not" "$out" "^the journal ends here"
}

item "a candidate is kept that is worse: the direction is mistaken"
bug direction sphere:d=3 'accept if returned and run.since_best < 10 and not run.metric:better(candidate, run.current)' '' \
    accept 's/candidate.value > run.current.value - slack/candidate.value < run.current.value + slack/'
line "the value is worse" "$found" '^  candidate +c0'
end_item

item "a parent that was rejected"
bug parent onemax:n=20 'plan if not returned.parents[1].kept' '' plan 's/newest.value and newest.delta ~= 0/newest.kept/'
line "the parent" "$found" '^  returned +\{ parents = \{ c0'
end_item

item "what should be as before is not reset: a second restart directly after the first"
bug restart onemax:n=20 'plan if returned.operator == "restart" and run.history[#run.history].operator == "restart"' '' plan \
    's/if line.kept then/if line.kept or line.operator == "restart" then/'
end_item
finish
