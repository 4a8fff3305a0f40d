# debug: the way back by sleeping copies of the process. The strategy takes so much CPU for each line that a copy is left
# after it; without copies the same steps would be shown, so the test counts processes.
. tests/cli/lib.sh

new_project back
printf '%s\n' 'return function(proposal)
local number = proposal.experiment
return { ["value.txt"] = (number % 3 == 0 and -number or number) .. "\n" } end' >propose.lua
cat >slow.lua <<'LUA'
local seen = 0 -- not in memory: a copy of the process has it all the same
local slow = {}
function slow.init(run) run.memory.lines = 0 end
function slow.accept(run, candidate) return run.metric:better(candidate, run.best) end
function slow.learn(run)
  local start = os.clock
  for _ = 1, 16000000 do start = start end
  seen, run.memory.lines = seen + 1, run.memory.lines + 1
end
return slow
LUA
commit slow
"$APSIS" baseline -q >/dev/null 2>&1 && "$APSIS" run -q --iterations 6 --workers 1 >/dev/null 2>&1

mkfifo "$T/commands"
start() {
    "$APSIS" debug --strategy slow.lua "$@" <"$T/commands" >"$T/out" 2>"$T/err" &
    debugger=$!
    exec 3>"$T/commands"
}
tell() { printf "$1" >&3; }
waited() { for _ in $(seq 400); do grep -q "$1" "$T/out" && return; sleep 0.05; done; return 1; }
processes() { pgrep -P "$debugger" | wc -l | tr -d ' '; }
heads() { sed -n 's/^step [0-9]*, experiment \([0-9]*\): \([a-z]*\).*/\1\2/p' "$T/out" | tr '\n' ' '; }

start --at 6
tell 'b learn if line.outcome == "kept"\nrn\nr\np seen, run.memory.lines\ng 2\np seen, run.memory.lines\ng 6\nrc\nrc\nrc\nrc\nr\nb\nc\nend\n'
waited '^no command "end"'
item "it goes back to the same steps by the copies"
is "where it was" "$(heads)" "6halt 5halt 4line 2halt 6halt 5learn 4learn 2learn 1learn 1accept 1learn "
is "what the strategy has in its locals and memory there" "$(grep -x '[0-9]*' "$T/out" | tr '\n' ' ')" "5 5 2 2 "
is "the breakpoint is still there" "$(grep -c '^breakpoint 1: learn if line.outcome' "$T/out")" 2
is "nothing else is printed" "$(cat "$T/err")" ""
ok "copies sleep, and a process runs" test "$(processes)" -ge 4
end_item

children=$(pgrep -P "$debugger" | tr '\n' ' ')
sed -i 's/run.memory.lines = 0/run.memory.lines = 10/' slow.lua
tell 'f\ng 3\nr\np run.memory.lines\n'
ok "a changed file: the copies are of the old one, and are not used" waited '^13$'

tell 'q\n'
wait "$debugger"
is "it ends as the one that runs ends" $? 0
exec 3>&-
left() { for one in $children; do kill -0 "$one" 2>/dev/null && echo "$one"; done; }
is "no copy is left" "$(left)" ""

start --at 6
waited "experiment 6: halt"
children=$(pgrep -P "$debugger" | tr '\n' ' ')
ok "there are copies again" test "$(processes)" -ge 4
disown
kill -9 "$debugger"
gone() { for _ in $(seq 200); do test -z "$(left)" && return; sleep 0.05; done; return 1; }
ok "kill -9 of the debugger leaves none either" gone
exec 3>&-
finish
