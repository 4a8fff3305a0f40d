#!/bin/bash
# lab: strategies on synthetic worlds over many seeds: the same bytes however many jobs, what is printed and written, sweeps, bad
# input, workers that die, and interruptions.
. tests/cli/lib.sh || exit 1
mkdir -p "$T/lab" && cd "$T/lab" || exit 1

lua() { printf '%s\n' "$2" >"$1.lua"; }
# query FILE EXPRESSION: of the decoded JSON `it`.
query() {
    printf 'local it = assert(require("apsis.json").decode(assert(require("apsis.fs").read(arg[1]))))\nprint(%s)\n' "$2" >query.lua
    "$APSIS" exec query.lua "$1"
}

# A world that needs no library: a number that steps up or down; solved at 5.
lua steps 'local steps = { options = { marker = "", at = 0 }, direction = "higher", metric = "height", description = "steps" }
function steps.init(lab) lab.target = 5 end
function steps.baseline() return 0 end
function steps.propose(lab, _, parents) return parents[1] + (lab.rng:random() < 0.4 and 1 or -1) end
function steps.evaluate(lab, genome)
  local marker = lab.options.marker
  if lab.seed == lab.options.at and not (marker ~= "" and io.open(marker)) then
    if marker ~= "" then io.open(marker, "w"):close() end
    os.execute("kill -9 $PPID")
  end
  return genome
end
return steps'
lua mine 'return { options = { often = 3 }, plan = function(run)
  return { parents = { run.experiment % run.options.often == 0 and run.baseline or run.best }, operator = "exploration" }
end, halt = function() end }'

SMALL="hillclimb mine.lua --world onemax:n=12 --world steps.lua --world sphere:d=2,noise=gaussian --seeds 4 --evaluations 60 --workers 3"

item "one job, two or three: the same bytes on standard output, in CSV, JSON and the page"
for jobs in 1 2 3; do
    # shellcheck disable=SC2086
    apsis lab $SMALL --jobs $jobs --csv csv$jobs --html html$jobs
    is "exit code with $jobs" "$code" 0
    is "nothing on stderr through a pipe" "$err" ""
    printf '%s\n' "$out" >out$jobs
    # shellcheck disable=SC2086
    apsis lab $SMALL --jobs $jobs --json
    printf '%s\n' "$out" >json$jobs
    for what in out csv html json; do ok "$what with $jobs jobs" cmp ${what}1 $what$jobs; done
done
end_item

item "a table for each world, the best median first, and pairs with intervals"
like "head" "$(cat out1)" '4 seeds from 1, at most 60 evaluations in a run'
like "columns" "$(cat out1)" 'strategy +best \[quartiles\] +solved +ERT \[95%\] +AOCC +kept'
like "false keeps where there is noise" "$(cat out1)" 'kept +false'
is "a table for each world" "$(grep -c '^  strategy  *best' out1)" 3
like "runs that did not solve it leave the ERT without an upper end" "$(cat out1)" '(inf|\.\.inf\])'
like "evaluations to the targets" "$(cat out1)" 'time (50|90|100)% +x[0-9.]+ \[[0-9.]+\.\.[0-9.]+\]'
like "one verdict over the worlds" "$(cat out1)" $'Over all worlds:\n\n +strategy +against +time \\[95%\\] +p +faster +slower +verdict\n.* [0-3] of 3 '
like "with its reason where there is none" "$(cat out1)" 'no verdict with fewer than 5 worlds'
like "an interval" "$(cat out1)" 'best +-?[0-9.e-]+ \[-?[0-9.e-]+\.\.-?[0-9.e-]+\] +[0-9.]+ +not shown'
unlike "four seeds show nothing" "$(cat out1)" ' better$'
like "and that is said" "$(tr '\n' ' ' <out1)" 'With fewer than [0-9]+ seeds nothing can be shown'
is "no line is wider than a terminal" "$(awk 'length > 80' out1)" ""
end_item

item "JSON has the rows with nulls for what there is not, the comparisons, and no fresh seeds without a sweep"
is "the command, without the jobs" "$(query json1 it.command)" "apsis lab $SMALL"
is "its counts" "$(query json1 'it.seeds, it.first_seed, it.evaluations')" $'4\t1\t60'
is "a row for each strategy on each world" "$(query json1 '#it.results, it.results[1].strategy, it.results[6].strategy')" $'6\thillclimb\tmine.lua'
is "four measures of each pair" "$(query json1 '#it.comparisons, it.comparisons[2].measure, it.comparisons[2].way')" $'12\ttime\t0.5'
is "a verdict over the worlds" "$(query json1 '#it.overall, it.overall[1].worlds, it.overall[1].verdict')" $'1\t3\tno difference shown'
is "runtimes to each target" "$(query json1 '#it.results[1].times, it.results[1].times[3].reached == it.results[1].successes')" $'3\ttrue'
is "ert is a number or null" "$(query json1 'type(it.results[1].ert), it.results[5].ert == require("apsis.json").null or type(it.results[5].ert)')" \
    "$(printf 'number\t%s' "$(query json1 'it.results[5].success_rate > 0 and "number" or "true"')")"
is "no noise, no false keeps" "$(query json1 'it.results[1].false_keeps, type(it.results[5].false_keeps)')" $'null\tnumber'
is "no fresh seeds" "$(query json1 it.fresh)" nil
end_item

item "CSV has a line for each trial under a line of names"
is "lines" "$(wc -l <csv1)" 25
is "names" "$(head -1 csv1)" "strategy,world,seed,best,observed,hit,auc,evaluations,experiments,kept,false_keeps,seconds,tokens,cost,reason,aocc,curve"
like "a world with commas is quoted" "$(cat csv1)" $'\nmine.lua,"sphere:d=2,noise=gaussian",4,'
apsis lab mine.lua --world onemax:n=30 --seeds 1 --evaluations 40 --csv one.csv --json
printf '%s\n' "$out" >one
is "the AUC of one run is that of its row" "$(tail -1 one.csv | cut -d, -f7)" "$(query one 'require("apsis.json").encode(it.results[1].auc)')"
is "a run's curve ends at its best" "$(tail -1 one.csv | sed 's/.*[ ,][0-9]*://')" "$(tail -1 one.csv | cut -d, -f4)"
is "and is the curve of one run in JSON" "$(query one '(function()
    local curve, steps = it.results[1].curve, {}
    for x, y in (require("apsis.fs").read("one.csv"):match "([%d: ]+)\n$"):gmatch "(%d+):(%d+)" do steps[#steps + 1] = { tonumber(x), tonumber(y) } end
    local at, same = 1, #curve.x > 20 and curve.x[1] == 1 and curve.x[#curve.x] == 40
    for place, x in ipairs(curve.x) do
      while steps[at + 1] and steps[at + 1][1] <= x do at = at + 1 end
      same = same and curve.median[place] == steps[at][2]
    end
    return same and #steps > 3 and curve.spent == 40 end)()')" true
apsis lab hillclimb --world onemax:n=8 --seeds 2 --csv -
is "- is standard output, with nothing else" "$(printf '%s\n' "$out" | cut -d, -f1-3 | tr '\n' ' ')" "strategy,world,seed hillclimb,onemax:n=8,1 hillclimb,onemax:n=8,2 "
end_item

item "--coco and --iohprofiler write a new folder each, with a folder for each strategy"
# shellcheck disable=SC2086
apsis lab $SMALL --coco coco --iohprofiler made/ioh
is "exit code" "$code $err" "0 "
is "the tables as ever" "$out" "$(cat out1)"
is "COCO's files" "$(cd coco && find . -name '*.info' | LC_ALL=C sort | tr '\n' ' ')" \
    "./hillclimb/bbobexp_f1.info ./hillclimb/bbobexp_f2.info ./hillclimb/bbobexp_f3.info ./mine.lua/bbobexp_f1.info ./mine.lua/bbobexp_f2.info ./mine.lua/bbobexp_f3.info "
is "four runs in each" "$(grep -c '^%' coco/mine.lua/data_f2/bbobexp_f2_DIM5.dat)" 4
is "IOHprofiler's world" "$(query made/ioh/mine.lua/IOHprofiler_f2.json 'it.function_name, #it.scenarios[1].runs')" $'steps.lua\t4'
end_item

item "--axis counts running times in simulated seconds or cost"
for axis in evaluations time cost; do
    apsis lab mine.lua hillclimb --world steps.lua:cost=0.25 --seeds 6 --evaluations 60 --workers 2 --axis $axis --json
    printf '%s\n' "$out" >axis.$axis
done
is "the axis" "$(query axis.time 'it.axis, it.command:match "%-%-axis %a+"')" $'time\t--axis time'
is "solved runs are the same" "$(query axis.time 'it.results[1].successes')" "$(query axis.evaluations 'it.results[1].successes')"
is "evaluations are no fewer than what a run spends in quarters of a dollar" \
    "$(query axis.evaluations "it.results[1].ert > 4 * $(query axis.cost 'it.results[1].ert')")" true
is "a minute each, two at a time" "$(query axis.time "(function() local per = it.results[1].ert / $(query axis.evaluations 'it.results[1].ert')
    return per > 20 and per < 60 end)()")" true
is "means are as ever" "$(query axis.cost 'it.results[1].evaluations')" "$(query axis.evaluations 'it.results[1].evaluations')"
apsis lab mine.lua hillclimb --world steps.lua --seeds 6 --evaluations 60 --axis time --minutes 30
like "the legend names the unit and the budget" "$(tr -s '\n ' ' ' <<<"$out")" 'ERT: simulated seconds spent .* counts as 1800 simulated seconds\.'
end_item

item "--friedman ranks strategies over worlds, in the table and in JSON"
# shellcheck disable=SC2086
apsis lab $SMALL --friedman
like "the test" "$out" "Ranks by time over 3 worlds; Friedman.s test: p = [01]\.[0-9]+"
like "a mean rank" "$out" $'\n  mine.lua +[12]\.[0-9]+'
like "a pair" "$out" 'p \(Nemenyi\)'
# shellcheck disable=SC2086
apsis lab $SMALL --friedman --json
printf '%s\n' "$out" >friedman
is "its data" "$(query friedman 'it.friedman.worlds, #it.friedman.ranks, #it.friedman.pairs, it.friedman.ranks[1].rank + it.friedman.ranks[2].rank')" \
    $'3\t2\t1\t3.0'
is "nobody asked" "$(query json1 it.friedman)" nil
end_item

item "a seed is one instance with one noise for every strategy; --seed is the first"
lua twin 'return assert(loadfile("mine.lua"))()'
sed 's/assert(loadfile("mine.lua"))()/{ options = { often = 3 }, plan = function(run) return { parents = { run.experiment % 3 == 0 and run.baseline or run.best }, operator = "exploration" } end, halt = function() end }/' twin.lua >same.lua
apsis lab mine.lua same.lua --world sphere:d=3,noise=gaussian --seeds 3 --seed 40 --evaluations 40 --csv - --jobs 1
is "the same policy twice finds the same" "$(printf '%s\n' "$out" | sed -n 's/^mine.lua,//p')" "$(printf '%s\n' "$out" | sed -n 's/^same.lua,//p')"
like "from the first seed on" "$out" '"sphere:d=3,noise=gaussian",42,'
end_item

item "a strategy runs with its own options, and what it leaves unspent is said; --set changes them"
apsis lab hillclimb random_walk --world onemax:n=60 --seeds 3 --evaluations 200
like "patience ends hillclimb early" "$(tr -s '\n ' ' ' <<<"$out")" 'hillclimb: 3 of 3 ended early, [0-9]+% unspent \(no improvement in 20 experiments\)'
unlike "and not the other" "$out" 'random_walk: '
apsis lab hillclimb random_walk --world onemax:n=60 --seeds 3 --evaluations 200 --set hillclimb.patience=200
unlike "with patience it goes on" "$out" 'ended early, [0-9]'
end_item

item "run.log of the first seed goes to stderr; a strategy that fails shows what it logged last"
lua logs 'return { plan = function(run) run.log("free", { free = run.free }) return { parents = { run.best } } end, halt = function(run)
  if run.experiment > 2 then return "enough" end end }'
apsis lab logs.lua --world onemax:n=9 --world steps.lua --seeds 3 --evaluations 9 --jobs 2
is "two experiments of the first seed on each world, in order" "$err" "$(for world in onemax:n=9 steps.lua; do for n in 1 2; do
    echo "logs.lua on $world, seed 1, experiment $n: free { free = 1 }"; done; done)"
lua fails 'return { plan = function(run) run.log("about to fail", run.best) error "here" end }'
apsis lab fails.lua --world onemax:n=9 --seeds 2
like "a failure" "$code $err" $'^2 .*here\nrun.log.s last lines:\nexperiment 1: about to fail c0000 \\([0-9]\\)'
end_item

item "three strategies: each is compared with the first one; --all-pairs compares all, and p is corrected for what is compared"
lua third 'return { plan = function(run) return { parents = { run.baseline } } end, halt = function() end }'
three="hillclimb mine.lua third.lua --world onemax:n=12 --seeds 6 --evaluations 40"
for how in "" --all-pairs --overview; do
    # shellcheck disable=SC2086
    apsis lab $three $how --json
    printf '%s\n' "$out" >three$how
done
is "with the first" "$(query three '#it.comparisons, it.comparisons[1].a .. it.comparisons[5].a')" $'8\thillclimbhillclimb'
is "with --all-pairs" "$(query three--all-pairs '#it.comparisons, it.command:match "%-%-all%-pairs" ')" $'12\t--all-pairs'
is "with --overview" "$(query three--overview '#it.comparisons')" 12
smallest='(function() local least; for _, c in ipairs(it.comparisons) do if not least or c.p < least.p then least = c end end
    return ("%.3f"):format(least.p_holm / least.p) end)()'
is "by eight" "$(query three "$smallest")" 8.000
is "by twelve" "$(query three--all-pairs "$smallest")" 12.000
# shellcheck disable=SC2086
apsis lab $three
like "the legend says so" "$(tr -s '\n ' ' ' <<<"$out")" 'Each is compared with the first strategy, hillclimb; --all-pairs compares all\.'
unlike "no other pair" "$out" $'\n  (mine|third).lua +(mine|third).lua '
# shellcheck disable=SC2086
apsis lab $three --all-pairs
unlike "nothing to say with all" "$out" 'all-pairs'
like "every pair" "$out" $'\n  (mine|third).lua +(mine|third).lua '
end_item

item "a sweep runs every value of whoever has the option, and its winner on fresh seeds beside the strategy as it is"
apsis lab hillclimb random_walk --world onemax:n=20 --world steps.lua --seeds 6 --evaluations 150 --sweep patience=1,150 --json --jobs 2
printf '%s\n' "$out" >sweep
is "variants" "$(query sweep 'it.results[1].strategy, it.results[2].strategy, it.results[3].strategy')" $'hillclimb patience=1\thillclimb patience=150\trandom_walk'
is "the winner" "$(query sweep '#it.fresh.winners, it.fresh.winners[1]')" $'1\thillclimb patience=150'
is "on fresh seeds" "$(query sweep 'it.fresh.first_seed, it.fresh.seeds')" $'7\t6'
is "beside the defaults" "$(query sweep '#it.fresh.results, it.fresh.results[1].strategy, it.fresh.results[2].strategy')" $'4\thillclimb patience=150\thillclimb'
apsis lab hillclimb --world onemax:n=20 --seeds 2 --evaluations 50 --sweep patience=20,1 --csv fresh.csv
like "what it is, in words" "$(tr '\n' ' ' <<<"$out")" 'On fresh seeds, from 3 on: the sweep.s winner \(hillclimb patience=20\)'
is "a winner that is the default stands alone; fresh trials are in the CSV" "$(cut -d, -f1,3 fresh.csv | tail -2)" $'hillclimb patience=20,3\nhillclimb patience=20,4'
apsis lab hillclimb random_walk --world onemax:n=20 --world leadingones:n=10 --seeds 12 --evaluations 150 --sweep patience=1,150 --race --json --jobs 2
printf '%s\n' "$out" >race
is "a race drops the loser" "$(query race '#it.race.dropped, it.race.dropped[1].strategy, it.race.dropped[1].seeds < 12')" $'1\thillclimb patience=1\ttrue'
is "saves trials" "$(query race 'it.race.saved == (12 - it.race.dropped[1].seeds) / 36, #it.results')" $'true\t4'
is "and its winner runs on fresh seeds" "$(query race 'it.fresh.winners[1], it.fresh.first_seed')" $'hillclimb patience=150\t13'
apsis lab hillclimb random_walk --world onemax:n=20 --world leadingones:n=10 --seeds 12 --evaluations 150 --sweep patience=1,150 --race
like "in words" "$(tr -s '\n ' ' ' <<<"$out")" 'Race: 1 dropped \(hillclimb patience=1 after (5|10) seeds\); [0-9]+% of the trials saved\.'
apsis lab mine.lua hillclimb --world onemax:n=8 --seeds 1 --evaluations 9 --sweep often=2,3 --sweep hillclimb.patience=4,5 --json
printf '%s\n' "$out" >sweep
is "two sweeps" "$(query sweep '#it.results, it.results[2].strategy, it.results[4].strategy')" $'4\tmine.lua often=3\thillclimb patience=5'
apsis lab annealing --world onemax:n=8 --seeds 1 --evaluations 9 --sweep start=1,2 --sweep finish=0.1,0.2 --json
printf '%s\n' "$out" >sweep
is "a grid" "$(query sweep '#it.results, it.results[3].strategy')" $'4\tannealing start=2 finish=0.1'
end_item

item "--worlds lists them with their options; --overview is a line for each world; limits end runs"
apsis lab --worlds
like "one with its options" "$out" $'onemax: [^\n]*higher is better\\)\n    options: n=100'
like "what each has" "$out" 'Every world also has: cost=0.0 noise=none'
apsis lab mine.lua hillclimb --world onemax:n=8 --world steps.lua --seeds 2 --evaluations 20 --overview
like "overview" "$out" $'world +mine.lua +hillclimb\n  onemax:n=8 +[0-9.]+ +[0-9.]+\n  steps.lua +'
apsis lab mine.lua --world onemax:n=50,tokens=10 --seeds 1 --evaluations 50 --tokens 100 --csv -
like "tokens" "$out" ',100,0,"?budget: .*tokens'
apsis lab mine.lua --world onemax:n=50 --seeds 1 --evaluations 50 --minutes 5 --csv -
like "simulated minutes" "$out" 'budget: minutes used up'
end_item

item "what failed is said with the reason, in the overview too; and operators that a world does not have"
lua silent 'return { baseline = function() return 0 end, propose = function() end, evaluate = function() return 0 end }'
lua broken 'return { baseline = function() return 0 end, propose = function() return 1 end,
evaluate = function(_, genome) if genome == 1 then return nil, { reason = "division by zero" } end return 0 end }'
lua mistyped 'return { plan = function(run) return { parents = { run.best }, operator = "restrat" } end, halt = function() end }'
apsis lab mine.lua --world silent.lua --seeds 3 --evaluations 21
like "no answer" "$(tr -s '\n ' ' ' <<<"$out")" 'mine.lua: 60 of 60 proposals without an answer \('
unlike "no target, no ERT" "$out" 'ERT'
apsis lab mine.lua --world broken.lua --seeds 3 --evaluations 21
like "crashed" "$out" 'mine.lua: 60 of 60 crashed \(division by zero\)'
apsis lab mine.lua --world broken.lua --world onemax:n=8 --seeds 3 --evaluations 21 --overview
like "in the overview, with the world" "$out" 'mine.lua on broken.lua: 60 of 60 crashed \(division by zero\)'
unlike "nothing of the other world" "$out" 'onemax:n=8:'
apsis lab mistyped.lua --world onemax:n=30 --seeds 2 --evaluations 11
like "an operator" "$(tr -s '\n ' ' ' <<<"$out")" 'restrat: no such operator here, taken as exploitation in 20 proposals; did you mean "restart"'
lua narrow 'return { operators = { "exploitation" }, baseline = function() return 0 end, propose = function() return 1 end,
evaluate = function() return 0 end }'
lua crosses 'return { plan = function(run) return { parents = { run.best }, operator = "crossover" } end, halt = function() end }'
apsis lab crosses.lua --world narrow.lua --seeds 1 --evaluations 11
like "another world has it" "$(tr -s '\n ' ' ' <<<"$out")" 'crossover: no such operator here, taken as exploitation in 10 proposals( |$)'
unlike "and so it is no slip" "$out" 'did you mean'
end_item

item "what was skipped is counted with the reason; genomes that are no text are no near duplicates"
apsis lab openevolve --world nk:n=8,k=2 --seeds 2 --evaluations 60 --set near_duplicate=0.99
like "counted" "$(tr -s '\n ' ' ' <<<"$out")" 'openevolve: [0-9]+ of [0-9]+ skipped: duplicates \(nearly the same as c[0-9]+ \(similarity 1.00\)\)'
apsis lab openevolve --world nk:n=8,k=2 --world sphere:d=2 --seeds 2 --evaluations 60 --set near_duplicate=0.99 --overview
like "in the overview too" "$(tr -s '\n ' ' ' <<<"$out")" 'openevolve: [0-9]+ of [0-9]+ skipped: duplicates'
apsis lab openevolve --world sphere:d=2 --seeds 2 --evaluations 60 --set near_duplicate=0.99
unlike "numbers are compared as no text" "$out" 'skipped'
end_item

item "a setting without a strategy's name says whom it has reached"
apsis lab hillclimb mine.lua annealing --world onemax:n=8 --seeds 1 --evaluations 9 --set patience=9
like "one of three" "$out" $'patience=9 is set for hillclimb\n'
apsis lab hillclimb --world onemax:n=8 --seeds 1 --evaluations 9 --set patience=9
unlike "not of one" "$out" 'is set for'
unlike "one seed has no interval" "$out" '\[-\.\.'
end_item

item "--overview tells who ended early, explains only marks that it has, and shows a sweep's winner on fresh seeds"
apsis lab hillclimb --world onemax:n=60 --seeds 3 --evaluations 200 --overview --sweep patience=1,20
text=$(tr -s '\n ' ' ' <<<"$out")
like "early" "$text" 'hillclimb patience=1: 3 of 3 ended early, [0-9]+% unspent'
like "fresh seeds" "$text" 'On fresh seeds, from 4 on: the sweep.s winner \(hillclimb patience=20\).* Median final best, 3 seeds from 4'
unlike "no marks" "$text" '\+2 -1'
like "but why" "$text" 'No difference of the final best is shown\. With fewer than [0-9]+ seeds'
apsis lab mine.lua random_walk --world onemax:n=60 --seeds 12 --evaluations 200 --overview
like "marks are explained" "$(tr -s '\n ' ' ' <<<"$out")" ' \+1 .*\+2 -1: shown to be better'
end_item

item "--suite is a fixed campaign: the ratio on each world, and over all; one strategy is compared with the suite's"
apsis lab mine.lua --suite policy --seeds 2 --evaluations 30
is "exit code" "$code" 0
like "its version" "$out" '^Suite policy, version 1: 2 seeds from 1, at most 30 evaluations'
like "a column for each other strategy" "$out" $'\n  world +against [a-z]+ +against [a-z]+'
is "16 worlds" "$(grep -cE '^  [a-z]+(:[^ ]+)?( +x[0-9.e+]+ \[[0-9.]+\.\.[0-9.e+]+\])+$' <<<"$out")" 16
like "over all" "$out" $'Over all worlds:\n\n  strategy +against'
apsis lab random_walk hillclimb --suite policy --seeds 2 --evaluations 30 --json
printf %s "$out" >suite
is "the command" "$(query suite it.command)" 'apsis lab random_walk hillclimb --suite policy --seeds 2 --evaluations 30 --set hillclimb.patience=30'
is "each world of a pair" "$(query suite '#it.overall .. " " .. #it.overall[1].each .. " " .. it.overall[1].each[1].world')" '1 16 onemax:n=40'
apsis lab adaptive hillclimb --suite policy --seeds 1 --evaluations 30 --set adaptive.patience=9 --json
printf %s "$out" >suite
like "another strategy's patience leaves hillclimb's" "$(query suite it.command)" '--set adaptive.patience=9 --set hillclimb.patience=30$'
end_item

item "--no-history finds the same where a strategy looks at no history"
apsis lab mine.lua --world onemax:n=20 --seeds 2 --evaluations 50 --csv -
with=$out
apsis lab mine.lua --world onemax:n=20 --seeds 2 --evaluations 50 --csv - --no-history
is "the same" "$out" "$with"
end_item

# ---- bad input: named, with the remedy, before any work ----

refused() { # refused PATTERN ARGUMENTS...
    local pattern=$1
    shift
    apsis lab "$@" --seeds 2 --evaluations 20
    is "exit code of $*" "$code" 2
    like "message of $*" "$err" "$pattern"
    is "nothing printed for $*" "$out" ""
}
lua syntax 'return { baseline = function( }'
lua raises 'return { baseline = function() return 0 end, propose = function() return 1 end,
evaluate = function(_, genome) if genome == 1 then error("boom") end return 0 end }'
lua nan 'return { baseline = function() return 0 end, propose = function() return 1 end,
evaluate = function(_, genome) return genome == 1 and 0 / 0 or 0 end }'
lua text 'return { baseline = function() return 0 end, propose = function() return 1 end, evaluate = function() return "7" end }'
lua throws 'return { plan = function() error("no plan") end }'

item "bad input names the option and the remedy"
refused '--world: no world "onemx"; did you mean "onemax"' --world onemx
refused 'unknown option "m"; did you mean "n"' --world onemax:m=3
refused '--world.*: No such file' --world nosuch.lua
refused 'syntax.lua:1:' --world syntax.lua
refused 'no strategy "hilclimb".*did you mean "hillclimb"' hilclimb
refused 'nosuch.lua: No such file' nosuch.lua
refused 'steps.lua is a world.s file, not a strategy: --world steps.lua' steps.lua
refused 'nk:n=20 is a world, not a strategy: --world nk:n=20' nk:n=20
refused 'nk is a world, not a strategy: --world nk:m=20' nk:m=20
refused 'did you mean the file here, mine.lua' mine
refused '--world: no world "onemax,noise=gaussian"; did you mean onemax:noise=gaussian' --world onemax,noise=gaussian
refused 'hillclimb is given twice' hillclimb hillclimb
refused '--set: no strategy here declares an option "patince"; did you mean "patience"' --set patince=3
refused '--set: no strategy here declares an option "patience"' annealing --set patience=3
refused '--set: "patience" is not KEY=VALUE' --set patience
refused '--set: no strategy "hilclimb".*did you mean "hillclimb"' hillclimb --set hilclimb.patience=3
refused '--set: .*option patience must be a number' hillclimb --set patience=abc
refused '--sweep: "patience=" is not KEY=VALUE; .*--sweep patience=10,20,50' --sweep patience=
refused '--sweep: no strategy here declares an option "often"' hillclimb --sweep often=1,2
refused '--sweep: "patience=1,,2" has an empty value' --sweep patience=1,,2
refused '--sweep: .*option patience must be a number' hillclimb --sweep patience=1,x
refused '--workers must be 1 or more' --workers 0
refused '--axis cost: nothing costs anything on onemax:n=9; .* --world onemax:n=9,cost=0.01' --axis cost --world onemax:n=9
refused '--friedman ranks strategies over worlds: give two of each' hillclimb mine.lua --friedman
refused '--suite: no suite "polcy"; did you mean "policy"' --suite polcy
refused '--suite and --world: a suite has its own worlds' --suite policy --world onemax
refused '--suite and --sweep: a suite compares strategies' --suite policy --sweep patience=1,2
refused '--race is for a sweep: add one' hillclimb --race
refused '--jobs must be 1 or more' --jobs 0
refused '--usd must be more than 0' --usd 0
refused "--csv: cannot write $T/none/x: No such file" --csv "$T/none/x"
refused '--html: cannot write .*: Is a directory' --html "$T"
refused '--json and --csv - both want standard output' --json --csv -
refused '--coco: coco is not empty; give a new folder' --coco coco
refused '--coco and --iohprofiler name the same folder' --coco both --iohprofiler ./both
refused '--iohprofiler: cannot make the folder: .*csv1' --iohprofiler csv1
refused "--coco: give a folder's name" --coco ""
for wrong in '--seeds 0' '--evaluations 1' '--seeds x'; do
    # shellcheck disable=SC2086
    apsis lab $wrong
    is "exit code of $wrong" "$code" 2
    like "message of $wrong" "$err" "${wrong% *}"
done
echo precious >kept
apsis lab hillclimb --world nosuch --csv new --html kept
is "a file that was there is as it was, one that was not is not" "$(cat kept; ls new 2>&1 | tail -c 10)" $'precious\ndirectory'
end_item

item "what a world or a strategy does wrong is told with strategy, world and seed, the same whatever --jobs is"
for jobs in 1 2; do
    refused 'hillclimb on raises.lua, seed 1: .*raises.lua:2: boom' hillclimb --world raises.lua --jobs $jobs
    refused 'hillclimb on nan.lua, seed 1: nan.lua: evaluate gave -?nan, not a finite number' hillclimb --world nan.lua --jobs $jobs
    refused 'hillclimb on text.lua, seed 1: text.lua: evaluate gave 7, not a finite number' hillclimb --world text.lua --jobs $jobs
    refused 'throws.lua on onemax:n=9, seed 1: .*throws.lua:1: no plan' hillclimb throws.lua --world onemax:n=9 --jobs $jobs
done
end_item

# ---- workers that die, and interruptions ----

item "a worker that dies is replaced, and nothing is missing"
apsis lab hillclimb mine.lua --world steps.lua:at=9,marker=m --seeds 12 --evaluations 30 --jobs 2 --csv died
ok "it died" test -e m
is "exit code" "$code" 0
apsis lab hillclimb mine.lua --world steps.lua:at=9,marker=m --seeds 12 --evaluations 30 --jobs 1 --csv alive
ok "the same as one that did not" cmp died alive
end_item

item "a trial that its worker dies of twice is named, and the whole seeds before it are shown"
apsis lab hillclimb --world steps.lua:at=5 --seeds 12 --evaluations 30 --jobs 2
is "exit code" "$code" 2
like "named" "$err" 'hillclimb on steps.lua:at=5, seed 5: its worker process was ended by SIGKILL, twice'
like "what is whole" "$err" '4 of 12 seeds whole'
like "and shown, with what is missing" "$out" '^4 of 12 seeds from 1, .*; stopped by an error'
end_item

item "Ctrl-C prints the seeds that are whole, exits with 130, and leaves no process"
lua slow 'local fs, wait = require "apsis.fs", require "apsis.wait"
return { baseline = function() return 0 end, propose = function(_, _, parents) return parents[1] + 1 end,
evaluate = function(lab, genome)
  if lab.seed > 3 then
    fs.append("stuck", "x")
    wait.sleep(10000)
  end
  return genome
end }'
for jobs in 1 2; do
    rm -f stuck
    "$APSIS" lab hillclimb --world slow.lua --seeds 500 --evaluations 10 --jobs $jobs --csv slow.csv >slow.out 2>slow.err &
    lab=$!
    at_end+=("kill -9 $lab 2>/dev/null")
    for _ in $(seq 2400); do [ "$(cat stuck 2>/dev/null | wc -c)" = $jobs ] && break; nap 0.05; done
    kill -INT $lab
    wait $lab
    is "exit code with $jobs" $? 130
    like "how far" "$(cat slow.err)" 'interrupted after 3 of 500 trials, 3 of 500 seeds whole'
    like "what was running" "$(cat slow.err)" 'was running: hillclimb on slow.lua, seed [0-9]+'
    like "the CSV is partial, and that is said" "$(cat slow.err)" 'partial, whole seeds only: --csv slow.csv'
    is "whole seeds only" "$(tail -n +2 slow.csv | wc -l)" "$(head -1 slow.out | cut -d' ' -f1)"
    like "what is whole" "$(head -1 slow.out)" '^3 of 500 seeds from 1, .*; interrupted$'
    for _ in $(seq 2400); do gone "^apsis-cage $lab " && break; nap 0.05; done
    ok "no process is left" gone "^apsis-cage $lab "
done
end_item

item "a world that never answers is named at the interruption, also with one job, and JSON says what is missing"
lua endless 'local fs = require "apsis.fs"
return { baseline = function() return 0 end, evaluate = function(_, genome) return genome end, propose = function(lab)
  if lab.seed == 3 then fs.append("stuck", "x") end
  while lab.seed == 3 do end
  return 1
end }'
for jobs in 1 2; do
    rm -f stuck
    "$APSIS" lab mine.lua --world endless.lua --seeds 3 --evaluations 10 --jobs $jobs --json >endless.out 2>endless.err &
    lab=$!
    at_end+=("kill -9 $lab 2>/dev/null")
    for _ in $(seq 2400); do # until the others are done: the worker that is stuck is the only one
        [ -e stuck ] && [ "$(wc -w <"/proc/$lab/task/$lab/children")" = 1 ] && break
        sleep 0.05
    done
    kill -INT $lab
    wait $lab
    is "exit code with $jobs" $? 130
    like "named" "$(cat endless.err)" 'was running: mine.lua on endless.lua, seed 3\)'
    is "JSON" "$(query endless.out 'it.seeds, it.wanted, it.interrupted')" $'2\t3\ttrue'
done
apsis lab hillclimb --world steps.lua:at=2 --seeds 3 --evaluations 9 --json
printf '%s\n' "$out" >failed
is "a failure is in the JSON" "$(query failed 'it.seeds, it.wanted, it.interrupted, it.failure.seed')" $'1\t3\tnil\t2'
is "what is whole has none of these" "$(query json1 'it.wanted, it.interrupted, it.failure')" $'nil\tnil\tnil'
end_item

item "a bar with the time left on a terminal, a line at the end cleared; none with -q"
if command -v script >/dev/null; then
    timeout 300 script -qec "stty cols 60; '$APSIS' lab hillclimb --world onemax:n=9 --seeds 3 --jobs 1" /dev/null </dev/null >tty.out
    like "drawn, at most ten times a second" "$(cat tty.out)" '\[[#.]+\] lab  [0-3] of 3 trials'
    like "and cleared before the table" "$(tr -d '\n' <tty.out)" $'\r\e\\[K3 seeds from 1'
    is "no wider than the terminal" "$(tr -d '\r' <tty.out | grep quartiles | awk 'length > 60' | wc -l)" 0
    timeout 300 script -qec "stty cols 80; '$APSIS' lab hillclimb mine.lua --world nk:n=9,k=2 --sweep patience=10,200 --seeds 3 --evaluations 50 -q" \
        /dev/null </dev/null >tty.out
    is "sweeps have room in 80 columns" "$(tr -d '\r' <tty.out | awk 'length > 80')" ""
    like "with every column" "$(cat tty.out)" 'solved +ERT \[95%\] +AOCC +kept'
    like "names stand above their values" "$(tr -d '\r' <tty.out)" $'\n  mine.lua against hillclimb patience=10\n    best '
    timeout 300 script -qec "stty cols 40; '$APSIS' lab hillclimb --world nk:n=9,k=2 --seeds 3 --evaluations 50 -q" /dev/null </dev/null >tty.out
    like "columns that have no room are named" "$(tr -s '\r\n ' ' ' <tty.out)" 'left out, too narrow: AOCC, kept'
    unlike "and not explained" "$(cat tty.out)" 'AOCC:'
    timeout 300 script -qec "'$APSIS' lab hillclimb --world onemax:n=9 --seeds 3 --jobs 1 -q" /dev/null </dev/null >tty.out
    unlike "quiet" "$(cat tty.out)" 'trials'
fi
end_item

finish
