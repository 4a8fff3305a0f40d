#!/usr/bin/env bash
# How a standing goal's evaluation may say its number: as JSON or as a METRIC line, without a word about which; what is said where it
# says neither; and the goal's name in the place of its path.
. tests/cli/lib.sh || exit 1
goals=0

# goal: a repository in $T/goal1, goal2, ... with the goal `coverage` that `apsis init --program` writes, filled in; which becomes the current
# directory. measure.sh is what measures: standard input.
goal() {
    goals=$((goals + 1))
    mkdir "$T/goal$goals" && cd "$T/goal$goals" || exit 1
    git init -q .
    apsis init --program coverage
    sed -i -e 1,2d -e 's/^provider:.*/provider: {kind: lua, use: next.lua}/' -e 's/^REPLACE_WITH_GOAL:/More:/' -e 's/REPLACE_WITH_FILE/value.txt/' \
        -e 's/REPLACE_WITH_COMMAND/sh measure.sh/' -e "s/REPLACE_WITH_METRIC/${METRIC-coverage}/g" .autoloop/programs/coverage.md
    cat >measure.sh
    echo 80 >value.txt
    echo 'return function() return { ["value.txt"] = "81.5\n" } end' >next.lua
    git add -A && git commit -qm goal
}

row() { git show memory/autoloop:coverage.md | sed -nE "s/^\| $1 \| (.*) \|\$/\1/p"; }
reason() { sed -nE 's/.*"(description|rollback_reason)": *"(([^"\\]|\\.)*)".*/\2/p' .autoloop/programs/coverage/logs/results.jsonl | tail -n 1; }

# is_read NAME: the template's goal works with this measure.sh, at its first tick.
is_read() {
    item "$1 is read, though the prose speaks of both"
    goal
    apsis tick --quiet
    is "exit" "$code" 0
    is "what it was and became" "$(row 'Initial Metric') $(row 'Best Metric')" "80 81.5"
    end_item
}

is_read "JSON" <<'END'
echo "{\"coverage\": $(cat value.txt), \"lines\": 3}"
END
is_read "JSON over several lines among other output" <<'END'
printf 'ran 3 tests\n{\n  "lines": 3,\n  "coverage"\n  :\n    %s\n}\ndone\n' "$(cat value.txt)"
END
is_read "a METRIC line" <<'END'
echo "METRIC coverage=$(cat value.txt)"
END
is_read "a METRIC line, rather than JSON of the same name," <<'END'
echo '{"coverage": 1}' && echo "METRIC coverage=$(cat value.txt)"
END
is_read "JSON beside METRIC lines of other names" <<'END'
echo METRIC lines=3 && echo "{\"coverage\": $(cat value.txt)}"
END
is_read "what APSIS_METRICS has" <<'END'
echo '{"coverage": 1}' && echo "METRIC coverage=$(cat value.txt)" >"$APSIS_METRICS"
END
METRIC=line-rate is_read "JSON with a name that no METRIC line may have" <<'END'
echo "{\"line-rate\": $(cat value.txt)}"
END

# says NAME PATTERN: where this measure.sh has no such number, the tick fails with the reason, in words, on the terminal and in the files.
says() {
    item "without the metric: $1"
    goal
    apsis tick --quiet
    is "exit" "$code" 5
    like "said" "$err" "$2"
    unlike "no regular expression on the terminal" "$out$err" '\\s|\[0-9\]'
    unlike "nor in any file" "$(cat .autoloop/programs/coverage/logs/*; git show memory/autoloop:coverage.md 2>/dev/null)" '\\s|\[0-9\]'
    end_item
}

neither='neither a line METRIC coverage=NUMBER nor JSON with .?"coverage.?": NUMBER in the output of evaluate'
says "nothing at all" "$neither; verifier.log has what it printed" <<'END'
echo all is well
END
says "JSON with another name" "$neither; it has JSON of coverge, lines; did you mean .?\"coverge" <<'END'
echo '{"coverge": 80, "lines": 3, "tool": "x"}'
END
says "METRIC lines with another name" "$neither; it has METRIC lines of Coverage, lines; did you mean .?\"Coverage" <<'END'
echo METRIC lines=3 && echo METRIC Coverage=80
END
says "no number" "$neither; it has .?\"coverage.?\": null, which is no number" <<'END'
echo '{"coverage": null}'
END
says "a METRIC line that is none" "$neither; near miss at line 1: .*not a number: 80%" <<'END'
echo METRIC coverage=80%
END
says "names that are no text" "$neither; it has JSON of b, c, d, e, f, \.\.\.;" <<'END'
printf '{"a\033[2J": 1, "b": 1, "c": 2, "\377": 3, "d": 4, "e": 5, "f": 6, "g": 7}\n'
END

item "without the metric in an experiment: it is rejected, and the journal says why in words"
goal <<'END'
[ "$(cat value.txt)" != 80 ] || echo '{"coverage": 80}'
END
apsis tick --quiet
is "exit" "$code" 0
is "best" "$(row 'Best Metric')" 80
like "why" "$(reason)" "^neither a line METRIC coverage=NUMBER nor JSON with"
unlike "no regular expression" "$(cat .autoloop/programs/coverage/logs/*; git show memory/autoloop:coverage.md)" '\\s|\[0-9\]'
end_item

item "an evaluator that prints null rejects the candidate: its reason is everywhere, and three of them are no errors"
METRIC=fitness goal <<'END'
[ "$(cat value.txt)" = 80 ] && echo '{"fitness": 80}' || echo '{"fitness": null, "rejected_reason": "tests failed"}'
END
sed -i "s/^provider:.*/provider: {kind: command, run: 'echo \$APSIS_EXPERIMENT >value.txt'}/" .autoloop/programs/coverage.md
git commit -qam many
for _ in 1 2 3; do apsis tick --program coverage --quiet; done
why='rejected by the evaluator (.?"fitness.?": null): tests failed'
is "exit" "$code" 0
is "lines" "$(grep '"outcome":"reverted_stage_failure"' .autoloop/programs/coverage/logs/results.jsonl | grep -c '"status":"discard"')" 3
like "the line" "$(reason)" "^${why//[()]/.}$"
is "no errors" "$(row Paused) $(row 'Consecutive Errors') $(row 'Recent Statuses')" "false 0 rejected, rejected, rejected"
state=$(git show memory/autoloop:coverage.md)
like "the state file" "$state" "Status\*\*: ❌ Rejected"
like "with the reason" "$state" "Notes\*\*: ${why//[()]/.}"
like "the log" "$(cat .autoloop/programs/coverage/logs/apsis.log)" "tests failed"
apsis show c0003 --prompt -C coverage
like "the next prompt" "$out" "c0002 rejected.*why: ${why//[()]/.}"
end_item

item "null in a JSON file rejects, too; NaN is a failure"
new_project file
sed -i 's/^metric: .*/metric: {name: score, extractor: {type: json_file, path: out.json, json_pointer: \/of\/score}}/' manifest.yaml
cat >evaluate.sh <<'END'
case $(cat value.txt) in
    0) echo '{"of": {"score": 1}}' ;;
    1) echo '{"of": {"score": null, "error": "tests failed"}}' ;;
    *) echo '{"of": {"score": NaN, "error": "tests failed"}}' ;;
esac >out.json
END
git add -A && git commit -qm file
apsis baseline
apsis run --iterations 2 -q
is "outcomes" "$(field 1 outcome) $(field 2 outcome)" "reverted_stage_failure skipped_verification_crash"
is "why" "$(field 1 rollback_reason)" 'rejected by the evaluator ("score": null): tests failed'
apsis replay --check
is "a replay decides the same" "$code" 0
end_item

item "a manifest's METRIC line with a name in JSON for where there is none"
new_project lines
sed -i 's/^metric: .*/metric: {name: score, extractor: {json: points}}/' manifest.yaml
echo 'echo "{\"points\": $(cat value.txt)}"; [ "$(cat value.txt)" != 1 ] || echo METRIC score=10' >evaluate.sh
git add -A && git commit -qm lines
apsis baseline
like "without a line" "$out" "= 0"
apsis run --iterations 2 -q
is "with one" "$(sed -nE 's/.*"primary_metric": *([0-9.]+).*/\1/p' logs/results.jsonl | tr '\n' ' ')" "0 10 2 "
echo 'echo nothing' >evaluate.sh && git commit -qam nothing
apsis eval
like "with neither" "$err" "neither a line METRIC score=NUMBER nor JSON with .?"points.?": NUMBER in the output of measure"
end_item

item "a goal's name does where a directory does"
cd "$T/goal1" && mkdir -p src coverage && cd src || exit 1
for command in status log "show c0001 -C" "diff c0001 -C" best; do
    apsis $command coverage
    is "$command" "$code" 0
done
apsis log covrage
like "nearly its name" "$err" "covrage: no such directory, and no goal has that name; .*did you mean 'coverage'"
cd ..
apsis log coverage
is "where there is a directory of that name, but no project" "$code" 0
apsis status
is "without a name" "$code" 2
like "the names" "$err" "; the goals of this repository: coverage: apsis log coverage$"
end_item

finish
