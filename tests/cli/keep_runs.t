#!/bin/bash
# keep_runs: the newest folders of runs/ stay, with those of baselines, of the best, and of what was in flight when a run was killed; no
# commit, ref or line goes with a folder, and what is asked of one that went says so.
. tests/cli/lib.sh || exit 1

folders() { (cd runs && ls -d [0-9]* | tr '\n' ' '); }

refs() { git for-each-ref --format='%(refname:short)' refs/apsis/tiny | wc -l | tr -d ' '; }

# Experiment 3 is the best of all; what comes later is not kept.
rises_to_three() {
    new_project "$1"
    printf '%s\n' 'return function(proposal)' '  local number = proposal.experiment' \
        '  return { ["value.txt"] = (number <= 3 and number or -number) .. "\n" }' 'end' >propose.lua
    git commit -qam provider
    apsis baseline
    is "baseline" "$code" 0
}

item "without keep_runs every folder stays"
rises_to_three all
apsis run -q --iterations 8
is "folders" "$(folders)" "0000_baseline 0001 0002 0003 0004 0005 0006 0007 0008 "
end_item

item "keep_runs keeps the newest, the best's and the baseline's; commits, refs and lines all stay"
EXTRA='keep_runs: 2' write_manifest
apsis run -q --iterations 8
is "exit" "$code" 0
is "folders" "$(folders)" "0000_baseline 0003 0015 0016 "
is "lines" "$(lines)" 17
is "refs" "$(refs)" 17
is "latest" "$(readlink runs/latest)" 0016
ok "a folder that went has its commit" git show refs/apsis/tiny/c0005:value.txt
ok "git fsck" git fsck --strict
apsis replay --check
is "replay --check" "$code" 0
end_item

item "what is asked of a folder that went says so"
apsis show c0005
is "show" "$code" 0
like "show tells its value" "$out" "-5"
like "show tells why" "${out//$'\n'/ }" "runs/0005 was removed .keep_runs: 2"
apsis show c0005 --prompt
is "show --prompt" "$code" 2
like "the prompt" "$err" "runs/0005 was removed .keep_runs: 2.*the prompt of c0005 is gone"
apsis show c0005 --json
like "JSON" "$out" '"directory": *null'
apsis show c0005 --against c0003
is "against" "$code" 0
like "against tells" "$err" "runs/0005 was removed"
unlike "of the one that is there it says nothing" "$err" "runs/0003"
apsis diff c0005
is "diff" "$code" 0
like "diff" "$out" "[+]-5"
for command in "log" "status" "report" "best"; do
    apsis $command
    is "$command" "$code" 0
done
apsis show c0003
unlike "nothing is said of the best's" "$out" removed
end_item

item "the best's folder goes when another is the best"
printf 'return function(proposal) return { ["value.txt"] = proposal.experiment .. "\\n" } end\n' >propose.lua
apsis run -q --iterations 4
is "folders" "$(folders)" "0000_baseline 0019 0020 "
end_item

item "keep_runs: 0 keeps what is needed; several workers, several baselines"
rises_to_three none
EXTRA=$'keep_runs: 0\nexecution: {workers: 3}' write_manifest
apsis run -q --iterations 9
is "exit" "$code" 0
is "folders" "$(folders)" "0000_baseline 0003 0009 "
apsis baseline --again
is "a new baseline" "$code" 0
apsis run -q --iterations 3
like "baselines stay" "$(folders)" "^0000_baseline .*0010_baseline 0013 $"
is "refs" "$(refs)" 14
end_item

item "what was in flight when apsis was killed is there for the next start"
rises_to_three killed
cat >evaluate.sh <<END
echo "METRIC score=\$(cat value.txt)"
if [ "\$APSIS_EXPERIMENT" = 5 ] && [ ! -e $T/go ]; then touch $T/waits; sleep 30; fi
END
git commit -qam evaluator
apsis baseline --again
EXTRA=$'keep_runs: 2\nexecution: {workers: 2}' write_manifest
setsid "$APSIS" run -q --iterations 20 >"$T/bg.out" 2>"$T/bg.err" </dev/null &
pid=$!
for i in {1..2000}; do [ -e "$T/waits" ] && [ "$(lines)" -ge 12 ] && break; nap 0.02; done
ok "the one in flight keeps its folder" test -f runs/0005/proposal.json
{ kill -9 "$pid"; wait "$pid"; } 2>/dev/null
touch "$T/go"
apsis run -q
is "exit" "$code" 0
is "every experiment has its line" "$(lines)" 22
is "refs" "$(refs)" 22
ok "git fsck" git fsck --strict
ok "no more than is kept" test "$(folders | wc -w)" -le 6
apsis replay --check
is "replay --check" "$code" 0
end_item

finish
