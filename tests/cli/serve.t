#!/bin/bash
# serve: `evaluator: {serve: true}` keeps a Python process for the evaluator of an imported project; each candidate is
# measured in a fork of it, and no candidate sees what an earlier one did.
. "$(dirname "$0")/lib.sh"

mkdir "$T/old" && cd "$T/old" || exit 1
cat >evaluator.py <<'END'
import importlib.util, os, random
import helper


def load(path):
    spec = importlib.util.spec_from_file_location("program", path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    return program


def started():
    """When the parent was started: its number is the same in every cage."""
    with open("/proc/%d/stat" % os.getppid()) as file:
        return int(file.read().rpartition(")")[2].split()[19])


def evaluate(path):
    value = load(path).run()
    helper.calls += 1
    print("METRIC combined_score=1000")
    return {"combined_score": value, "calls": helper.calls, "process": started(), "draw": random.random(),
            "artifacts": {"note": "the value is %g" % value}}
END
echo "calls = 0" >helper.py
printf '%s\n' '# EVOLVE-BLOCK-START' 'def run():' '    return 1.0' '# EVOLVE-BLOCK-END' >initial_program.py

# served NAME MORE BODY...: a project whose experiments try these bodies of run() in order; MORE of evaluator's keys
served() {
    local name=$1 more=$2
    shift 2
    cd "$T" && apsis import openevolve old --into "$name" && cd "$T/$name" || exit 1
    sed -i -e '/^strategy:/,/^$/d' -e '/^# provider:/d' -e '/^execution:/d' -e 's/timeout_sec: 300/timeout_sec: 5/' manifest.yaml
    printf '%s\n' "evaluator: {serve: true$more}" 'strategy: {use: hillclimb, options: {patience: 100}}' \
        'provider: {kind: lua, use: propose.lua}' >>manifest.yaml
    printf 'local bodies, at = {}, 0\n' >propose.lua
    printf 'bodies[#bodies + 1] = [==[%s]==]\n' "$@" >>propose.lua
    cat >>propose.lua <<'END'
return function()
  at = at + 1
  return { ["initial_program.py"] = "# EVOLVE-BLOCK-START\ndef run():\n    " .. bodies[at] .. "\n# EVOLVE-BLOCK-END\n" }
end
END
    git add -A && git commit -qm served && apsis baseline --repeats 1 -q && is "baseline" "$code" 0
    apsis run -q --iterations $#
    is "run" "$code" 0
}

outcomes() { python3 -c 'import json; print(*[json.loads(line)["outcome"] for line in open("logs/results.jsonl")])'; }
values() { # values METRIC: of each experiment
    python3 - "$1" <<'END'
import json, sys
for line in map(json.loads, open("logs/results.jsonl")):
    print((line["secondary_metrics"] or {}).get(sys.argv[1], "none"))
END
}
kinds() { values "$1" | sort -u | wc -l | tr -d ' '; }

item "candidates are measured by one process, each in a fork of its own, which imports afresh"
served plain "" "return 2.0" "return 1.5" "return 3.0"
is "outcomes" "$(outcomes)" "baseline kept reverted_worse_metric kept"
is "the value" "$(field 3 primary_metric)" 3
is "one process for the run, another for the baseline" "$(values process | tail -n 3 | sort -u | wc -l),$(kinds process)" 1,2
is "the evaluator's own modules are new each time" "$(values calls | sort -u)" 1
is "Python's random draws anew" "$(kinds draw)" 4
is "artifacts" "$(cat runs/0003/artifacts/note.txt)" "the value is 3"
end_item

item "what a candidate changes in the process is gone for the next one"
served changed "" "import math; math.pi = 7; import os; os.environ['LEFT'] = '1'; os.chdir('/'); return 2.0" \
    "import math, os; return 5.0 + (math.pi > 4) + ('LEFT' in os.environ)"
is "the value" "$(field 2 primary_metric)" 5
end_item

item "a crash, an exit, an endless loop: an experiment each, as without; then another process measures"
served broken "" "import os; os.abort()" "import sys; sys.exit(0)" "while True: pass" "raise ValueError('no')" "return 4.0"
is "outcomes" "$(outcomes)" \
    "baseline skipped_verification_crash skipped_verification_crash skipped_verification_crash skipped_verification_crash kept"
like "an abort" "$(field 1 rollback_reason)" 'killed by SIGABRT'
like "an exit" "$(field 2 rollback_reason)" 'called sys.exit'
like "the limit" "$(field 3 rollback_reason)" 'over its limit of 5 s'
like "an exception" "$(field 4 rollback_reason)" 'ValueError: no'
is "the last one" "$(field 5 primary_metric)" 4
end_item

item "what a candidate leaves running is ended before the next one is measured"
served running "" "import subprocess; subprocess.Popen(['sleep', '7311'], start_new_session=True); return 2.0" \
    "import subprocess; return 5.0 + (subprocess.run(['pgrep', '-f', 'sleep 7311']).returncode == 0)"
is "the value" "$(field 2 primary_metric)" 5
ok "nothing is left" gone "sleep 7311"
end_item

item "a candidate that kills the process harms only itself"
served killer "" "import os, signal; os.kill(os.getppid(), signal.SIGKILL); import time; time.sleep(3); return 9.0" "return 2.0"
is "outcomes" "$(outcomes)" "baseline skipped_verification_crash kept"
is "the value" "$(field 2 primary_metric)" 2
end_item

item "a candidate that puts a link in the way reads and writes nothing through it"
echo mine >"$T/mine" && mkdir -p "$T/yours/artifacts" && echo 'METRIC combined_score=99' >"$T/yours/metrics.txt"
served linked "" "import glob, os, sys
    folder = os.path.dirname(os.environ['TMPDIR'])
    os.remove(folder + '/request.json'); os.symlink('$T/mine', folder + '/request.json')
    return 2.0" "import os
    folder = os.path.dirname(os.environ['TMPDIR'])
    os.rename(folder + '/run', folder + '/gone'); os.symlink('$T/yours', folder + '/run')
    return 3.0" "return 4.0"
is "the file" "$(cat "$T/mine")" mine
unlike "no foreign value" "$(values calls; cat logs/results.jsonl)" '"primary_metric":99'
is "the last one" "$(field 3 primary_metric)" 4
end_item

item "every: the process is started again after so many commands"
served often ", every: 2" "return 2.0" "return 3.0" "return 4.0" "return 5.0"
is "two processes" "$(values process | tail -n 4 | sort -u | wc -l | tr -d ' ')" 2
end_item

item "nothing of it outlives apsis, and no folder is left"
ok "no process" gone "$T/.*/serve-"
is "no folder" "$(find "$XDG_CACHE_HOME" -name 'serve-*')" ""
end_item

item "a project that was not imported is refused"
cd "$T" && project bare || exit 1
echo 'evaluator: {serve: true}' >>manifest.yaml
apsis baseline
is "exit code" "$code" 2
like "where, and what to do" "$err" 'manifest.yaml:[0-9]+: evaluator.serve: needs a command of verification.commands'
end_item

finish
