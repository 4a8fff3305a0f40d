#!/bin/bash
# moved: a candidate's ref, or the run's branch, that somebody moves or removes beside apsis is shown. What apsis itself
# does to refs, a clone, anchors, a kill and a new baseline are no such change.
. tests/cli/lib.sh || exit 1

new_project tiny
apsis baseline -q
apsis run --iterations 4 -q
other=$(git commit-tree -m other HEAD^{tree})
cp -r . "$T/good"
again() { rm -rf "$T/project" && cp -r "$T/good" "$T/project" && cd "$T/project" || exit 1; }
c() { git rev-parse "refs/apsis/tiny/c000$1"; }

unseen() { # WHEN
    local view
    for view in status "run --iterations 1 -q" status; do
        apsis $view
        is "$1: $view" "$code $err" "0 "
    done
    apsis status --json
    is "$1: as JSON" "$(json altered) $(json branch_left)" "null null"
}

item "a ref that is moved or removed is shown, until it is as it was; the journal's commits count"
for change in "update-ref refs/apsis/tiny/c0002 $(c 4)/2 names another commit" "update-ref -d refs/apsis/tiny/c0003/3 is gone" \
    "update-ref -d refs/apsis/tiny/c0004/4 is gone" "update-ref refs/apsis/tiny/c0000 $(c 3)/0 names another commit"; do
    again
    command=${change%/*} words=${change##*/}
    git $command
    for view in status "run --iterations 1 -q" status; do
        apsis $view
        is "$command: $view: exit" "$code" 0
        like "$command: $view" "$err" "refs/apsis/tiny/c000$words: somebody .*; .git update-ref"
    done
    apsis apply --dry-run
    like "$command: apply" "$err" "refs/apsis/tiny/c000$words: somebody"
    apsis status --json
    like "$command: as JSON" "$(json altered)" "refs/apsis/tiny/c000$words"
    is "$command: the best" "$(json best.candidate)" c0005
    eval "$(sed -n 's/.*`\(git update-ref [^`]*\)`.*/\1/p' <<<"$err")"
    unseen "$command: with the remedy"
done
end_item

item "refs that are all gone, or the oldest or newest ones, are missed where their experiments were made"
for gone in "c0000 c0001 c0002 c0003 c0004" "c0000 c0001" "c0004"; do
    again
    for ref in $gone; do echo "delete refs/apsis/tiny/$ref"; done | git update-ref --stdin
    for view in status "apply --dry-run"; do
        apsis $view
        like "$gone: $view" "$err" "refs/apsis/tiny/${gone%% *} is gone: somebody removed it, or it was not copied"
    done
done
end_item

item "a branch that was moved or removed is shown; so does the next run"
for change in "update-ref refs/heads/apsis/tiny $(c 2)/somebody moved it to $(c 2 | cut -c1-10)" \
    "update-ref refs/heads/apsis/tiny $other/somebody moved it to ${other:0:10}" \
    "branch -D apsis/tiny/somebody removed it"; do
    again
    command=${change%/*} words=${change##*/}
    git $command >/dev/null
    apsis status
    line "$command" "$out" "^branch: +apsis/tiny does not have the best: $words; the best is c0004$"
    apsis run --iterations 1 -q
    like "$command: run" "$err" "branch apsis/tiny: $words"
done
end_item

item "what apsis and people do with git is no such change"
again
unseen "after a run"
git checkout -q --detach apsis/tiny && unseen "the best is checked out" && git checkout -q -
git commit-tree -m mine -p apsis/tiny "apsis/tiny^{tree}" | xargs git update-ref refs/heads/apsis/tiny
apsis status
unlike "somebody's commit on the branch" "$out$err" somebody
again
apsis apply -q
unseen "the best was applied"
apsis baseline --again -q
unseen "a new baseline"
git gc -q --prune=now
unseen "git gc"
rm -rf "$T/clone" && git clone -q "$T/project" "$T/clone" && cp -r logs "$T/clone" && cd "$T/clone" || exit 1
unseen "a clone that goes on with the journal"
again
apsis reset --force
is "reset" "$code" 0
apsis baseline -q
unseen "after a reset"
end_item

# torn REF...: its file is empty, whether git has packed the ref or not.
torn() { for name; do mkdir -p "$(dirname ".git/$name")" && : >".git/$name"; done; }

item "a torn ref, as a power failure leaves it: the file and the remedy; run and reset -f remove apsis's own, never the user's"
again
torn refs/apsis/tiny/c0002
apsis status
like "status" "$err" "c0002 names no commit, .*remove its file $PWD/.git/refs/apsis/tiny/c0002; .git update-ref"
rm .git/refs/apsis/tiny/c0002 && eval "$(sed -n 's/.*`\(git update-ref [^`]*\)`.*/\1/p' <<<"$err")"
unseen "with the remedy"
again
torn refs/heads/apsis/tiny && head -c 41 /dev/zero >.git/refs/heads/apsis/tiny
apsis status
line "the branch" "$out" "^branch: .* $PWD/.git/refs/heads/apsis/tiny names no commit, .*apsis run. makes it again"
torn refs/apsis/tiny/c0002
apsis run --iterations 1 -q
is "run" "$code $(git rev-parse apsis/tiny)" "0 $(c 5)"
like "run: which" "$err" "removed the file of the ref refs/apsis/tiny/c0002"
torn refs/heads/apsis/tiny
torn refs/apsis/tiny/c0003
apsis reset -f
is "reset: $err" "$code $(find .git/refs/apsis .git/refs/heads/apsis -type f 2>/dev/null)" "0 "
apsis reset --undo
is "undo: $err" "$code $(c 5)" "0 $(git rev-list --all --grep='c0005$' -n 1)"
again
main=$(git rev-parse main)
torn refs/heads/main
for command in apply "reset -f" "run --iterations 1"; do
    apsis $command
    is "$command: exit" "$code" 3
    like "$command" "$err" "$PWD/.git/refs/heads/main names no commit, .*remove that file, .*line of $PWD/.git/logs/refs/heads/main"
done
rm .git/refs/heads/main && git update-ref refs/heads/main "$(tail -n 1 .git/logs/refs/heads/main | cut -d ' ' -f 2)"
is "with the remedy" "$(git rev-parse main)" "$main"
: >.git/HEAD
apsis apply
like "HEAD" "$code $err" "3 .*file HEAD is empty or torn: write .ref: refs/heads/BRANCH"
end_item

finish
