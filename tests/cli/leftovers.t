#!/bin/bash
# leftovers: a verification's commands, checks and repeats each begin in the committed tree. What an earlier one added
# is gone, as it may be a candidate's, made to change what is measured.
. tests/cli/lib.sh || exit 1

# candidate <<SCRIPT: the provider makes own.sh, the candidate's own program, of it, and the next number.
candidate() {
    RULES="  - {path: own.sh, mode: writable}
  - {path: Makefile, mode: hidden}"
    cat >"$T/own.sh"
    agent <<END
cp '$T/own.sh' own.sh && echo "\$APSIS_EXPERIMENT" >value.txt
END
}

item "a candidate that runs in a check adds a makefile which make prefers to the committed one"
candidate <<'END'
printf 'measure:\n\t@echo METRIC score=1000000\n' >GNUmakefile
mkdir -p secret && echo 1000000 >secret/value
END
MEASURE='make -s measure' new_project check
printf 'measure:\n\t@test ! -d secret\n\t@echo METRIC score=$$(cat value.txt)\n' >Makefile
echo true >own.sh
sed -i "s/^verification:/&\n  checks: [{name: test, run: sh own.sh}]/" manifest.yaml
commit project
apsis baseline
apsis run --iterations 1
is "run" "$code" 0
is "what is measured" "$(field 1 primary_metric) $(field 1 outcome)" "1 kept"
end_item

item "a candidate's first repeat adds a file that the next one reads"
candidate <<'END'
[ ! -e forged ] || echo 1000000 >value
echo yes >forged
END
new_project repeats
printf 'sh own.sh\necho "METRIC score=$(cat value 2>/dev/null || cat value.txt)"\n' >evaluate.sh
echo true >own.sh
sed -i "s/^verification:/&\n  repeats: 3/" manifest.yaml
commit project
apsis baseline
apsis run --iterations 1
is "samples" "$(field 1 samples)" "[1,1,1]"
end_item

item "a check makes an empty folder, which make takes for a later check's target that is up to date"
echo 'mkdir -p lint deep/er' >"$T/own.sh"
RULES="  - {path: '*.txt', mode: writable}
  - {path: own.sh, mode: writable}
  - {path: Makefile, mode: hidden}"
agent <<END
cp '$T/own.sh' own.sh && echo "\$APSIS_EXPERIMENT" >value.txt && [ "\$APSIS_EXPERIMENT" = 1 ] || touch bad.txt
END
MEASURE='make -s measure' new_project empty
printf 'lint:\n\ttest ! -e bad.txt\nmeasure:\n\t@test ! -e deep\n\t@echo METRIC score=$$(cat value.txt)\n' >Makefile
echo true >own.sh
sed -i "s/^verification:/&\n  checks: [{name: test, run: sh own.sh}, {name: lint, run: make lint}]/" manifest.yaml
commit project
apsis baseline
apsis run --iterations 2
is "the folders do not stand in the way" "$(field 1 primary_metric) $(field 1 outcome)" "1 kept"
like "the later check runs" "$(field 2 outcome) $(field 2 rollback_reason)" "skipped_verification_crash check lint"
end_item

item "a candidate that runs in an earlier command writes the file for METRIC lines"
candidate <<'END'
echo METRIC score=1000000 >>"$APSIS_METRICS"
END
new_project metrics
echo : >own.sh
sed -i "s/^  commands: \[/&{name: build, run: sh own.sh}, /" manifest.yaml
commit project
apsis baseline
apsis run --iterations 1
like "where the evaluator prints them" "$(field 1 rollback_reason)" "measure prints METRIC score, which build wrote to the file that APSIS_METRICS names"
echo 'echo METRIC score=$(cat value.txt) >>"$APSIS_METRICS"' >evaluate.sh
commit evaluator
apsis baseline --again
apsis run --iterations 1
is "where it writes the file, too" "$(field 3 primary_metric)" 3
echo 'echo "{\"score\": $(cat value.txt)}"' >evaluate.sh
sed -i "s/direction: higher/&, extractor: {type: metric_lines, json: score}/" manifest.yaml
commit json
apsis baseline --again
apsis run --iterations 1
like "where it prints JSON" "$(field 5 rollback_reason)" "prints score as JSON, and build before it gave METRIC score"
echo 'echo METRIC score=1000000' >"$T/own.sh"
apsis run --iterations 1
like "and the candidate a line" "$(field 6 rollback_reason)" "prints score as JSON, and build before it gave METRIC score"
end_item

# checked NAME: a project whose check runs the candidate's own.sh.
checked() {
    new_project "$1"
    echo true >own.sh
    sed -i "s/^verification:/&\n  checks: [{name: test, run: sh own.sh}]/" manifest.yaml
}

# refused REGEX: nothing is measured of the one candidate, with this reason.
refused() {
    commit project
    apsis baseline
    is "baseline" "$code" 0
    apsis run --iterations 1
    is "outcome" "$(field 1 outcome)" skipped_verification_crash
    like "reason" "$(field 1 rollback_reason)" "verification changed committed files \($1"
}

item "a check rewrites the evaluator, and what runs later puts it back"
candidate <<'END'
if [ "$(wc -c <evaluate.sh)" -gt 25 ]; then
    cp evaluate.sh "$APSIS_RUN_DIR/evaluate.sh"
    printf 'echo METRIC score=1000\n' >evaluate.sh
else cp "$APSIS_RUN_DIR/evaluate.sh" evaluate.sh
fi
END
checked rewritten
sed -i "s/^  commands:/  repeats: 3\n&/" manifest.yaml
refused evaluate.sh
end_item

item "a check puts a smaller file in its own program's place, which puts it back"
candidate <<'END'
cp own.sh "$APSIS_RUN_DIR/own.sh"
printf 'cp "$APSIS_RUN_DIR/own.sh" own.sh' >own.sh
END
checked smaller
echo 'echo "METRIC score=$(wc -c <own.sh)"; sh own.sh' >evaluate.sh
refused own.sh
end_item

item "a check rewrites a hidden file that git ignores"
candidate <<'END'
[ ! -e expected.txt ] || echo 2 >expected.txt
END
RULES+="
  - {path: expected.txt, mode: hidden}"
checked ignored
echo expected.txt >>.gitignore
echo 1 >expected.txt
echo 'test "$(cat expected.txt)" = 2 && echo METRIC score=1000 || echo METRIC score=1' >evaluate.sh
refused expected.txt
end_item

item "a check makes a linked folder's link lead to the candidate's own files"
candidate <<'END'
[ ! -e tools ] || { rm tools; ln -s . tools; echo 'echo METRIC score=1000' >judge.sh; }
END
MEASURE='sh tools/judge.sh' EXTRA='workspace: {link: [tools]}' checked linked
echo tools >>.gitignore
mkdir tools && echo 'echo METRIC score=1' >tools/judge.sh
refused tools
end_item

unset RULES
item "an empty folder that the manifest keeps, and the one for the value's file, are there for the next command"
cat >"$T/three" <<'END'
  keep: ['build/**']
  commands: [{name: a, run: mkdir -p build/obj}, {name: b, run: 'test -d build/obj && test -d out/last'},
    {name: c, run: 'echo "{\"v\": $(cat value.txt)}" >out/last/v.json'}]
END
new_project folders_kept
sed -i -e "/^  commands:/{r $T/three
d}" -e 's!^metric: .*!metric: {name: v, direction: higher, extractor: {type: json_file, path: out/last/v.json, json_pointer: /v}}!' manifest.yaml
commit project
apsis baseline
is "baseline" "$code" 0
end_item

PROVIDER='provider: {kind: lua, use: propose.lua}'
item "a command that needs what an earlier one built: the baseline's error names it and the line to add, which helps"
new_project build
printf 'mkdir build\nprintf "echo METRIC score=\$(cat value.txt)" >build/bench\nchmod +x build/bench\n' >build.sh
sed -i "s/^  commands:.*/  commands: [{name: build, run: sh build.sh}, {name: bench, run: sh build\/bench}]/" manifest.yaml
commit project
apsis baseline
is "exit code" "$code" 5
like "the error" "$err" "bench: exit .*removed what earlier ones had added \(build/bench\).*verification: \{keep: \['build/\*\*'\]\}"
sed -i "s/^verification:/&\n  keep: ['build\/**']/" manifest.yaml
commit "keep it"
apsis baseline
is "with that line" "$code" 0
apsis run --iterations 2
is "candidates are built, too" "$(field 2 outcome) $(field 2 primary_metric)" "kept 2"
sed -i 's/sh build\/bench/build\/bench/' manifest.yaml
apsis setup
is "setup misses no program that an earlier command makes" "$code" 0
mkdir build && echo 'echo METRIC score=1' >build/bench && git add -f build && git commit -qm "one that is there"
apsis setup
like "one that is there must be executable" "$code $out" "^5 .*build/bench is not executable: chmod"
sed -i 's/{name: build, run: sh build.sh}, //; s/run: build\/bench/run: build\/bnech/' manifest.yaml
apsis setup
like "no command is earlier than the first" "$code $out" "^5 .*build/bnech is not found in the project; did you mean \"build/bench\""
end_item

item "a manifest of goalseek with three commands, which share a generated file and the folder of the run"
new_project seek
cat >manifest.yaml <<'END'
version: 1
project: {name: tiny}
files:
  - {path: value.txt, mode: writable}
  - {path: artifacts/**, mode: generated}
verification:
  commands:
    - {name: prepare, run: 'mkdir -p artifacts && cp value.txt artifacts/model && cp value.txt junk', cwd: .}
    - {name: train, run: 'test ! -e junk && cp artifacts/model "$GOALSEEK_RUN_DIR/trained"'}
    - {name: evaluate, run: 'mkdir -p runs/latest && echo "{\"metric\": $(cat "$GOALSEEK_RUN_DIR/trained")}" >runs/latest/results.json'}
metric: {name: score, direction: maximize, extractor: {type: json_file, path: runs/latest/results.json, json_pointer: /metric}}
provider: {kind: lua, use: propose.lua}
END
commit project
apsis baseline
is "baseline" "$code" 0
apsis run --iterations 2
is "measured" "$(field 2 outcome) $(field 2 primary_metric)" "kept 2"
end_item

item "no folder of a run is used for two of them, also after a kill"
new_project folders
cat >evaluate.sh <<END
echo "\$APSIS_RUN_DIR" >>$T/given
[ ! -e "\$APSIS_RUN_DIR/left" ] || echo old >>$T/old
echo left >"\$APSIS_RUN_DIR/left"
if [ "\$APSIS_EXPERIMENT" = 3 ] && [ ! -e $T/killed ]; then touch $T/killed; sleep 30; fi
echo "METRIC score=\$(cat value.txt)"
END
commit evaluator
apsis baseline
"$APSIS" run --iterations 5 -q 2>/dev/null &
for _ in $(seq 1200); do [ -e "$T/killed" ] && break; nap 0.1; done
kill -9 $!
wait $! 2>/dev/null
apsis run
is "run" "$code $(lines)" "0 6"
is "folders" "$(sort "$T/given" | uniq -d)" ""
ok "nothing is found in one" test ! -e "$T/old"
end_item

finish
