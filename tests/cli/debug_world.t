# debug --world: a run in a world of the lab, hook by hook, without a project; made again once the file has changed.
. tests/cli/lib.sh
. tests/cli/debugger.sh

mkdir "$T/here" && cd "$T/here" || exit 1
cat >mine.lua <<'LUA'
local mine = {}
function mine.plan(run)
  print("planning", run.experiment)
  return { parents = { run.baseline } }
end
function mine.accept(run, candidate)
  return run.metric:better(candidate, run.best), #candidate:sources()[1].text .. " characters"
end
return mine
LUA


debug 's\ns\ns\nr\nb plan 7\nc\n' --world onemax:n=12 --strategy mine.lua --seed 3 --at 2
item "the same steps as over a recorded run"
is "forward and back" "$code $(heads)" "0 2halt 2plan 2accept 2line 2accept 7plan "
line "what it printed" "$out" "^  printed +planning	2$"
line "a candidate's genome is there" "$out" "^  returned .*, 12 characters"
is "the play itself prints nothing" "$(printf '%s\n' "$out" | grep -c planning) $err" "2 "
is "nothing is written" "$(ls)" "mine.lua"
end_item

# The file is changed while it is open: the parents that the world then measures are the new ones.
mkfifo commands
"$APSIS" debug --world onemax:n=12 --strategy mine.lua --at 9 <commands >.out 2>.err &
exec 3>commands
waited() { for _ in $(seq 200); do grep -q "$1" .out && return; sleep 0.05; done; return 1; }
waited 'experiment 9'
sed -i 's/run.baseline/run.best/' mine.lua
printf 'f\nb accept 9\nc\np candidate.parents[1] == run.best.id, run.best.id ~= "c0000"\n' >&3
ok "f makes the run again with the changed file" waited '^true$'
is "in every way" "$(grep -c '^true$' .out)" 2
exec 3>&-
wait $!

printf 'return { plan = function(run) return { parents = { run.none } } end }\n' >fails.lua
debug 'c\n' --world onemax:n=12 --strategy fails.lua
line "a hook that fails in the run is a step" "$out" "^  failed .*fails.lua:1: a run has no field \"none\""
debug '' --world onemx
is "a world that is not there exits 2" "$code" 2
line "with the nearest" "$err" '^apsis: --world: no world "onemx"; did you mean "onemax"'
debug '' --seed 3
line "a seed is a world's" "$err" '^apsis: --seed, --evaluations: of a world, with --world$'
finish
