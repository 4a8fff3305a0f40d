#!/bin/bash
# processes: attacks on other processes, and by processes that are to outlive their command, or apsis.
. tests/attacks/lib.sh || exit 1

fresh_mark() { mark=32$((RANDOM % 9000 + 1000))$((count + 10)); } # seconds that only this attack sleeps
marks() { fill() { echo "MARK=$mark" >>paths.sh; }; }
left() { ! gone "sleep $mark"; }
appears() { for _ in $(seq 100); do left && return 0; sleep 0.05; done; return 1; }
vanishes() { for _ in $(seq 100); do left || return 0; sleep 0.05; done; return 1; }

attack list "a candidate sees the user's other processes"
opens none?
opens landlock "without a process namespace /proc shows them"
candidate <<'END'
. ./paths.sh
tr '\0' ' ' <"/proc/$VICTIM/cmdline"
END
won "it was seen" said "sleep 3217"
end_attack

attack kill "a candidate kills another process of the user, and its own supervisors"
opens none?
scopes_signals || opens landlock "Landlock before Linux 6.12 does not ask about signals"
candidate <<'END'
. ./paths.sh
if [ "$(tr '\0' ' ' <"/proc/$VICTIM/cmdline")" = "sleep 3217 " ]; then kill -URG "$VICTIM" && echo "GOT it"; fi
END
won "it could be signalled" said "GOT it"
end_attack

attack kill-all "a candidate sends SIGKILL to all that it may"
opens none?
scopes_signals || opens landlock "Landlock before Linux 6.12 does not ask about signals"
fill() { echo "ALLOWED=$([ "$WAY" = none ] || [ "$WAY" = landlock ] && ! scopes_signals || echo yes)" >>paths.sh; }
candidate <<'END'
. ./paths.sh
if [ "$(tr '\0' ' ' <"/proc/$VICTIM/cmdline")" = "sleep 3217 " ] && kill -0 "$VICTIM"; then echo "GOT all"; ALLOWED=; fi
[ -z "$ALLOWED" ] || kill -KILL -1
END
won "it could be" said "GOT all"
ok "the user's process is there" kill -0 "$VICTIM"
end_attack

attack supervisor "a candidate kills and stops what looks after it"
scopes_signals || opens landlock? "Landlock before Linux 6.12 does not ask about signals"
LIMIT_SEC=2
fresh_mark
marks
candidate <<'END'
. ./paths.sh
parent=$(cut -d ' ' -f 4 /proc/$PPID/stat)
trap '' TERM
kill -STOP $parent 1 2>/dev/null
(setsid sleep $MARK >/dev/null 2>&1 &)
sleep $MARK
END
like "why" "$(field 1 rollback_reason)" "over its limit of 2 s"
won "something is left" left
end_attack

attack trace "a candidate traces another process of the user"
opens none?
candidate <<'END'
. ./paths.sh
if [ "$(tr '\0' ' ' <"/proc/$VICTIM/cmdline")" = "sleep 3217 " ]; then ./tool ptrace "$VICTIM"; fi
for pid in $PPID 1 $(cut -d ' ' -f 4 /proc/$PPID/stat); do
    case $(readlink /proc/$pid/exe) in *cage* | *apsis*) ./tool ptrace $pid ;; esac
done
END
won "it can be traced" said "GOT ptrace"
end_attack

attack old-limits "a candidate reads and sets the limits of the user's process by a 32-bit system call"
opens none? # some kernels have no 32-bit system calls
candidate <<'END'
. ./paths.sh
if [ "$(tr '\0' ' ' <"/proc/$VICTIM/cmdline")" = "sleep 3217 " ]; then ./tool old-limits "$VICTIM"; fi
END
won "it can" said "GOT limits"
end_attack

attack memory "a provider reads the memory, environment, descriptors of apsis and of its supervisors"
opens none?
provider <<'END'
. ./paths.sh
if [ "$(tr '\0' ' ' <"/proc/$VICTIM/cmdline")" = "sleep 3217 " ]; then ./tool mem "$VICTIM"; fi
for dir in /proc/[0-9]*; do
    [ "$(cat $dir/comm)" = bwrap ] && continue # of the sandbox itself, and the command's own environment
    case $(tr '\0' ' ' <$dir/cmdline) in
    *apsis*run* | *cage*)
        [ "${dir#/proc/}" = $$ ] || { ./tool mem "${dir#/proc/}"; cat $dir/environ >/dev/null && echo "GOT environment"; readlink $dir/fd/* | grep . && echo "GOT descriptors"; } ;;
    esac
done 2>/dev/null
echo 1 >value.txt
END
won "it was read" said "GOT memory"
won "its environment" said "GOT environment"
won "its descriptors" said "GOT descriptors"
end_attack

attack daemon-edits "a candidate leaves a daemon that edits the next one's workspace, and the journal"
fresh_mark
marks
ITERATIONS=2
NEXT='sleep 0.7; cat edited* 2>/dev/null; . ./paths.sh; pgrep -f "sleep $MARK" | sed "s/^/daemon /"'
candidate <<'END'
. ./paths.sh
(setsid bash -c 'for i in 1 2 3 4 5 6 7 8 9 10; do echo EDITED >edited; echo EDITED >"'"$PROJECT"'/edited"; sleep 0.2; done; sleep '"$MARK" >/dev/null 2>&1 &)
sleep 0.1
rm -f "$PROJECT/edited"
END
is "the second" "$(outcome 2)" kept
won "it edits the next one's files" said EDITED 0002
won "it is there" said daemon 0002
won "it is still there" left
end_attack

# A double fork, a session of its own, no signal taken: what is to be reaped.
daemons='for out in /dev/null /dev/stdout; do (trap "" TERM INT HUP QUIT; setsid bash -c "trap \"\" TERM INT HUP; (setsid sleep $MARK &) ; while :; do sleep $MARK; done" >$out 2>&1 &) ; done'

attack reap-end "daemons that take no signal and keep stdout open outlive a verification's end"
fresh_mark
marks
candidate <<END
. ./paths.sh
$daemons
sleep 0.3
END
is "outcome" "$(outcome)" kept
won "one is left" left
end_attack

attack reap-provider "the same of a provider's"
fresh_mark
marks
provider <<END
. ./paths.sh
$daemons
sleep 0.3
echo 1 >value.txt
END
is "outcome" "$(outcome)" kept
won "one is left" left
end_attack

attack reap-timeout "the same after its time is over"
fresh_mark
marks
LIMIT_SEC=1
candidate <<END
. ./paths.sh
trap '' TERM INT HUP
$daemons
while :; do sleep \$MARK; done
END
like "why" "$(field 1 rollback_reason)" "over its limit of 1 s"
won "one is left" left
end_attack

# begun: a project whose candidate has daemons, its run in the background and under way: $run.
begun() {
    fresh_mark
    printf '%s\n' '. ./paths.sh' "$daemons" 'trap "" TERM INT HUP' "$1" 'sleep $MARK' >"$T/script"
    PROVIDER='provider: {kind: lua, use: propose.lua}'
    fill() { echo "MARK=$mark" >>paths.sh; }
    make_project ''
    unset -f fill
    { echo 'return function(proposal) return { ["value.txt"] = proposal.experiment .. "\n", ["candidate.sh"] = [=====['; cat "$T/script"; echo ']=====] } end'; } >propose.lua
    baseline
    "$APSIS" run --quiet --iterations 1 >/dev/null 2>&1 </dev/null &
    run=$!
    disown $run
    ok "daemons are there" appears
    sleep 0.3
}
# Afterwards another run is made, whose candidate has none.
goes_on() {
    echo 'return function(proposal) return { ["value.txt"] = proposal.experiment .. "\n", ["candidate.sh"] = "true\n" } end' >propose.lua
    apsis run --quiet --iterations 1
    is "the next run" "$code" 0
}

attack reap-interrupt "the same after Ctrl-C"
begun
kill -INT $run
for _ in $(seq 2400); do kill -0 $run 2>/dev/null || break; sleep 0.05; done
kill -0 $run 2>/dev/null && { problems+="apsis is still there"$'\n'; kill -9 $run; }
[ -z "${ON_NODES:-}" ] || vanishes # a node ends its job on its own
won "one is left" left
goes_on
end_attack

attack reap-killed "the same after a kill -9 of apsis"
begun
kill -9 $run
if [ -z "${ON_NODES:-}" ]; then # a node's job goes on, for the next start to take its result
    vanishes
    won "one is left" left
fi
goes_on
[ -z "${ON_NODES:-}" ] || vanishes
won "one is left after the next start" left
end_attack

# The supervisors of a run: the programs between apsis and the command.
supervisors() {
    local pid
    for pid in $(ps -o pid= --ppid "$1"); do
        case $(readlink "/proc/$pid/exe") in *cage*) echo "$pid"; supervisors "$pid" ;; esac
    done
}

attack reap-all-killed "the same after a kill -9 of apsis and all its supervisors at once"
begun
# shellcheck disable=SC2046
kill -STOP $run && kill -9 $(supervisors $run) $run
sleep 0.3
goes_on
[ -z "${ON_NODES:-}" ] || vanishes
won "one is left after the next start" left
end_attack
pids=$(pgrep -f "sleep $mark") && kill -9 $pids

attack reap-unknown "the same by a daemon without an environment, outside of its workspace"
opens "landlock${ON_NODES:+?}" "without a process namespace what is left is known by its environment"
begun 'cd /; (env -i setsid sleep $MARK >/dev/null 2>&1 &); sleep 0.1'
sleep 0.5
# shellcheck disable=SC2046
kill -STOP $run && kill -9 $(supervisors $run) $run
sleep 0.3
goes_on
[ -z "${ON_NODES:-}" ] || vanishes
won "one is left after the next start" left
end_attack
pids=$(pgrep -f "sleep $mark") && kill -9 $pids

# So many are allowed; of an ordinary user all processes count.
a_hundred_processes() {
    local most=100
    if is_root; then opens none "to root the limit of processes is none"; else most=$(($(ps -o pid= -U "$(id -u)" -L | wc -l) + 100)); fi
    EXTRA="limits: {processes: $most}"
}

attack fork-bomb "a candidate forks without end (to 600, where 100 are allowed)"
a_hundred_processes
fresh_mark
marks
candidate <<'END'
. ./paths.sh
for i in $(seq 600); do sleep $MARK & done 2>/dev/null
sleep 1
echo "STARTED $(jobs -p | wc -l)"
END
unset EXTRA
won "all were started" said "STARTED 600"
won "one is left" left
end_attack

attack fork-bomb-flood "a candidate starts too many processes while others of it end all the time, which keeps its watch busy"
a_hundred_processes
fresh_mark
marks
candidate <<'END'
. ./paths.sh
(for i in $(seq 3000); do (true &); done) 2>/dev/null &
flood=$!
for i in $(seq 400); do sleep $MARK & done 2>/dev/null
wait $flood
echo "STARTED $(jobs -p | wc -l)"
END
unset EXTRA
won "all were started" said "STARTED 40"
won "one is left" left
end_attack

attack fork-bomb-doubling "a candidate's processes double without end (to 4,000, where 100 are allowed), which leaves its watch no time to run"
a_hundred_processes
candidate <<'END'
double() { [ $1 = 0 ] && sleep 2 || { double $(($1 - 1)) | double $(($1 - 1)) & } }
double 11 2>/dev/null
for i in $(seq 20); do
    set -- /proc/[0-9]*
    [ $# -lt 1000 ] || { echo "A THOUSAND"; break; }
    sleep 0.2
done
END
unset EXTRA
won "there were more than it may have" said "A THOUSAND"
end_attack

finish
