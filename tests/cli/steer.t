#!/bin/bash
# steer: what it changes of a state file, by options and in an editor, and what it leaves alone; what status says of a goal; and that a
# fresh clone shows the journal that is on the branch of the state file.
. tests/cli/lib.sh || exit 1
export APSIS_NOW=2026-11-22T12:00:00Z TMPDIR=$T/tmp
unset VISUAL EDITOR
mkdir "$TMPDIR"

# goal NAME FRONT_MATTER: a goal that raises value.txt.
goal() {
    mkdir -p .autoloop/programs
    cat >".autoloop/programs/$1.md" <<TEXT
---
schedule: every 6h
provider: {kind: lua, use: propose.lua}
$2
---
# Raise the score

## Goal

The number in value.txt is to grow.

## Target

- \`value.txt\`

## Evaluation

\`\`\`bash
sh evaluate.sh
\`\`\`

The metric is \`score\`, printed as a METRIC line. Higher is better.
TEXT
}

new_project nothing
apsis steer
is "without goals it exits 2" "$code" 2
like "and says how to make one" "$err" 'no standing goals in .*`apsis init --program NAME`'

new_project goals
goal speed 'target-metric: 3'
git add -A && git commit -qm goals

# the state file as it is kept
kept() { git show memory/autoloop:speed.md; }
row() { kept | sed -n "s/^| $1 | \(.*\) |\$/\1/p"; }
tip() { git rev-parse -q --verify memory/autoloop; }

# ---- options ----

apsis steer --print
is "a goal that never ran has a state file to look at" "$code $(head -1 <<<"$out")" "0 # speed"
is "looking makes none" "$(tip)" ""
apsis steer --set Paused=false
is "what it says already changes nothing" "$code $out $(tip)" "0 speed: nothing changed "
apsis steer --set Paused=true --set 'Pause Reason=holidays | until May' --priority 'Try the cache' --avoid 'No regexes'
is "the only goal needs no name" "$code" 0
is "what was changed is told" "$out" \
    "speed: Paused = true, Pause Reason = holidays | until May, Current Priorities, Foreclosed Avenues (memory/autoloop:speed.md)"
is "it is one commit that says so" "$(git log --format=%s memory/autoloop)" \
    "speed: steered: Paused = true, Pause Reason = holidays | until May, Current Priorities, Foreclosed Avenues"
is "rows are set" "$(row Paused), $(row 'Pause Reason')" 'true, holidays \| until May'
item "items stand in their sections in place of the placeholders"
like priorities "$(kept)" $'Current Priorities\n\n<!--[^\n]*-->\n\n- Try the cache\n\n---'
like foreclosed "$(kept)" $'Foreclosed Avenues\n\n<!--[^\n]*-->\n\n- No regexes\n\n---'
like "lessons stay" "$(kept)" $'Lessons Learned\n\n<!--[^\n]*-->\n\n- \\*\\(none yet\\)\\*\n'
end_item
is "no file of the user's is touched" "$(git status --porcelain)" ""
apsis schedule
like "the goal is paused" "$out" 'speed +paused .*holidays \| until May'
apsis status .autoloop/programs/speed
like "and its status says so" "$out" 'goal: +paused: holidays \| until May'
before=$(tip)
apsis steer speed --set paused=yes --avoid 'no regexes.'
is "saying it again changes nothing" "$code $out $(tip)" "0 speed: nothing changed $before"
apsis steer speed --set Paused=off --json
is "its JSON says whether it changed" "$out" '{"changed":true,"program":"speed"}'
is "the reason goes with the pause" "$(row Paused), $(row 'Pause Reason')" "false, —"
apsis steer speed --set Paused=off --json
is "or not" "$out" '{"changed":false,"program":"speed"}'
apsis steer --set 'Pause Reason=later' --set Paused=true
is "a reason that is given stays, whatever the order" "$(row Paused), $(row 'Pause Reason')" "true, later"
apsis steer --set Paused=false --set PR=4 --set issue=https://example.org/a/issues/7 --set 'recent-statuses=rejected,Error' \
    --set 'Last Run=2026-11-22T13:00:00+02:00' --set 'Consecutive Errors=2' --lesson "Warm it up first" --lesson "Cold starts lie"
is "every other row is written as apsis reads it" \
    "$(row PR), $(row Issue), $(row 'Recent Statuses'), $(row 'Last Run'), $(row 'Consecutive Errors')" \
    "#4, #7, rejected, error, 2026-11-22T11:00:00Z, 2"
like "two lessons are two items" "$(kept)" $'-->\n\n- Warm it up first\n- Cold starts lie\n\n---'
apsis status .autoloop/programs/speed
like "status says when it is due, and that its turns were errors" "$out" 'goal: +not due, next 2026-11-22 17:00Z; 2 errors in a row'
apsis steer --set 'Recent Statuses=' --set 'Last Run=' --set 'Consecutive Errors=' --set PR=
is "rows are emptied" "$(row PR), $(row 'Recent Statuses'), $(row 'Last Run'), $(row 'Consecutive Errors')" "—, —, —, 0"

before=$(tip)
refused() { # refused WHAT REGEX ARGUMENTS...
    local what=$1 regex=$2
    shift 2
    apsis steer "$@"
    is "$what exits 2" "$code" 2
    like "$what says why" "$err" "$regex"
}
item "what cannot be is refused with what can, and nothing is changed"
allowed='rows that can be set: Paused, Pause Reason, Completed, Completed Reason, Recent Statuses, Consecutive Errors, PR, Issue, Last Run'
refused best "Best Metric cannot be set: it comes from the journal.*$allowed" --set 'Paused=true' --set 'best metric=9'
refused count "Iteration Count cannot be set" --set 'Iteration Count=9'
refused target "Target Metric cannot be set: it comes from the goal's own file" --set 'Target Metric=9'
refused branch "Branch cannot be set" --set 'Branch=main'
refused unknown "no row 'Puased'; did you mean 'Paused'[?] $allowed" --set Puased=true
refused odd "no row 'zzz'; $allowed" --set zzz=true
refused bare "'Paused' is not ROW=VALUE" --set Paused
refused truth "Paused: 'maybe' is not true or false" --set Paused=maybe
refused number "PR: 'x' is not a number" --set PR=x
refused time "Last Run: 'yesterday' is not a time" --set 'Last Run=yesterday'
refused status "Recent Statuses: 'fine' is not of accepted" --set 'Recent Statuses=fine'
refused whole "Consecutive Errors: '-1' is not" --set 'Consecutive Errors=-1'
refused text "the text is empty" --priority ' - '
refused both "leave the other options out" --print --set Paused=true
refused name "no goal 'sped'; did you mean 'speed'[?] goals: speed" sped
end_item
is "nothing was" "$(tip)" "$before"

# ---- the editor ----

# editor <<SCRIPT: an editor of the user's, whose file is $1; it writes down what it was given.
editor() {
    {
        # shellcheck disable=SC2016
        printf 'echo "$1" >"%s/given"; ls -ld "$(dirname "$1")" >"%s/folder"\n' "$T" "$T"
        cat
    } >"$T/an editor.sh"
    export EDITOR="sh '$T/an editor.sh'"
}
left() { find "$TMPDIR" -name 'apsis-steer-*' -type d; }

editor <<'SCRIPT'
sed 's/| Paused | false |/| Paused | true |/; s/^- Cold starts lie$/- Cold starts lie a lot/' "$1" >"$1.new" && mv "$1.new" "$1"
SCRIPT
apsis steer speed
is "an edit is told" "$code $out" "0 speed: Paused = true (memory/autoloop:speed.md)"
is "it is a commit" "$(git log -1 --format=%s memory/autoloop)" "speed: state file edited"
like "of what was written" "$(row Paused) $(kept)" $'^true .*\n- Cold starts lie a lot\n'
like "the file has the goal's name" "$(cat "$T/given")" '^.*/tmp/apsis-steer-[^/]*/speed\.md$'
like "in a folder for nobody else" "$(cat "$T/folder")" '^drwx------'
is "which is gone" "$(left)" ""
apsis steer --set Paused=false
before=$(tip)

VISUAL=$EDITOR EDITOR=false apsis steer
is "VISUAL comes before EDITOR" "$code" 0
apsis steer --set Paused=false
before=$(tip)
if command -v script >/dev/null; then
    EDITOR="[ -t 0 ] && [ -t 1 ] && touch '$T/seen' && :" script -qec "'$APSIS' steer speed" /dev/null </dev/null >"$T/terminal" 2>&1
    is "the editor has the terminal" "$(test -e "$T/seen" && tr -d '\r' <"$T/terminal")" "speed: nothing changed"
fi
EDITOR=true apsis steer
is "an edit that changes nothing changes nothing" "$code $out $(tip)" "0 speed: nothing changed $before"
EDITOR=false apsis steer
is "an editor that fails changes nothing" "$code $(tip) $(left)" "3 $before "
like "and is named" "$err" 'the editor \(false\) ended with exit code 1: nothing was changed'
EDITOR="$T/nosuch" apsis steer
like "so is one that is not there" "$code $err" '^3 .*set VISUAL or EDITOR to an installed one'
editor <<<': >"$1"'
apsis steer
is "a file left empty changes nothing" "$code $(tip) $(left)" "2 $before "
editor <<<'echo "half of it" >"$1"; exit 3'
apsis steer
is "what a failing editor wrote is not taken" "$code $(tip)" "3 $before"
is "and is not lost" "$(cat "$(left)/speed.md")" "half of it"
like "for it is named" "$err" "your text is in $(left)/speed.md"
rm -rf "$(left)"
editor <<<'printf "\\377" >>"$1"'
apsis steer
is "what is no text is not taken, and kept" "$code $(tip) $(test -e "$(left)/speed.md" && echo kept)" "2 $before kept"
rm -rf "$(left)"

editor <<SCRIPT
sed 's/^- Cold starts lie a lot\$/&\n- mine/; s/| PR | .* |/| PR | #5 |/' "\$1" >"\$1.new" && mv "\$1.new" "\$1"
'$APSIS' steer speed --set Issue=8 --lesson theirs --set PR=6
SCRIPT
apsis steer
is "where the file was changed meanwhile the edit is joined with that" "$code $(row Issue) $(row PR) $(left)" "0 #8 #6 "
like "both lessons are there" "$(kept)" $'\n- Cold starts lie a lot\n- theirs\n- mine\n'
like "a contradiction is said" "$err" 'PR is "#5" in your edit and "#6" in what was written meanwhile, and "#6" counts'
is "it is a commit of its own" "$(git log -2 --format=%s memory/autoloop | tr '\n' ';')" \
    "speed: state file edited;speed: steered: PR = #6, Issue = #8, Lessons Learned;"
editor <<SCRIPT
sed 's/| PR | #6 |/| PR | #7 |/' "\$1" >"\$1.new" && mv "\$1.new" "\$1"
'$APSIS' steer speed --set PR=7
SCRIPT
before=$(git rev-list --count memory/autoloop)
apsis steer
is "where it was changed alike there is nothing left to change" "$code $out $(($(git rev-list --count memory/autoloop) - before))" \
    $'0 speed: PR = #7 (memory/autoloop:speed.md)\nspeed: nothing changed 1'
editor <<SCRIPT
head -c 40000 /dev/zero | tr '\\0' x >>"\$1"
'$APSIS' steer speed --set Issue=9
SCRIPT
apsis steer
is "where even that cannot be written nothing is" "$code $(row Issue)" "3 #9"
like "that is said" "$err" "your text is in $(left)/speed.md"
is "and the edit is kept" "$(tail -c 3 "$(left)/speed.md")" "xxx"
rm -rf "$(left)"
apsis steer --set PR= --set Issue=8

# ---- measurements ----

apsis tick
is "a tick goes on from a steered file" "$code" 0
unlike "which contradicts nothing" "$err" 'put back|corrected'
unset APSIS_NOW
export APSIS_NOW=2026-11-22T12:30:00Z
apsis status .autoloop/programs/speed
item "status says of a goal what matters"
like goal "$out" $'\ngoal: +not due, next 2026-11-22 18:00Z\n'
like schedule "$out" $'\nschedule: +every 6h\n'
like target "$out" $'\ntarget: +3\n'
like initial "$out" $'\ninitial: +c0000 = 0; the best is \\+1 from it\n'
like best "$out" $'\nbest: +c0001 = 1'
unlike "nothing of a tick's own limit" "$out" 'budget|loop:'
end_item
note=.autoloop/programs/speed/logs/state.json
cp $note "$T/note"
sed 's/"reason":"budget[^"]*"/"reason":"the strategy plans nothing more"/' "$T/note" >$note
apsis status .autoloop/programs/speed
like "but that a strategy ended it is said" "$out" $'\nloop: +finished: the strategy plans nothing more\n'
cp "$T/note" $note
apsis status --json .autoloop/programs/speed
like "and its JSON too" "$out" \
    '"goal":\{"errors":0,"initial":0,"name":"speed","next_due":"2026-11-22T18:00:00Z","reason":"not due yet","schedule":"every 6h","state":"not due","target":3\}'
editor <<'SCRIPT'
sed 's/| Best Metric | 1 |/| Best Metric | 99 |/; s/| Branch | .* |/| Branch | main |/; s/| Paused | false |/| Paused | perhaps |/' "$1" >"$1.new"
mv "$1.new" "$1"
SCRIPT
apsis steer
is "an edit of a measurement is put back" "$code $(row 'Best Metric') $(row Branch)" '0 1 `autoloop/speed`'
like "and said" "$err" "speed.md: Best Metric was put back to 1: it comes from the journal"
like "a row that cannot be read is warned of" "$err" 'speed.md: line [0-9]*: Paused: "perhaps" is neither true nor false'
apsis steer --set Paused=false
is "and is set right" "$(row Paused)" false

for hour in 1 2; do apsis tick --program speed; done
is "a target that was met completes the goal" "$(row Completed)" true
apsis status .autoloop/programs/speed
like "status says with what" "$out" 'goal: +completed: target metric 3 reached with value 3 \(higher is better\)'
apsis steer --set Completed=false --set 'Last Run='
apsis tick
like "one that is called back goes on past its target" "$out" $'chosen +speed\n.*best c0004: 4'
apsis steer --set Completed=true --set 'Completed Reason=no longer wanted'
is "a person's reason takes the place of apsis's" "$(row 'Completed Reason')" "no longer wanted"
apsis steer --set Completed=false
is "and goes with the completion" "$(row Completed), $(row 'Completed Reason')" "false, —"

# ---- a fresh clone ----

home=$PWD
git clone -q . "$T/undisturbed-clone" && cd "$T/undisturbed-clone" || exit 1
at=.autoloop/programs/speed
apsis log $at
is "in a fresh clone log has the experiments" "$code $(grep -c ' c000[0-4] ' <<<"$out")" "0 5"
for command in "show best -C" "diff best -C" "report --out $T/report.html -C" "best" "status"; do
    # shellcheck disable=SC2086
    apsis $command $at
    is "so has ${command%% *}" "$code" 0
done
like "status has the best" "$out" 'best: +c0004 = 4'
is "and they write nothing" "$(git status --porcelain --ignored) $(test -e $at || echo none)" " none"
mkdir -p $at/.apsis
flock $at/.apsis/lock sh -c 'echo "$$ 2026-11-22T12:00:00Z" >.autoloop/programs/speed/.apsis/lock
    exec 9<.autoloop/programs/speed/.apsis/lock; "$0" log .autoloop/programs/speed' "$APSIS" >"$T/held" 2>&1
is "nor do they wait for somebody who works on the goal" "$? $(grep -c ' c000[0-4] ' "$T/held")" "0 5"
rm -rf $at
mv .git/objects/pack "$T/packs"
for pack in "$T"/packs/*.pack; do [ ! -e "$pack" ] || git unpack-objects -q <"$pack"; done
object=.git/objects/$(git rev-parse origin/memory/autoloop:speed.jsonl | sed 's|^..|&/|')
mv "$object" "$T/object"
apsis status $at.md
is "if it cannot be read, status goes on" "$code" 0
like "and says so" "$err" "speed: its journal could not be read: "
mv "$T/object" "$object"

apsis steer --set Paused=true
like "with an origin it says how to push" "$out" $'\nif ticks run on another machine: git push origin memory/autoloop'
is "the branch goes on from origin's" "$(git rev-list --count origin/memory/autoloop..memory/autoloop)" 1
git checkout -q memory/autoloop
EDITOR=false apsis steer speed -C "$T/undisturbed-clone"
is "where its goal's files are not, there is none" "$code" 2
git checkout -q main
git worktree add -q "$T/memory" memory/autoloop
EDITOR="touch '$T/opened'" apsis steer
is "where the branch is checked out nothing is opened" "$code $(test -e "$T/opened" || echo no)" "3 no"
like "and what to do is said" "$err" "memory/autoloop is checked out in $T/memory"

# ---- several goals, and a folder ----

cd "$home" || exit 1
goal size 'memory: folder'
mkdir -p sub && cp value.txt evaluate.sh propose.lua sub
(cd sub && EXTRA='program: nested' write_manifest)
git add -A && git commit -qm more
refused "one of several" 'name the goal: nested, size, speed'
apsis steer size --set Paused=true --set 'Pause Reason=too early'
is "a folder's state file is a file" "$code $out" \
    "0 size: Paused = true, Pause Reason = too early (.autoloop/memory/size.md)"
is "which is there" "$(git status --porcelain)" "?? .autoloop/memory/"
like "and says it" "$(cat .autoloop/memory/size.md)" $'\n\\| Paused \\| true \\|\n\\| Pause Reason \\| too early \\|\n'
apsis steer -C sub --priority 'be small'
is "the goal whose folder is named is meant" "$code $out" "0 nested: Current Priorities (memory/autoloop:nested.md)"
cd "$T" || exit 1
apsis steer speed -C "$home" --set Issue=9
is "and by its name from anywhere" "$code $out" "0 speed: Issue = #9 (memory/autoloop:speed.md)"
cd "$home" || exit 1
editor <<<"sed 's/too early/no more/' \"\$1\" >\"\$1.new\" && mv \"\$1.new\" \"\$1\""
apsis steer size
like "a folder's is edited as a branch's" "$code $out $(cat .autoloop/memory/size.md)" '^0 size: Pause Reason = no more .*\| no more \|'
goal bad 'schedule: every 5 hours'
apsis steer bad --set Paused=true
is "a goal that is wrong cannot be steered" "$code" 2
like "and is told of" "$err" "bad is invalid: .*bad\.md:"

cd "$T/nothing" || exit 1
apsis status
unlike "status of a project that is no goal says nothing of goals" "$out" 'goal:|schedule:|initial:'
apsis status --json
like "nor its JSON" "$out" '"goal":null'
is "nothing is left behind" "$(left)" ""

finish
