#!/bin/bash
# checkpoint: .apsis/fold, with which who only reads a long journal goes on from where a run has folded it. It never makes
# an answer differ: the journal is the truth, whatever becomes of either.
. tests/cli/lib.sh || exit 1

# A project with a run of two workers, of which some experiments measured others again.
STRATEGY=mine.lua new_project original
cat >mine.lua <<'END'
return {
  plan = function(run)
    if run.experiment % 4 == 3 then return { measure = { run.best.id, "c0000" } } end
    return { parents = { run.best } }
  end,
  halt = function() end,
}
END
printf '%s\n' 'return function(proposal) local n = proposal.experiment' \
    'return { ["value.txt"] = (n % 3 == 0 and n or -n) .. "\n" } end' >propose.lua
commit "a strategy"
apsis baseline
apsis run --iterations 7 --workers 2

# made NAME: a copy of it that went on by itself, so that the checkpoint is its own.
made() {
    cp -a "$T/original" "$T/$1" && cd "$T/$1" || exit 1
    apsis run --iterations 1
    is "the run" "$code" 0
}

views=("status --json" "log --json" "log" "log --graph -n 3" "best --json" "show --json 1" "report --json")

# same WHEN: every view is the same with the checkpoint and without; nothing is said of it.
same() {
    local view
    for view in "${views[@]}"; do
        apsis $view
        cp "$T/.out" "$T/with"
        is "$1: $view" "$code" 0
        is "$1: what $view says" "$err" ""
        mv .apsis/fold "$T/fold" 2>/dev/null
        apsis $view
        ok "$1: $view is the same without" cmp "$T/.out" "$T/with"
        [ -e .apsis/fold ] && verdict no "$1: $view wrote a checkpoint"
        mv "$T/fold" .apsis/fold 2>/dev/null
    done
}

# Gives the checkpoint, which was edited, the digest of what it has now.
cat >"$T/sign.lua" <<'END'
local fs, state = require "apsis.fs", require "apsis.state"
local text = fs.read(".apsis/fold"):sub(1, -17)
assert(fs.write(".apsis/fold", text .. state.digest(text)))
END
sign() { "$APSIS" exec "$T/sign.lua"; }

# The checkpoint lies from here on, so that one sees whether it is believed: it tells of five baselines.
lie() {
    sed -i 's/"baseline":[12]\([,}]\)/"baseline":5\1/' .apsis/fold
    sign
    ok "there is a checkpoint" grep -aq '"baseline":5' .apsis/fold
}

# baselines: how many status tells of.
baselines() {
    apsis status --json
    json outcomes.baseline
}

item "after a run readers go on from its checkpoint, see the same as without, and leave it alone"
made read
same "after a run"
cp .apsis/fold "$T/before"
for view in "${views[@]}"; do apsis $view; done
ok "untouched" cmp .apsis/fold "$T/before"
lie
is "it is read" "$(baselines)" 5
end_item

item "a run and a baseline write it anew"
made again
rm .apsis/fold
apsis run --iterations 2
lie
is "after a run" "$(baselines)" 5
apsis baseline --again
same "after baseline --again"
lie
is "after baseline --again" "$(baselines)" 5
end_item

views=("status --json" "log --json" "report --json")

# changed NAME COMMAND: the journal is changed so, and the checkpoint is not believed.
changed() {
    item "the journal is $1: the checkpoint is passed over"
    made "changed$count"
    lie
    eval "$2"
    rm .apsis/digests # seal.t has the warning
    is "what status tells" "$(baselines)" 1
    same "then"
    end_item
}
journal=logs/results.jsonl
changed "edited to another file of the same size" "sed -i '3s/\"cost\":0/\"cost\":7/' $journal"
in_place() { printf 7 | dd of=$journal bs=1 conv=notrunc seek="$(grep -ob '"cost":0' $journal | sed -n 2p | awk -F: '{ print $1 + 7 }')" 2>/dev/null; }
changed "edited in place, with its size kept" in_place
changed "edited in place, with its size and time kept" "touch -r $journal $T/time; in_place; touch -r $T/time $journal"
changed "replaced by a copy of itself" "cp $journal $T/copy; mv $T/copy $journal"
changed "cut by its last line" "truncate -s -\"\$(tail -n 1 $journal | wc -c)\" $journal"
changed "cut and written again in place" "cp $journal $T/copy; cat $T/copy >$journal"
changed "longer, though no run goes on" \
    "tail -n 1 $journal | sed 's/\"experiment\":[0-9]*/\"experiment\":99/; s/\"candidate\":\"c[0-9]*\"/\"candidate\":\"c0099\"/' >$T/more; cat $T/more >>$journal; git update-ref refs/apsis/tiny/c0099 refs/apsis/tiny/c0010"

# passed_over NAME COMMAND: the checkpoint is changed so, and nobody says a word.
passed_over() {
    item "a checkpoint that is $1 is passed over without a word"
    made "over$count"
    lie
    eval "$2"
    is "what status tells" "$(baselines)" 1
    same "then"
    apsis run --iterations 1
    is "a run" "$code" 0
    lie
    is "it is whole again" "$(baselines)" 5
    end_item
}
passed_over "empty" ': >.apsis/fold'
passed_over "torn in its first line" 'truncate -s 40 .apsis/fold'
passed_over "torn in the middle" 'truncate -s 4500 .apsis/fold'
passed_over "torn at its end" 'truncate -s -1 .apsis/fold'
passed_over "of random bytes" 'head -c 5000 /dev/urandom >.apsis/fold'
passed_over "edited" 'sed -i "s/\"baseline\":5/\"baseline\":7/" .apsis/fold'
passed_over "of another version" 'sed -i "1s/\"apsis\":\"[^\"]*\"/\"apsis\":\"9.9.9\"/" .apsis/fold; sign'
passed_over "of wrong types" 'sed -i "s/\"since_best\":[0-9]*/\"since_best\":\"x\"/" .apsis/fold; sign'
passed_over "of a line that is not there" 'sed -i "s/\"at\":[0-9]*/\"at\":77777/g" .apsis/fold; sign'

item "the manifest has another epsilon: what was folded by the old one is passed over"
made epsilon
lie
sed -i 's/direction: higher}/direction: higher, epsilon: 0.5}/' manifest.yaml
is "what status tells" "$(baselines)" 1
same "then"
end_item

item "while a run goes on it is read as far as it goes, and after kill -9 it is passed over"
AGENT_SEC=600 agent <<END
echo \$APSIS_EXPERIMENT >value.txt
[ "\$APSIS_EXPERIMENT" -lt 5 ] || { touch "$T/waits"; sleep 500; }
END
STRATEGY=hillclimb new_project going
apsis baseline
"$APSIS" run -q --workers 1 >/dev/null 2>&1 </dev/null &
run=$!
wait_for "the fifth is asked" test -e "$T/waits"
wait_for "it is noted" grep -qs '"experiment": *5' logs/state.json
is "lines meanwhile" "$(lines)" 5
same "while it goes on"
lie
is "it is read" "$(baselines)" 5
kill -9 $run
wait $run 2>/dev/null
is "no more" "$(baselines)" 1
same "after kill -9"
in_place
rm .apsis/digests
same "and after an edit in place"
unset PROVIDER
end_item

item "an experiment that a fold cannot take leaves no checkpoint of it"
made damaged
lie
sed -i '2s/"outcome":"[a-z_]*"/"outcome":"superb"/' $journal
apsis run --iterations 1
is "the run refuses" "$code" 3
apsis status
is "status too" "$code" 3
like "it names the line" "$err" "results\.jsonl:2:"
end_item

item "no link is followed in its place"
made link
echo precious >"$T/precious"
ln -sf "$T/precious" .apsis/fold
apsis status
is "status refuses" "$code" 3
apsis run --iterations 1
is "a run refuses" "$code" 3
is "the target" "$(cat "$T/precious")" precious
end_item

finish
