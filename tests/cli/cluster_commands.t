#!/usr/bin/env bash
# execution: what the manifest refuses, and the examples of docs/guide/cluster.md as they stand there, but for their folders: a machine
# behind ssh (a stand-in), a queue that is a folder, and Kubernetes (a stand-in of kubectl). And doctor's job.
. tests/cli/lib.sh || exit 1

LIMIT_SEC=600 # a command that waits for the test is not ended by its limit
export FAKE=$T/fake
mkdir -p "$FAKE"
# The machine behind ssh, and the node of the folder: outside of what apsis starts.
host() {
    while [ -d "$FAKE" ]; do
        for order in "$FAKE"/order.*; do
            [ -e "$order" ] && mv "$order" "$FAKE/taken" || continue
            sh "$FAKE/taken" >"$FAKE/answer.${order##*.}" 2>&1 </dev/null
            echo $? >"$FAKE/code.${order##*.}"
        done
        sleep 0.02
    done
}
mkdir "$T/bin"
cat >"$T/bin/ssh" <<'END'
#!/bin/sh
# A stand-in of ssh: the rest of the arguments, as one text, is run by sh outside of what apsis has started.
[ ! -e "$FAKE/unreachable" ] || { echo >>"$FAKE/failures"; echo "ssh: connect to host $1 port 22: No route to host" >&2; exit 255; }
shift
number=$(basename "$(mktemp -u XXXXXXXX)")
echo "$*" >"$FAKE/new.$number" && mv "$FAKE/new.$number" "$FAKE/order.$number"
while [ ! -e "$FAKE/code.$number" ]; do sleep 0.01; done
cat "$FAKE/answer.$number"
exit "$(cat "$FAKE/code.$number")"
END
cat >"$T/bin/kubectl" <<'END'
#!/bin/bash
# A stand-in of kubectl create, get and delete, for what the page asks of them: pods are processes outside of what apsis has started.
pods=$FAKE/pods
mkdir -p "$pods"
case "$1 $2" in
"create -f")
    [ "$3" = - ] && spec=$("$APSIS" exec "$FAKE/job.lua") || exit 1
    name=$(sed -n 1p <<<"$spec")
    mkdir "$pods/$name" || { echo "Error from server (AlreadyExists): jobs.batch \"$name\" already exists" >&2; exit 1; }
    printf 'setsid env -i PATH="$PATH" HOME="$HOME" sh -c %q &\necho $! >%s/pid\nwait $!\ntouch %s/ended\n' \
        "$(sed 1d <<<"$spec")" "$pods/$name" "$pods/$name" >"$FAKE/pod.$name"
    echo "sh $FAKE/pod.$name >/dev/null 2>&1 &" >"$FAKE/new.$name" && mv "$FAKE/new.$name" "$FAKE/order.$name"
    echo "job.batch/$name created"
    ;;
"get jobs" | "get pods")
    [ "$3 $4 $5" = "-l app=apsis -o" ] || [ "$3 $4 $5 $6" = "-l app=apsis --field-selector=status.phase=Running -o" ] || exit 1
    for pod in "$pods"/*/; do
        [ -d "$pod" ] && [ ! -e "$pod/ended" ] || continue
        name=$(basename "$pod")
        if [ "$2" = jobs ]; then echo "$name queued"; elif [ -e "$pod/pid" ]; then echo "$name running node-1"; fi
    done
    ;;
"delete jobs")
    [ "$3 $4" = "--ignore-not-found --wait=false" ] || exit 1
    shift 4
    for name; do
        [ -e "$pods/$name/pid" ] || continue
        echo "pkill -9 -f 'apsis job .*/$name$'" >"$FAKE/new.$name.end" && mv "$FAKE/new.$name.end" "$FAKE/order.$name-end"
        mv "$pods/$name" "$FAKE/deleted.$name"
    done
    ;;
*) exit 1 ;;
esac
END
cat >"$FAKE/job.lua" <<'END'
-- The name of a Job and what its container does, if it is one.
local job = assert(require("apsis.yaml").decode(io.read "a"))
local spec = job.spec.template.spec
local container = spec.containers[1]
assert(job.apiVersion == "batch/v1" and job.kind == "Job" and job.metadata.labels.app == "apsis" and job.spec.backoffLimit == 0)
assert(job.spec.template.metadata.labels.app == "apsis" and spec.restartPolicy == "Never" and #spec.containers == 1)
assert(container.volumeMounts[1].name == spec.volumes[1].name and container.command[1] == "sh" and container.command[2] == "-c")
print(job.metadata.name .. "\n" .. container.command[3])
END
chmod +x "$T/bin/ssh" "$T/bin/kubectl"
PATH=$T/bin:$PATH
host >/dev/null 2>&1 &
at_end+=('rm -rf "$FAKE"; wait')

# page N: the Nth YAML block of the page that has `target: command`, with folders of this test and quick questions.
page() {
    awk -v wanted="$1" '/^```yaml/ { block = ""; on = 1; next } /^```/ { if (on && block ~ /target: command/ && ++n == wanted) printf "%s", block; on = 0 }
        on { block = block $0 "\n" }' "$ROOT/docs/guide/cluster.md" |
        sed "s|/shared/queue|$T/queue|g; s|^  folder: .*|  folder: $T/shared$1\n  poll_sec: 0.2|; /^  program:/d"
}
commanded() { # commanded NAME N
    new_project "$1"
    printf 'echo "$APSIS_CANDIDATE" >>%s\nwhile [ -e %s ]; do sleep 0.02; done\necho "METRIC score=$(cat value.txt)"\n' "$T/$1.evaluations" \
        "$T/$1.wait" >evaluate.sh
    page "$2" >>manifest.yaml
    commit commands
    : >"$T/$1.evaluations"
}
values() { sed -nE 's/.*"outcome": *"([a-z_]*)".*"primary_metric": *([-0-9a-z.]*).*/\1 \2/p' logs/results.jsonl | tail -n +2 | tr '\n' ';'; }
begun() { [ "$(wc -l <"$T/$1.evaluations")" -ge "$2" ]; }
nothing_in() { [ -z "$(find "$@" -type f)" ]; } # a worker removes a job a little after its result is there

item "the manifest: what belongs together, with file, line, key and remedy"
new_project wrong
refused() { # refused EXECUTION MESSAGE [MORE LINES]
    EXTRA="execution: $1
${3-}" write_manifest
    apsis setup
    like "$1" "$out$err" "$2"
}
refused "{folder: /x}" "manifest.yaml:[0-9]+: execution.folder: does not belong to target: local; remove it, or change execution.target"
refused "{target: local, requeue: 1}" "execution.requeue: does not belong to target: local"
refused "{target: slurm}" "execution.folder: is required with target: slurm: a folder of yours that this machine and the nodes share"
refused "{target: slurm, folder: shared}" "execution.folder: must be an absolute path; got shared"
refused "{target: slurm, folder: $T/wrong/shared}" "execution.folder: must be outside the project"
refused "{target: slurm, folder: /x, command: {submit: a, status: b, cancel: c}}" "execution.command: does not belong to target: slurm"
refused "{target: command, folder: /x}" "execution.command: is required with target: command"
refused "{target: command, folder: /x, command: {submit: a, status: b}}" "execution.command.cancel: is required"
refused "{target: command, folder: /x, options: [-p], command: {submit: a, status: b, cancel: c}}" \
    "execution.options: does not belong to target: command"
refused "{target: slurm, folder: /x}" "sandbox.allow\[1\]: /x/y:rw is in execution.folder, which commands may not see" \
    "sandbox: {allow: ['/x/y:rw']}"
refused "{target: slurm, folder: /x, requeue: -1}" "execution.requeue: must be a whole number"
for option in --job-name=mine '-J mine' -Jmine --array=1-2 -a1-2 --requeue --wait -W --out=x -o/tmp/x --chdir=/ --export=NONE --wrap=true \
    --parsable --hold --clusters=x --test-only; do
    name=${option%%=*}
    refused "{target: slurm, folder: /x, options: [--mem=8G, '$option']}" "manifest.yaml:[0-9]+: execution.options\[2\]: $name.*(: remove it|two entries)"
done
for option in -Qa1-3 -sJmine -QH -Qo/x -vvW; do
    refused "{target: slurm, folder: /x, options: ['$option']}" "manifest.yaml:[0-9]+: execution.options\[1\]: $option: -[aJHoW] in it: .*: remove it"
done
for options in '[--]' '[foo.sh]' '[--mem=8G, foo.sh]' '[-n4, foo.sh]' '[-p, xp, foo.sh]' '[-Q, foo.sh]' '[--exclusive, foo.sh]'; do
    refused "{target: slurm, folder: /x, options: $options}" "manifest.yaml:[0-9]+: execution.options\[[123]\]: (--|foo.sh): .*: remove it"
done
refused "{target: slurm, folder: /x, options: [--job-name=mine]}" \
    "execution.options\[1\]: --job-name=mine: apsis names the job itself and finds it by that name: remove it"
EXTRA="execution: {target: slurm, folder: /x, options: [-p, a, -n4, -QO, -pHaW, -sp, short, --mem, 8G, --wait-all-nodes=1, --no-requeue, --exclusive, --export-file=x, --comment=a b]}" \
    write_manifest
apsis setup
unlike "other options" "$out$err" "execution.options"
refused "{target: slurn, folder: /x}" "execution.target: must be one of command, local, slurm \(command: ssh, PBS, "
refused "{target: slurm, folder: /x}" "workspace.link: folders of this machine cannot be linked on the nodes" "workspace: {link: [data]}"
end_item

item "a machine behind ssh, as the page has it, and what else runs there"
commanded ssh 1
export COLUMNS=40
perl -e '$0 = "grep apsis job /home/"; sleep 600' &
other=$!
apsis baseline --repeats 1
is "baseline" "$code" 0
apsis run -q --iterations 3 --workers 2
is "values" "$(values | tr ';' '\n' | sed 's/.* //' | sort | tr '\n' ' ')" "1 2 3 "
is "once each" "$(sort "$T/ssh.evaluations" | uniq -c | grep -c ' 1 c')" 4
touch "$T/ssh.wait"
"$APSIS" run -q --iterations 1 >/dev/null 2>&1 &
pid=$!
wait_for "it runs" begun ssh 5
: >"$FAKE/failures"
touch "$FAKE/unreachable"
failed_thrice() { [ "$(wc -l <"$FAKE/failures")" -ge 3 ]; }
wait_for "status fails" failed_thrice
rm "$FAKE/unreachable"
kill -INT "$pid"
wait "$pid"
is "interrupted" $? 130
wait_for "nothing goes on there" gone "apsis job $T/shared1"
rm "$T/ssh.wait"
mkdir "$T/loader" # as a bundle's program: the first word of what runs is another one
printf '#!/bin/bash\n(exec -a loader "%s" "$@")\n' "$APSIS" >"$T/loader/apsis"
chmod +x "$T/loader/apsis"
sed -i "s|^  folder:|  program: $T/loader/apsis\n&|" manifest.yaml
: >"$T/ssh.evaluations"
touch "$T/ssh.wait"
"$APSIS" run -q --iterations 1 >/dev/null 2>&1 &
pid=$!
wait_for "it runs" begun ssh 1
nap 2
rm "$T/ssh.wait"
wait "$pid"
is "a job that a loader runs is not lost" "$(sort "$T/ssh.evaluations" | uniq -d)" ""
touch "$FAKE/unreachable"
apsis run -q --iterations 1
is "unreachable: nothing begins" "$code" 3
like "why" "$err" "apsis: manifest.yaml:[0-9]+: execution.command.status: ssh: connect to host gpu1 port 22: No route to host"
end_item
rm "$FAKE/unreachable"
unset COLUMNS
kill "$other"

item "Kubernetes, as the page has it: a Job for each measurement, and Ctrl-C deletes it"
commanded kubernetes 3
apsis baseline --repeats 1
is "baseline" "$code" 0
apsis run -q --iterations 3 --workers 2
is "values" "$(values | tr ';' '\n' | sed 's/.* //' | sort | tr '\n' ' ')" "1 2 3 "
is "once each" "$(sort "$T/kubernetes.evaluations" | uniq -c | grep -c ' 1 c')" 4
touch "$T/kubernetes.wait"
"$APSIS" run -q --iterations 1 >/dev/null 2>&1 &
pid=$!
wait_for "it runs" begun kubernetes 5
wait_for "where" sh -c '"$0" status | grep "measuring on node-1 for 0:[0-9]* (explo"' "$APSIS"
kill -INT "$pid"
wait "$pid"
is "interrupted" $? 130
wait_for "nothing goes on there" gone "apsis job $T/shared3"
is "one is deleted" "$(find "$FAKE" -maxdepth 1 -name 'deleted.*' | wc -l)" 1
end_item

item "a queue that is a folder, as the page has it"
mkdir -p "$T/queue/new" "$T/queue/running"
awk '/^```sh no-run: never ends/ { on = 1; next } /^```/ { on = 0 } on' "$ROOT/docs/guide/cluster.md" |
    sed "s|/shared/queue|$T/queue|; s|sleep 0.2|[ -d $FAKE ] \&\& sleep 0.05|" >"$T/worker.sh"
sh "$T/worker.sh" >/dev/null 2>&1 &
sh "$T/worker.sh" >/dev/null 2>&1 &
commanded folder 2
apsis baseline --repeats 1
is "baseline" "$code" 0
apsis run -q --iterations 4 --workers 2
is "values" "$(values | tr ';' '\n' | sed 's/.* //' | sort | tr '\n' ' ')" "1 2 3 4 "
is "once each" "$(sort "$T/folder.evaluations" | uniq -c | grep -c ' 1 c')" 5
wait_for "nothing is left" nothing_in "$T/queue" "$T/shared2"
end_item

item "doctor sends a job, and reports what the node lacks"
apsis doctor
like "a node" "$out" "(ok|warn) +nodes: a job ran on [^ ]+ after [0-9.]+ s in the queue, with apsis"
sed -i 's/run: sh evaluate.sh/run: nowhere-to-be-found evaluate.sh/' manifest.yaml
apsis doctor
is "a program that the node lacks" "$code" 3
like "which" "$out" "FAIL +nodes: a job ran on [^ ]+ .*manifest.yaml:[0-9]+: verification.commands\[1\]: nowhere-to-be-found is not found in PATH"
sed -i 's|^  folder:|  program: /nowhere/apsis\n&|' manifest.yaml
apsis doctor
is "no job can run" "$code" 3
like "without the program, what the node needs" "$out" "FAIL +nodes: the job ended without an answer.* the program /nowhere/apsis \(manifest.yaml:[0-9]+: execution.program\) and the folder $T/shared2 \(manifest.yaml:[0-9]+: execution.folder\)"
wait_for "nothing is left" nothing_in "$T/queue" "$T/shared2"
apsis eval
is "without the program, the reason" "$code" 3
is "nothing is left of that" "$(find "$T/shared2" -type f | wc -l)" 0
end_item

item "setup looks at the folder and asks the scheduler, and sends nothing"
new_project checked
slurm() { # slurm FOLDER [MORE KEYS]: setup of it
    EXTRA="execution: {target: slurm, folder: $1${2:+, $2}}" write_manifest
    PATH=$ROOT/tests/cluster/bin:$PATH apsis setup
}
export SLURM_FAKE=$FAKE
mkdir -p "$FAKE/jobs" "$T/open"
chmod 777 "$T/open"
slurm "$T/checked-jobs" "pilots: 3, workers: 2"
line "what it has found" "$out" "^note +execution +target slurm answers; jobs are in $T/checked-jobs/[0-9a-f]{32}$"
line "and a remark" "$out" "^ +execution.pilots: 3 pilots for 2 workers: 1 would have nothing to do"
is "nothing is sent" "$code $(ls "$FAKE/jobs")" "0 "
slurm "$T/none/deep/jobs"
is "a folder that cannot be right" "$code $(ls "$T/none" 2>/dev/null)" "3 "
line "its place and a remedy" "$out" \
    "^FAIL +git and files +.*manifest.yaml:[0-9]+: execution.folder: $T/none/deep is not there: correct the path, or make it: mkdir -p $T/none/deep"
slurm "/proc/none"
line "one that cannot be made" "$out" "^FAIL +git and files +.*manifest.yaml:[0-9]+: execution.folder: ENOENT.*; name a folder that you may write"
slurm "$T/open"
line "one that others write" "$out" "^FAIL +execution +.*manifest.yaml:[0-9]+: execution.folder: $T/open can be written by other users: chmod go-w"
touch "$FAKE/silent"
slurm "$T/checked-jobs"
line "a scheduler that does not answer" "$out" "^FAIL +execution +squeue: slurm_load_jobs error: Unable to contact slurm controller"
rm "$FAKE/silent"
mkdir "$T/few" && ln -s "$(type -P sh)" "$(type -P git)" "$T/few/"
out=$(PATH=$T/few "$APSIS" setup 2>&1)
line "no sbatch" "$out" "FAIL +execution +manifest.yaml:[0-9]+: execution.target: sbatch is not found in PATH: run apsis where Slurm"
end_item

item "a scheduler that refuses a job is named with the manifest's line, without control characters"
slurm "$T/checked-jobs" "options: [--partition=nowhere]"
PATH=$ROOT/tests/cluster/bin:$PATH apsis doctor
like "sbatch" "$code $out" "3 .*FAIL +nodes: sbatch with manifest.yaml:[0-9]+: execution.options: sbatch: error: invalid partition specified: nowhere"
EXTRA="execution: {target: slurm, folder: $T/checked-jobs, queue_sec: 1}" write_manifest
echo PartitionConfig >"$FAKE/reason"
PATH=$ROOT/tests/cluster/bin:$PATH apsis doctor
like "why a job is never started" "$out" "no answer in 1 s; the job is queued on main \(PartitionConfig\)$"
rm "$FAKE/reason"
EXTRA="execution: {target: command, folder: $T/checked-jobs, command: {submit: 'printf \"no\\\\r\\\\n\"; exit 1', status: 'true', cancel: nowhere-to-be-found}}" write_manifest
apsis doctor
line "a command of the manifest" "$out" "FAIL +nodes: manifest.yaml:[0-9]+: execution.command.submit: no$"
apsis setup
line "one that is not there" "$out" "FAIL +execution +manifest.yaml:[0-9]+: execution.command.cancel: nowhere-to-be-found is not found in PATH"
end_item

item "doctor names where a job is that does not answer in time"
where() { # where STATUS WORDS
    sed -i '/^execution:/,$d' manifest.yaml
    cat >>manifest.yaml <<END
execution:
  target: command
  folder: $T/shared3
  queue_sec: 1
  command: {submit: 'true', cancel: 'true', status: 'for job; do echo "\$job $1"; done'}
END
    apsis doctor
    like "$1" "$out" "warn +nodes: no answer in 1 s; the job is $2$"
}
where "queued slow" "queued on slow"
where "running n7" "on n7"
end_item

finish
