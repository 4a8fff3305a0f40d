#!/bin/bash
# bad_branch: the run's branch is checked out by the user, or moved by someone else: it is left alone, that is said, and
# it is moved at the next chance. Never forced.
. tests/cli/lib.sh || exit 1

measured() {
    new_project "$1"
    apsis baseline
    apsis run --iterations 1
    is "a run before" "$code" 0
    is "the branch" "$(git show apsis/tiny:value.txt)" 1
}

# left REASON: a run of one keeps its candidate, leaves the branch at its tip and the user's tree as they are, and says
# so.
left() {
    local tip files
    tip=$(git rev-parse apsis/tiny) files=$(git status --porcelain; git rev-parse HEAD)
    apsis run --iterations 1
    is "run" "$code" 0
    like "said" "$err" "branch apsis/tiny is left.*$1"
    like "when it is tried again" "$err" "next"
    is "kept all the same" "$(field "$(($(lines) - 1))" outcome)" kept
    is "the branch" "$(git rev-parse apsis/tiny)" "$tip"
    is "the user's tree and HEAD" "$(git status --porcelain; git rev-parse HEAD)" "$files"
    apsis status
    like "status says it" "$out" "left"
}

moved() { # at the next chance it is where it belongs
    apsis run --iterations 1
    is "run" "$code" 0
    unlike "nothing is left" "$err" "is left"
    is "the branch" "$(git show apsis/tiny:value.txt)" "$(($(lines) - 1))"
}

item "the run's branch is checked out by the user: left alone, said, moved at the next chance"
measured out
git checkout -q apsis/tiny
left "checked out"
git checkout -q main
moved
ok "forward only" git merge-base --is-ancestor refs/apsis/tiny/c0001 apsis/tiny
end_item

item "the run's branch is checked out in a linked worktree: left alone, naming it"
measured linked
git worktree add -q "$T/elsewhere" apsis/tiny
left "$T/elsewhere"
is "the worktree" "$(git -C "$T/elsewhere" status --porcelain)" ""
git worktree remove "$T/elsewhere"
moved
end_item

item "the run's branch is being rebased by the user: left alone"
measured rebase
git checkout -q -b side main && echo 50 >value.txt && git commit -qam side && git checkout -q main
git checkout -q apsis/tiny
git rebase side >/dev/null 2>&1
ok "the rebase waits" test -d .git/rebase-merge
left "checked out"
git rebase --abort && git checkout -q main
moved
end_item

item "the run's branch was given a commit by someone else: left alone, said; moved when it is given back"
measured ahead
git checkout -q apsis/tiny && echo note >note.txt && git add note.txt && git commit -qm note && git checkout -q main
left "someone else"
git update-ref refs/heads/apsis/tiny apsis/tiny^
moved
end_item

item "the run's branch was moved by someone else to another place: left alone, said; moved when it is given back"
measured elsewhere
was=$(git rev-parse apsis/tiny)
git checkout -q -b other main && echo 70 >value.txt && git commit -qam other && git checkout -q main
git update-ref refs/heads/apsis/tiny other
left "someone else"
git update-ref refs/heads/apsis/tiny "$was"
moved
end_item

item "the run's branch is moved by someone else while the run goes on: left alone, said"
EXTRA='sandbox: off' new_project during # its verifier is someone else, too
{
    echo 'echo "METRIC score=$(cat value.txt)"'
    echo "if [ \"\$APSIS_EXPERIMENT\" = 2 ]; then git -C $T/during update-ref refs/heads/apsis/tiny main; fi"
} >evaluate.sh
git commit -qam evaluator
apsis baseline
apsis run --iterations 3
is "run" "$code" 0
like "said" "$err" "branch apsis/tiny is left"
is "it is where they put it" "$(git rev-parse apsis/tiny)" "$(git rev-parse main)"
is "kept all the same" "$(field 3 outcome)" kept
moved
end_item

item "the run's branch was deleted: made again"
measured deleted
git branch -q -D apsis/tiny
moved
end_item

item "a branch named apsis is in the way: said with the reason; the run goes on"
new_project inway
git branch apsis
apsis baseline
is "baseline" "$code" 0
apsis run --iterations 1
is "run" "$code" 0
like "said" "$err" "apsis/tiny"
is "kept all the same" "$(field 1 outcome)" kept
git branch -q -D apsis
moved
end_item

item "the user commits on their own branch meanwhile: candidates go on from the baseline, the user's commit stays"
measured commits
echo more >more.txt && git add more.txt && git commit -qm more
head=$(git rev-parse HEAD)
moved
is "HEAD" "$(git rev-parse HEAD)" "$head"
is "files changed" "$(git diff --name-only refs/apsis/tiny/c0000 apsis/tiny)" value.txt
end_item

finish
