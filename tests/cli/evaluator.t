#!/usr/bin/env bash
# What measures is not bent unseen: the baseline carries a digest of it, and what was changed since then is refused with the remedy, by
# whoever it was changed: the manifest's commands, the metric, a hidden file, a file that a command names. What is harmless is not.
. tests/cli/lib.sh || exit 1

REMEDY='apsis baseline --again'

# measured NAME: a project of which the baseline and an experiment are measured.
measured() {
    MEASURE='sh evaluate.sh rules.txt' RULES='  - {path: "judge/**", mode: hidden}
  - {path: "doc/**", mode: read_only}' new_project "$1"
    mkdir judge doc
    echo one >judge/a && echo two >judge/b.md && echo three >doc/guide.md && echo four >doc/table.csv
    echo strict >rules.txt
    echo "A readme" >README.md
    commit
    apsis baseline -q
    apsis run --iterations 1 -q
    [ "$code" = 0 ] || echo "Bail out! $err"
}
refused() { # WHAT: in the message
    apsis run --iterations 1 -q
    is "exit" "$code" 2
    like "it names what was changed" "$err" "$1"
    like "and the remedy" "$err" "$REMEDY"
    is "nothing was measured" "$(lines)" "${before:-2}"
    apsis step -q
    is "step, too" "$code" 2
}
goes_on() {
    apsis run --iterations 1 -q
    is "exit" "$code" 0
    unlike "no word of the evaluator" "$err" "evaluator"
}

item "verification.commands changed in the manifest"
measured commands
sed -i 's/sh evaluate.sh rules.txt/echo METRIC score=1000/' manifest.yaml
refused 'manifest.yaml:[0-9]+: verification'
commit 'and committed'
refused 'verification'
end_item

item "the metric's name"
measured name
sed -i 's/name: score/name: points/' manifest.yaml
refused 'metric'
end_item

item "the metric's direction"
measured direction
sed -i 's/direction: higher/direction: lower/' manifest.yaml
refused 'metric'
end_item

item "the metric's extractor"
measured extractor
sed -i "s/direction: higher/direction: higher, extractor: {type: stdout_regex, regex: '(1).*'}/" manifest.yaml
refused 'metric'
end_item

for file in evaluate.sh judge/a judge/b.md rules.txt doc/table.csv; do
    item "a commit changes $file, which measures"
    measured "file-${file//[^a-z]/-}"
    echo '# another' >>"$file"
    commit another
    refused "$file"
    end_item
done

item "a commit removes a hidden file; another adds one"
measured less
git rm -q judge/a && git commit -qm less
refused judge/a
git revert --no-edit HEAD >/dev/null && goes_on
echo five >judge/c && commit more
before=3 refused judge/c
end_item

item "a rule makes a file writable that measures"
measured rule
sed -i 's/{path: evaluate.sh, mode: hidden}/{path: evaluate.sh, mode: writable}/' manifest.yaml
refused 'files'
end_item

item "which metric a stage's threshold is of"
measured threshold
sed -i "s/^  commands:.*/  commands: [{run: 'sh evaluate.sh rules.txt', threshold: 0, threshold_of: score}, {run: 'sh evaluate.sh', stage: 2}]/" manifest.yaml
commit "a stage" && apsis baseline --again -q
sed -i 's/, threshold_of: score//' manifest.yaml
commit "of the metric"
before=3
refused 'threshold_of'
before=
end_item

item "a hidden file that git ignores"
new_project ignored
echo secret.txt >>.gitignore
echo 7 >secret.txt
sed -i 's/  - {path: evaluate.sh, mode: hidden}/&\n  - {path: secret.txt, mode: hidden}/' manifest.yaml
commit
apsis baseline -q
apsis run --iterations 1 -q
is "exit" "$code" 0
echo 8 >secret.txt
refused secret.txt
end_item

item "the same during the run"
echo 7 >secret.txt
cat >propose.lua <<END
return function(proposal)
  local file = assert(io.open("$PWD/secret.txt", "w"))
  file:write("9\\n")
  file:close()
  return { ["value.txt"] = proposal.experiment .. "\\n" }
end
END
git commit -qam "propose.lua is the provider's"
"$APSIS" baseline --again -q 2>/dev/null
apsis run --iterations 5 -q
is "exit" "$code" 2
like "why" "$err" "secret.txt"
is "it ended at once" "$(lines)" 4
end_item

item "a script outside the project that a command names"
echo 'echo "METRIC score=$(cat value.txt)"' >"$T/outside.sh"
MEASURE="sh $T/outside.sh" new_project outside
apsis baseline -q
apsis run --iterations 1 -q
is "exit" "$code" 0
echo 'echo METRIC score=1000' >"$T/outside.sh"
refused "$T/outside.sh"
end_item

item "what is harmless is not refused"
measured harmless
sed -i 's/^version: 1/# a comment\nversion: 1\nbudget: {minutes: 5}/; s/timeout_sec: 10/timeout_sec: 20/; s/name: measure,/name: other,/; s/direction: higher/direction: higher, unit: points, target: 1000/' manifest.yaml
sed -i 's/  - {path: value.txt, mode: writable}/  - {path: value.txt, mode: "writable"}/' manifest.yaml
goes_on
echo more >>README.md && echo more >>doc/guide.md && echo "# Do it" >program.md && echo '-- another' >>propose.lua && echo 5 >value.txt
commit docs
goes_on
echo '# not committed: candidates have the committed one' >>evaluate.sh
goes_on
like "but there is a word of it" "$err" "1 uncommitted change .evaluate.sh.: candidates"
git checkout -q evaluate.sh
echo "Do this instead." >>program.md && mkdir -p prompts && echo '# mine' >>manifest.yaml && echo '-- yet another' >>propose.lua
goes_on
unlike "what is read from the disk has effect as it is" "$err" "uncommitted change"
git checkout -q program.md manifest.yaml propose.lua
sed -i 's/^provider: .*/provider: {kind: command, run: "echo 77 >value.txt"}/' manifest.yaml
commit "another provider"
goes_on
is "lines" "$(lines)" 7
end_item

item "baseline --again: candidates are compared under the new evaluator only"
measured again
sed -i 's/sh evaluate.sh rules.txt/echo METRIC score=-5/' manifest.yaml
apsis baseline --again -q
is "exit" "$code" 0
apsis best --json
is "the best" "$(json value)" -5
goes_on
end_item

item "at a terminal baseline --again asks, and shows what has changed"
measured terminal
sed -i 's/sh evaluate.sh rules.txt/echo METRIC score=-5/' manifest.yaml
out=$( (sleep 0.5; echo n; sleep 0.5) | script -qec "'$APSIS' baseline --again -q" /dev/null | tr -d '\r')
like "the question" "$out" "verification has changed since c0000.*new baseline.*y/N"
is "no" "$(lines)" 2
(sleep 0.5; echo y; sleep 1) | script -qec "'$APSIS' baseline --again -q" /dev/null >/dev/null
is "yes" "$(lines)" 3
: | script -qec "'$APSIS' baseline --again -q --yes" /dev/null >/dev/null
is "--yes" "$(lines)" 4
end_item

# without_record LINE: somebody removes the digest of the evaluator from that line of the journal.
without_record() {
    sed -i -E "$1"'s/"evaluator":\{[^}]*\},?//' logs/results.jsonl
    rm -f .apsis/fold
}

item "a baseline without a digest of the evaluator: a warning, once, by run, step and submit"
measured driven
without_record 1
echo 1000 >value.txt
apsis submit --new-run
is "submit" "$code $(grep -c 'has no digest of the evaluator' <<<"$err")" "0 1"
measured old
apsis run --iterations 1 -q
unlike "none with the record" "$err" "no digest of the evaluator"
without_record 1
sed -i 's/sh evaluate.sh rules.txt/sh evaluate.sh/' manifest.yaml
apsis run --iterations 2 -q
is "exit" "$code" 0
is "run" "$(grep -c 'the baseline c0000 has no digest of the evaluator' <<<"$err")" 1
like "the remedy" "$err" "$REMEDY"
apsis step -q
is "step" "$code $(grep -c 'has no digest of the evaluator' <<<"$err")" "0 1"
sed -i -E '1s/"experiment":0/"evaluator":{"apart":""},&/' logs/results.jsonl
rm -f .apsis/fold
apsis step -q
is "an empty record is none" "$code $(grep -c 'has no digest of the evaluator' <<<"$err")" "0 1"
apsis baseline --again -q
apsis step -q
is "a new baseline has one" "$code" 0
unlike "no warning" "$err" "no digest of the evaluator"
end_item

item "another line has such a record, and the newest baseline lacks it"
at=$(grep -n '"outcome":"baseline"' logs/results.jsonl | tail -n 1 | cut -d: -f1)
measured_lines=$(lines)
sed -i -E '1s/"evaluator":\{[^}]*\}/"evaluator":{"verification":"0"}/' logs/results.jsonl
without_record "$at"
for command in "run --iterations 1" step; do
    apsis $command -q
    is "$command: exit" "$code" 2
    like "where" "$err" "logs/results.jsonl:$at: the baseline c[0-9]+ has no digest of the evaluator, and c0000 has one"
    like "the remedy" "$err" "$REMEDY"
done
is "nothing was measured" "$(lines)" "$measured_lines"
end_item

finish
