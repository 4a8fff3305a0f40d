#!/bin/bash
# bad_journal: what files of apsis's own that are torn, corrupt, missing or from elsewhere get. The journal is never cut
# in the middle and no line is skipped; everything else is rebuilt from it.
. tests/cli/lib.sh || exit 1

# measured NAME: a project with a baseline and two kept experiments.
measured() {
    new_project "$1"
    apsis baseline
    apsis run --iterations 2
    is "a run before" "$code" 0
}

# goes_on: a run of one more experiment works and takes number 3.
goes_on() {
    apsis run --iterations 1
    is "run" "$code" 0
    is "experiment 3" "$(field 3 outcome)" kept
    is "lines" "$(lines)" 4
    is "the branch has the best tree" "$(git show apsis/tiny:value.txt)" 3
}

# torn NAME BYTES...: the journal with this after its last newline: cut, said, and nothing else lost.
torn() {
    item "results.jsonl with a torn last line: $1: it is cut and said"
    measured "torn$count"
    cp logs/results.jsonl "$T/whole"
    printf "$2" >>logs/results.jsonl
    apsis log
    is "log reads it meanwhile" "$code" 0
    goes_on
    like "said" "$err" "torn"
    ok "the lines before are as they were" cmp -n "$(stat -c %s "$T/whole")" "$T/whole" logs/results.jsonl
    end_item
}
torn "half an object" '{"experiment":3,"outc'
torn "zero bytes" '\0\0\0\0\0\0\0\0'
torn "a whole object without its newline" '{"experiment":3,"outcome":"kept","primary_metric":9}'

item "results.jsonl whose last real line is torn: that experiment is done again under its number"
measured real
size=$(stat -c %s logs/results.jsonl)
truncate -s $((size - 20)) logs/results.jsonl
apsis run --iterations 1
is "run" "$code" 0
like "said" "$err" "torn"
is "experiment 2" "$(field 2 outcome)" kept
is "numbers" "$(grep -o '"experiment":[0-9]*' logs/results.jsonl | sort -u | wc -l | tr -d ' ')" "$(lines)"
is "the branch has the best tree" "$(git show apsis/tiny:value.txt)" "$(git show "refs/apsis/tiny/c000$(($(lines) - 1)):value.txt")"
end_item

# corrupt NAME SED: a line in the middle changed so: exit 3 with the line's number and the remedy; the file stays as it
# is.
corrupt() {
    item "results.jsonl with a corrupt middle line: $1: refused with its number and the remedy"
    measured "corrupt$count"
    sed -i "$2" logs/results.jsonl
    cp logs/results.jsonl "$T/before"
    for command in "run --iterations 1" baseline; do
        apsis $command
        is "exit code of $command" "$code" 3
        like "file and line" "$err" "results\.jsonl:2:"
        like "remedy" "$err" "restore|backup|by hand"
        unlike "message" "$err" "traceback"
    done
    ok "the journal is untouched" cmp logs/results.jsonl "$T/before"
    for command in log status best; do
        apsis "$command"
        unlike "$command does not pass over it" "$code" "^0$"
        like "$command says where" "$err" "results\.jsonl:2:"
    done
    end_item
}
corrupt "no JSON" '2s/^{/{{/'
corrupt "cut short" '2s/.....$//'
corrupt "an empty line" '2s/.*//'
corrupt "zero bytes" '2s/.*/\x00\x00\x00/'
corrupt "a number" '2s/.*/7/'
corrupt "an outcome nobody knows" '2s/"outcome":"kept"/"outcome":"superb"/'
corrupt "no experiment number" '2s/"experiment":1,//'
corrupt "a number that was there before" '2s/"experiment":1,/"experiment":0,/'
corrupt "a duplicate key" '2s/^{/{"experiment":1,/'

# asking NAME: a project whose provider is a command, so that the hook prompt reads recent lines; two experiments.
asking() {
    mkdir "$T/$1" && cd "$T/$1" && git init -q .
    fill_project
    echo 'cat >/dev/null; echo "$APSIS_EXPERIMENT" >value.txt' >propose.sh
    sed -i 's/^provider:.*/provider: {kind: command, run: sh propose.sh}/' manifest.yaml
    commit
    apsis baseline
    apsis run --iterations 2
    is "a run before" "$code" 0
}

item "results.jsonl with a field of the wrong type that only a hook reads: the run ends there, names line and field"
asking typed
cp logs/results.jsonl "$T/good"
cat >"$T/put.lua" <<'END'
-- put FILE LINE KEY VALUE: the file with a field of a line changed.
local json = require "apsis.json"
local path, wanted, key, value = ...
local number = 0
for text in io.lines(path) do
  number = number + 1
  local line = json.decode(text)
  if number == tonumber(wanted) then line[key] = json.decode(value) end
  print(json.encode(line))
end
END
for change in 'rollback_reason=[1]' 'context=7' 'delta="x"' 'parents=[7]' 'proposal=[1]' 'learned={}' 'samples=["x"]' \
    'secondary_metrics={"a":"x"}' 'stage="x"' 'description=[2]' 'hypothesis=4' 'notes=3'; do
    rm -f .apsis/digests # it would warn first
    "$APSIS" exec "$T/put.lua" "$T/good" 2 "${change%%=*}" "${change#*=}" >logs/results.jsonl
    for command in "run --iterations 1" report; do
        apsis $command
        is "exit code of $command: $change" "$code" 3
        like "line and field: $command: $change" "$err" "results\.jsonl:2: ${change%%=*}.*(restore|backup)"
        unlike "$command: $change" "$err$out" "traceback"
    done
    is "lines: $change" "$(lines)" 3
done
cp "$T/good" logs/results.jsonl
apsis run --iterations 1
is "run with the whole journal" "$code" 0
is "experiment 3" "$(field 3 outcome)" kept
end_item

item "results.jsonl is missing and the candidates' refs are there: baseline refuses rather than overwrite them"
measured missing
rm logs/results.jsonl
apsis baseline
is "exit code" "$code" 3
like "remedy" "$err" "refs/apsis/tiny"
is "the candidate's ref" "$(git show refs/apsis/tiny/c0002:value.txt)" 2
end_item

# state NAME COMMAND: logs/state.json damaged so: the run goes on, from the journal.
state() {
    item "state.json $1: rebuilt"
    measured "state$count"
    eval "$2"
    goes_on
    [ -z "${3-}" ] || like "said" "$err$(cat logs/apsis.log 2>/dev/null)" "$3"
    ok "it is whole again" "$APSIS" exec "$ROOT/tests/cli/state.lua" logs/state.json
    end_item
}
state "empty" ': >logs/state.json' "rebuilt"
state "missing" 'rm logs/state.json'
state "torn" 'truncate -s 30 logs/state.json' "rebuilt"
state "of random bytes" 'head -c 500 /dev/urandom >logs/state.json' "rebuilt"
state "from another version" 'sed -i s/\"version\":1/\"version\":2/ logs/state.json' "another version"
state "with a limit that is no number" \
    'echo "{\"version\":1,\"status\":\"interrupted\",\"run\":1,\"limits\":{\"iterations\":\"x\"}}" >logs/state.json' \
    "logs/state.json: limits.iterations: not a number"
state "from goalseek" 'echo "{\"status\":\"running\",\"current_iteration\":7,\"current_phase\":\"VERIFY\"}" >logs/state.json'
state "with values of other types" \
    'echo "{\"version\":1,\"status\":7,\"run\":\"x\",\"slots\":3,\"limits\":[],\"elapsed_s\":\"y\",\"pid\":{}}" >logs/state.json'
state "that says a run is going on, by a process long gone" \
    'sed -i -e s/\"finished\"/\"running\"/ -e "s/\"pid\":[0-9]*/\"pid\":999999/" logs/state.json'

item "proposal.json of an experiment in flight is torn: it is planned anew under its number"
measured planned
mkdir runs/0003 && echo '{"experiment":3,"prop' >runs/0003/proposal.json
goes_on
end_item

item "runs/ is removed: the run goes on from the journal"
measured noruns
rm -r runs
goes_on
end_item

item "the workspaces are removed or damaged between two runs: made again"
measured workspaces
find "$XDG_CACHE_HOME" -name value.txt -exec sh -c 'echo 99 >"$1"' - {} \;
find "$XDG_CACHE_HOME" -type d -name 'verify-*' -exec mkdir {}/rubbish \;
goes_on
rm -r "$XDG_CACHE_HOME"
apsis run --iterations 1
is "run" "$code" 0
is "experiment 4" "$(field 4 outcome)" kept
end_item

item "a stale lock file on the run's own refs is removed at start"
measured stale
touch -d "1 minute ago" .git/refs/heads/apsis/tiny.lock
touch .git/refs/apsis/tiny/c0003.lock
goes_on
end_item

finish
