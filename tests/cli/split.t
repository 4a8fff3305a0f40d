#!/bin/bash
# split: a candidate's changes as independent branches from the baseline, each measured by itself; all of them or none.
UNDISTURBED=1 # by tests/beside_gc: a repository that is copied beside gc keeps its locks
. tests/cli/lib.sh || exit 1
. tests/cli/deliver.sh

# The best, c0005, is a.txt 3 (c0001, c0005), b.txt 3 (c0002) and a.txt 25 (c0004).
deliverable run <<'END'
set a.txt 3 x5
set b.txt 3 x6
set c.txt 1 x-3
set a.txt 25 x7
set a.txt 3 x8
END

start=$(git rev-parse HEAD)
made() { git for-each-ref --format='%(refname:short)' "refs/heads/${1:-apsis/tiny-split}/"; }

# merges REF: all branches merge, in their order, to REF's tree.
merges() {
    git checkout -q --detach refs/apsis/tiny/c0000 || return 1
    for branch in $(made); do git merge -q --no-edit "$branch" >/dev/null || return 1; done
    is "all together" "$(git rev-parse 'HEAD^{tree}')" "$(git rev-parse "$1^{tree}")"
    git checkout -q main
}

item "a branch for each part, one commit from the baseline, each measured by itself; the user's files are not touched"
again run parts
before=$(git rev-parse HEAD) files=$(git status --porcelain; git ls-files -s)
apsis split
is "exit" "$code" 0
is "branches" "$(made | tr '\n' ' ')" \
    "apsis/tiny-split/1-set-a-txt-3-x8 apsis/tiny-split/2-set-b-txt-3-x6 apsis/tiny-split/3-set-a-txt-25-x7 "
for branch in $(made); do is "$branch: commits" "$(git log --format=%P -1 "$branch")" "$start"; done
is "the first has its own lines only" "$(git show apsis/tiny-split/1-set-a-txt-3-x8:a.txt | sed -n '3p;25p' | tr '\n' ' ')" "x8 25 "
is "the third, too" "$(git show apsis/tiny-split/3-set-a-txt-25-x7:a.txt | sed -n '3p;25p' | tr '\n' ' ')" "3 x7 "
is "values" "$(for branch in $(made); do git log -1 --format='%(trailers:key=Apsis-Value,valueonly)' "$branch" | cut -d' ' -f1; done | tr -d '\n')" 867
is "facts" "$(git log -1 --format='%(trailers:key=Apsis-Candidate,valueonly,separator=)%(trailers:key=Apsis-Part,valueonly,separator=)' \
    apsis/tiny-split/2-set-b-txt-3-x6)" "c00052 of 3"
line "the table: a part" "$out" '^1 +8 +\+8 +better +set a.txt 3 x8 \(c0001 c0005: a.txt\)$'
line "all together" "$out" '^together +21 +\+21 +better +c0005$'
is "the user's files" "$(git rev-parse HEAD; git status --porcelain; git ls-files -s)" "$before
$files"
merges refs/apsis/tiny/c0005
end_item

item "the journal, the run's branch and its refs stay as they are, and no folder is left behind"
again run quiet
refs=$(git for-each-ref refs/apsis refs/heads) journal=$(cksum <logs/results.jsonl)
mkdir "$T/tmp"
TMPDIR=$T/tmp apsis split --prefix mine
is "exit" "$code" 0
is "refs" "$(git for-each-ref refs/apsis refs/heads | grep -v refs/heads/mine)" "$refs"
is "the journal" "$(cksum <logs/results.jsonl)" "$journal"
is "folders" "$(ls -A "$T/tmp")" ""
is "--prefix" "$(made mine | wc -l)" 3
end_item

item "--dry-run shows the parts, measures nothing and makes nothing"
again run dry
before=$(state)
apsis split --dry-run
is "exit" "$code" 0
is "nothing changed" "$(state)" "$before"
unlike "nothing measured" "$err" measuring
line "a part" "$out" '^2  set b.txt 3 x6 \(c0002: b.txt\)$'
line "a branch" "$out" '^  apsis/tiny-split/2-set-b-txt-3-x6$'
apsis split --dry-run --json
is "as JSON" "$(json created) $(json parts.2.steps.1) $(json parts.2.value) $(json parts.2.branch)" "false c0002 null apsis/tiny-split/2-set-b-txt-3-x6"
end_item

item "--json: parts, values, gains and branches"
again run as_json
apsis split --json
is "exit" "$code" 0
is "all" "$(json created) $(json baseline) $(json together) $(json gain)" "true 0 21 21"
is "a part" "$(json parts.1.value) $(json parts.1.gain) $(json parts.1.files.1) $(json parts.1.steps.2)" "8 8 a.txt c0005"
is "its commit" "$(json parts.1.commit)" "$(git rev-parse apsis/tiny-split/1-set-a-txt-3-x8)"
end_item

item "a lower metric: a gain is positive, and the words are right"
DIRECTION=lower deliverable lower <<'END'
set a.txt 3 x-5
set b.txt 3 x-6
END
apsis split
line "better" "$out" '^1 +-5 +-5 +better'
git branch -q -D $(made) && apsis split --json
is "gain" "$(json parts.1.gain) $(json gain)" "5 11"
end_item

item "--together keeps steps in one part"
again run together
apsis split --together c0002,4
is "exit" "$code" 0
is "branches" "$(made | tr '\n' ' ')" "apsis/tiny-split/1-set-a-txt-3-x8 apsis/tiny-split/2-set-a-txt-25-x7 "
is "the second" "$(git diff --name-only main apsis/tiny-split/2-set-a-txt-25-x7 | tr '\n' ' ')" "a.txt b.txt "
merges refs/apsis/tiny/c0005
end_item

item "changes of the same lines, or three lines apart, are one part; further apart they are not"
deliverable near <<'END'
set a.txt 3 x1
set a.txt 6 x2
set a.txt 7 x3
set a.txt 20 x4
END
apsis split
is "exit" "$code" 0
is "branches" "$(made | wc -l)" 2
merges refs/apsis/tiny/c0004
end_item

item "a step that changes two files joins what overlaps with it in either"
deliverable across <<'END'
set a.txt 3 x1
set b.txt 3 x1
set a.txt 3 x2; set b.txt 4 x1
set c.txt 9 x1
END
apsis split
is "exit" "$code" 0
is "branches" "$(made | tr '\n' ' ')" "apsis/tiny-split/1-set-a-txt-3-x2-set-b-txt-4-x1 apsis/tiny-split/2-set-c-txt-9-x1 "
merges refs/apsis/tiny/c0004
end_item

item "a renamed file, a new one, a deleted one, and what was changed in them: each goes with its steps"
deliverable renamed <<'END'
set b.txt 3 x1
mv b.txt z.txt; set z.txt 3 x1; new n.txt x1
new n.txt x5
rm c.txt; set a.txt 9 x2
END
apsis split
is "exit" "$code" 0
is "branches" "$(made | wc -l)" 2
is "the rename" "$(git diff --name-status -M main "$(made | head -1)" | cut -f1,2 | tr '\t\n' '  ')" "A n.txt R096 b.txt "
is "the rest" "$(git diff --name-status main "$(made | tail -1)" | tr '\t\n' '  ')" "M a.txt D c.txt "
merges refs/apsis/tiny/c0004
end_item

item "a step of which nothing is left has no branch"
deliverable undone <<'END'
set a.txt 3 x1
new n.txt x1
set b.txt 3 x4; rm n.txt
END
apsis split --dry-run
is "parts" "$(printf '%s\n' "$out" | grep -c '^[0-9]  ')" 2
deliverable undone_alone <<'END'
set a.txt 3 x1
set c.txt 3 x1
set c.txt 3 3; set b.txt 20 x5
END
apsis split
is "exit" "$code" 0
is "files" "$(for branch in $(made); do git diff --name-only main "$branch"; done | tr '\n' ' ')" "a.txt b.txt "
merges refs/apsis/tiny/c0003
end_item

item "steps without gain go with the one after them"
cat >"$T/all.lua" <<'END'
return { plan = function(run) return { parents = { run.current }, operator = "exploitation" } end, accept = function() return true end,
  halt = function() end }
END
mkdir "$T/folded" && cp "$T/all.lua" "$T/folded/"
STRATEGY=./all.lua deliverable folded <<'END'
set a.txt 3 x5
set b.txt 3 x-1
set c.txt 3 x9
END
apsis split
is "branches" "$(made | wc -l)" 2
is "the second" "$(git diff --name-only main "$(made | tail -1)" | tr '\n' ' ')" "b.txt c.txt "
end_item

item "a part that fails by itself is joined to the one that it needs, so no branch's tree fails"
MEASURE_MORE='if grep -q "^x6" b.txt; then grep -q "^x[58]" a.txt || exit 1; fi' deliverable needs <<'END'
set a.txt 3 x5
set c.txt 3 x4
set b.txt 3 x6
END
apsis split
is "exit" "$code" 0
like "said" "$err" "part 3 fails by itself: .*exit"
is "branches" "$(made | tr '\n' ' ')" "apsis/tiny-split/1-set-b-txt-3-x6 apsis/tiny-split/2-set-c-txt-3-x4 "
is "the first" "$(git diff --name-only main "$(made | head -1)" | tr '\n' ' ')" "a.txt b.txt "
line "its value" "$out" '^1 +11 '
merges refs/apsis/tiny/c0003
end_item

item "parts that only pass all together are one branch, with the candidate's tree"
MEASURE_MORE='if grep -q "^x3" c.txt; then grep -q "^x1" a.txt && grep -q "^x2" b.txt || exit 1; fi' deliverable whole <<'END'
set a.txt 3 x1
set b.txt 3 x2
set c.txt 3 x3
END
apsis split
is "exit" "$code" 0
is "branch" "$(made)" apsis/tiny-split/1-set-c-txt-3-x3
is "its tree" "$(git rev-parse "$(made)^{tree}")" "$(git rev-parse 'refs/apsis/tiny/c0003^{tree}')"
end_item

item "one part is one branch, not measured twice"
deliverable single <<'END'
set a.txt 3 x5
END
apsis split
is "exit" "$code" 0
is "branch" "$(made)" apsis/tiny-split/1-set-a-txt-3-x5
is "the tree" "$(git rev-parse "$(made)^{tree}")" "$(git rev-parse 'refs/apsis/tiny/c0001^{tree}')"
is "measured" "$(printf '%s\n' "$err" | grep -c measuring)" 2
end_item

item "a dirty tree and a detached HEAD are no obstacle and stay; a branch that moved on is none, too"
again run dirty
git checkout -q --detach && echo mine >>a.txt && echo new >new.txt
before=$(git rev-parse HEAD; git status --porcelain; cat a.txt new.txt)
apsis split
is "exit" "$code" 0
is "as it was" "$(git rev-parse HEAD; git status --porcelain; cat a.txt new.txt)" "$before"
git branch -q -D $(made) && git checkout -q -f main && commit later
apsis split
is "exit" "$code" 0
is "from the baseline" "$(git log --format=%P -1 "$(made | head -1)")" "$start"
end_item

# ---- refused ----

# refused NAME CODE REGEX ARGUMENTS: the exit code, the message, and nothing is changed.
refused() {
    local before
    before=$(state)
    apsis split "${@:4}"
    is "$1: exit" "$code" "$2"
    like "$1: said" "$err" "$3"
    is "$1: nothing changed" "$(state)" "$before"
}

item "a branch of that name is never overwritten: refused before anything is measured, with the way to delete it"
again run taken
git branch apsis/tiny-split/2-mine
refused below 3 "branches of that name already: git branch -D apsis/tiny-split/2-mine, or .*--prefix"
unlike "not measured" "$err" measuring
git branch -q -D apsis/tiny-split/2-mine && git branch apsis/tiny-split
refused above 3 "git branch -D apsis/tiny-split,"
git branch -q -D apsis/tiny-split
refused "the run's branch" 3 "git branch -D apsis/tiny" --prefix apsis/tiny
end_item

item "a prefix that git would refuse, ids that are not on the way, and a candidate that is not there"
again run usage
for prefix in '../x' 'a b' 'x/' '-x' 'a//b' 'a..b' 'a.lock' 'a/.b' /a ''; do refused "$prefix" 2 "no beginning of a branch's name" --prefix="$prefix"; done
refused together 2 "together: no candidate \"c0099\"" --together c0001,c0099
refused "not on the way" 2 "together: c0003 is no step on the way to the candidate: c0001 c0002 c0004 c0005" --together c0003
refused id 2 "no candidate \"c0099\"" c0099
refused folder 2 "is a directory" ..
end_item

item "no project, no baseline, no commit; and the baseline has nothing to split"
mkdir "$T/none" && cd "$T/none" && apsis split
is "no project" "$code" 2
new_project fresh && refused "no baseline" 3 "run .apsis baseline. first"
new_project nothing && echo 'return function() return {} end' >propose.lua && commit nothing
apsis baseline && apsis run --iterations 1
refused "no commit" 2 "c0001 has no commit" c0001
apsis split
is "the baseline" "$code $out" "0 c0000 changed nothing since the baseline: there is nothing to split"
end_item

item "a candidate that was not kept is split too, and its outcome is shown"
again run rejected
apsis split c0003
is "exit" "$code" 0
like "said" "$err" "c0003 was not kept: reverted_worse_metric"
is "branches" "$(made | wc -l)" 3
end_item

item "where the candidate itself has no value any more, no branch is made"
MEASURE_MORE="test ! -e $T/flag || exit 1" deliverable broken <<'END'
set a.txt 3 x5
set b.txt 3 x6
END
touch "$T/flag"
refused broken 5 "c0002 itself has no value: .*no branch was made"
rm "$T/flag"
end_item

item "a ref that cannot be written: all branches or none"
again run locked
mkdir -p .git/refs/heads/apsis/tiny-split && touch .git/refs/heads/apsis/tiny-split/2-set-b-txt-3-x6.lock
apsis split
is "exit" "$code" 3
like "said" "$err" "2-set-b-txt-3-x6 cannot be made, so no branch was"
is "branches" "$(made)" ""
end_item

item "a candidate whose commit is not in this clone is refused, with what brings it"
git clone -q "file://$T/run" "$T/clone" && cd "$T/clone" && cp -a "$T/run/logs" .
refused clone 3 "c0003's commit .* is not in this repository: git fetch" c0003
end_item

item "Ctrl-C and a kill while it measures: no branch, and the user's files are as they were"
MEASURE_MORE="test ! -e $T/flag || { touch $T/began; sleep 20; }" deliverable slow <<'END'
set a.txt 3 x5
set b.txt 3 x6
END
touch "$T/flag"
for signal in INT KILL; do
    before=$(state)
    rm -f "$T/began"
    "$APSIS" split >"$T/.out" 2>"$T/.err" &
    pid=$!
    for _ in $(seq 200); do [ -e "$T/began" ] && break; nap 0.1; done
    kill -$signal $pid
    wait $pid 2>/dev/null
    is "$signal: exit" "$?" "$([ $signal = INT ] && echo 130 || echo 137)"
    is "$signal: nothing changed" "$(state)" "$before"
done
rm "$T/flag"
apsis split
is "then it goes" "$code" 0
end_item

finish
