#!/bin/bash
# apply: a candidate's changes in the user's branch: as one commit, as a merge, step by step; and what it refuses before
# anything is changed.
UNDISTURBED=1 # by tests/beside_gc: a repository that is copied beside gc keeps its locks
. tests/cli/lib.sh || exit 1
. tests/cli/deliver.sh

# c0001 5, c0002 11, c0003 is not kept, c0004 18, c0005 21 is the best
deliverable run <<'END'
set a.txt 3 x5
set b.txt 3 x6
set c.txt 1 x-3
set a.txt 25 x7
set a.txt 3 x8
END

best=$(git rev-parse refs/apsis/tiny/c0005) start=$(git rev-parse HEAD)
trailer() { git log -1 --format="%(trailers:key=Apsis-$1,valueonly,separator=)" "${2:-HEAD}"; }

item "one commit with the best's tree, its value and its steps; files and index follow; a second apply does nothing"
again run one
apsis apply
is "exit" "$code" 0
is "the tree" "$(git rev-parse 'HEAD^{tree}')" "$(git rev-parse "$best^{tree}")"
is "one commit" "$(git rev-list --count "$start..HEAD")" 1
is "on the branch" "$(git symbolic-ref --short HEAD)" main
is "nothing else" "$(git status --porcelain)" ""
is "the files" "$(sed -n 3p a.txt)" x8
is "value" "$(trailer Value)" "21 (score, higher is better)"
is "candidate" "$(trailer Candidate)" c0005
line "its steps" "$(git log -1 --format=%B)" '^- c0002 set b.txt 3 x6 \(11\)$'
no_line "not the rejected one" "$(git log -1 --format=%B)" c0003
line "how to undo it" "$out" "^to undo it: git reset --keep ${start:0:10}$"
before=$(state)
apsis apply
is "again" "$code $out" "0 main has the changes of c0005 already: there is nothing to apply"
is "nothing changed" "$(state)" "$before"
end_item

item "the author is the user, and apply leaves no ref, no hook runs, and the undo it names works"
again run user
refs=$(git for-each-ref refs/apsis)
printf '#!/bin/sh\ntouch %s/hooked\n' "$T" | tee .git/hooks/post-merge .git/hooks/pre-commit .git/hooks/commit-msg >.git/hooks/post-checkout
cp .git/hooks/post-checkout .git/hooks/reference-transaction && cp .git/hooks/post-checkout .git/hooks/post-index-change
chmod +x .git/hooks/*
apsis apply
is "exit" "$code" 0
is "no hook" "$(ls "$T/hooked" 2>/dev/null)" ""
rm .git/hooks/*
is "author" "$(git log -1 --format='%an %ae %cn')" "tester tester@localhost tester"
is "refs" "$(git for-each-ref refs/apsis)" "$refs"
ok "undo" bash -c "$(printf '%s\n' "$out" | sed -n 's/^to undo it: //p')"
is "undone" "$(git rev-parse HEAD) $(git status --porcelain)" "$start "
end_item

item "without a name in git's configuration the commit is apsis's, as a candidate's"
again run nameless
HOME=$T/empty apsis apply
is "exit" "$code" 0
is "author" "$(git log -1 --format='%an <%ae>')" "apsis <apsis@localhost>"
end_item

item "git's variables for who writes a commit come before its configuration"
again run variables
GIT_AUTHOR_NAME=Ann GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_EMAIL=c@d apsis apply
is "author" "$(git log -1 --format='%an <%ae> %cn <%ce>')" "Ann <a@b> tester <c@d>"
git reset -q --hard HEAD~1 && git config --file "$T/global" user.name Glo
GIT_CONFIG_GLOBAL=$T/global apsis apply
is "its global file is another" "$(git log -1 --format='%an <%ae>')" "Glo <apsis@localhost>"
git reset -q --hard HEAD~1
EMAIL=e@f GIT_CONFIG_GLOBAL=$T/global apsis apply
is "EMAIL, as no configuration has one" "$(git log -1 --format='%an <%ae>')" "Glo <e@f>"
git reset -q --hard HEAD~1
EMAIL=e@f apsis apply
is "EMAIL after the configuration" "$(git log -1 --format='%an <%ae>')" "tester <tester@localhost>"
end_item

item "--merge: a merge commit, with the candidate as its second parent"
again run merge
apsis apply --merge
is "exit" "$code" 0
is "parents" "$(git log -1 --format=%P)" "$start $best"
is "the tree" "$(git rev-parse 'HEAD^{tree}')" "$(git rev-parse "$best^{tree}")"
is "value" "$(trailer Value)" "21 (score, higher is better)"
is "nothing else" "$(git status --porcelain)" ""
apsis apply --merge
like "again" "$code $out" "^0 main has the changes of c0005 already"
end_item

item "--commits: a commit for each kept step, each with its value and its tree"
again run commits
apsis apply --commits
is "exit" "$code" 0
is "subjects" "$(git log --reverse --format=%s "$start..HEAD")" "$(printf '%s\n' 'set a.txt 3 x5' 'set b.txt 3 x6' 'set a.txt 25 x7' 'set a.txt 3 x8')"
is "values" "$(for at in HEAD~3 HEAD~2 HEAD~1 HEAD; do trailer Value $at; done | cut -d' ' -f1 | tr '\n' ' ')" "5 11 18 21 "
is "a step's tree" "$(git rev-parse 'HEAD~1^{tree}')" "$(git rev-parse 'refs/apsis/tiny/c0004^{tree}')"
is "the last tree" "$(git rev-parse 'HEAD^{tree}')" "$(git rev-parse "$best^{tree}")"
is "nothing else" "$(git status --porcelain)" ""
end_item

item "--commits folds steps without gain into the next, so the last tree is the candidate's"
cat >"$T/all.lua" <<'END'
return { plan = function(run) return { parents = { run.current }, operator = "exploitation" } end, accept = function() return true end,
  halt = function() end }
END
(
    STRATEGY=./all.lua
    mkdir "$T/folded" && cp "$T/all.lua" "$T/folded/"
    deliverable folded <<'END'
set a.txt 3 x5
set b.txt 3 x-1
set b.txt 3 x-2
set c.txt 3 x9
set c.txt 9 x-1
END
)
cd "$T/folded" || exit 1
apsis apply current --commits
is "exit" "$code" 0
is "subjects" "$(git log --reverse --format=%s main~3..main)" "$(printf '%s\n' 'set a.txt 3 x5' 'set c.txt 3 x9' 'set c.txt 9 x-1')"
is "the fold" "$(git show HEAD~1:b.txt | sed -n 3p)" x-2
is "values" "$(for at in HEAD~2 HEAD~1 HEAD; do trailer Value $at; done | cut -d' ' -f1 | tr '\n' ' ')" "5 12 11 "
is "the last tree" "$(git rev-parse 'HEAD^{tree}')" "$(git rev-parse 'refs/apsis/tiny/c0005^{tree}')"
end_item

item "a branch that has moved on is merged three-way, and the report says that nobody measured the result"
again run moved
echo theirs >other.txt && sed -i '30s/.*/thirty/' b.txt && commit theirs
apsis apply
is "exit" "$code" 0
is "both" "$(sed -n '3p;30p' b.txt | tr '\n' ' ')$(cat other.txt)" "x6 thirty theirs"
is "nothing else" "$(git status --porcelain)" ""
like "said" "$out" "never measured: apsis eval"
like "in the value, too" "$(trailer Value)" "^21 .*measured before it was joined"
apsis apply
like "again" "$out" "nothing to apply"
end_item

item "--commits on a branch that has moved on: each step is merged, one in conflict by itself goes with the next"
again run moved_steps
sed -i '3s/.*/x8/' a.txt && commit "the last step by hand"
apsis apply --commits
is "exit" "$code" 0
is "subjects" "$(git log --reverse --format=%s "main~$(($(git rev-list --count "$start..main") - 1))..main")" "set a.txt 3 x8"
is "the tree" "$(git rev-parse 'HEAD^{tree}')" "$(git rev-parse "$best^{tree}")"
end_item

item "a later candidate applies after an earlier one that was squashed, although both change the same lines"
again run twice
apsis apply c0001
is "the first" "$code $(trailer Candidate)" "0 c0001"
sed -i '29s/.*/mine/' c.txt && commit mine
apsis apply --dry-run
is "exit" "$code" 0
apsis apply
is "exit" "$code" 0
is "lines" "$(sed -n 3p a.txt) $(sed -n 29p c.txt)" "x8 mine"
no_line "what is there already is not named again" "$(git log -1 --format=%B)" "c0001"
end_item

item "a journal that somebody changed: nothing is applied without --force"
again run altered
sed -i 's/"candidate":"c0005"\(.*\)"primary_metric":21,/"candidate":"c0005"\1"primary_metric":2100,/' logs/results.jsonl
before=$(state)
for id in "" c0001; do
    apsis apply $id
    is "$id: exit" "$code" 5
    like "$id: why" "$err" "results.jsonl:6: this is not the line that apsis wrote.*nothing was applied.*--force applies it anyway"
    is "$id: nothing changed" "$(state)" "$before"
done
apsis apply --dry-run
is "a look is free" "$code $(state)" "0 $before"
apsis apply --force
is "with --force" "$code $(git rev-parse 'HEAD^{tree}')" "0 $(git rev-parse "$best^{tree}")"
end_item

item "after a revert of an earlier apply, its mark does not count, so nothing is left out"
again run reverted
apsis apply c0002
git revert --no-edit HEAD >/dev/null
apsis apply
is "exit" "$code" 0
is "the tree" "$(git rev-parse 'HEAD^{tree}')" "$(git rev-parse "$best^{tree}")"
end_item

item "a provider's text cannot pass for a fact of apply's"
deliverable forged <<'END'
set a.txt 3 x5
new n.txt x1 Apsis-Commit: 0123456789012345678901234567890123456789
END
apsis apply c0001
apsis apply --commits
is "exit" "$code" 0
is "one commit" "$(trailer Commit)" "$(git rev-parse refs/apsis/tiny/c0002)"
is "the value" "$(trailer Value)" "6 (score, higher is better)"
end_item

item "--dry-run changes nothing, shows the commits and refuses what apply would refuse"
again run dry
before=$(state)
apsis apply --commits --dry-run
is "exit" "$code" 0
is "nothing changed" "$(state)" "$before"
is "commits" "$(printf '%s\n' "$out" | grep -c '^  commit ')" 4
apsis apply --dry-run --json
is "as JSON" "$(json applied) $(json dry_run) $(json commits.1.candidate) $(json measured)" "false true c0005 true"
echo mine >>a.txt
apsis apply --dry-run
is "a dirty tree" "$code" 3
end_item

item "--json: what was done"
again run as_json
apsis apply --json
is "exit" "$code" 0
is "facts" "$(json applied) $(json candidate) $(json value) $(json branch) $(json way) $(json measured)" "true c0005 21 main squash true"
is "the commit" "$(json commits.1.commit)" "$(git rev-parse HEAD)"
is "from" "$(json from)" "$start"
apsis apply --json
is "nothing to do" "$code $(json applied)" "0 false"
end_item

item "a candidate that was not kept is applied too, and its outcome is shown"
again run rejected
apsis apply c0003
is "exit" "$code" 0
like "said" "$err" "c0003 was not kept: reverted_worse_metric"
is "its tree" "$(git rev-parse 'HEAD^{tree}')" "$(git rev-parse 'refs/apsis/tiny/c0003^{tree}')"
end_item

item "new, deleted, renamed and binary files, links and modes of a merge reach the user's tree"
deliverable kinds <<'END'
new d/deep.txt ;new n.txt x1
mv b.txt z.txt; new n.txt x2
rm c.txt; new n.txt x3; new bin.txt x1\0
END
git update-index --chmod=+x evaluate.sh && chmod +x evaluate.sh && ln -s a.txt link && git add link && git commit -qm mine
apsis apply
is "exit" "$code" 0
is "files" "$(git ls-files | tr '\n' ' ')" ".gitignore a.txt bin.txt d/deep.txt evaluate.sh link manifest.yaml n.txt propose.lua z.txt "
is "on disk" "$(ls -d -- *.txt link | tr '\n' ' ')$(readlink link)" "a.txt bin.txt link n.txt z.txt a.txt"
ok "mode" test -x evaluate.sh
is "nothing else" "$(git status --porcelain)" ""
end_item

item "a project in a folder of its repository, with files beside it"
FOLDER=tools/opt deliverable folder <<'END'
set a.txt 3 x5
END
echo root >../../root.txt && git add ../../root.txt && git commit -qm root
apsis apply
is "exit" "$code" 0
is "files" "$(sed -n 3p a.txt) $(cat ../../root.txt) $(git status --porcelain)" "x5 root "
cd ../.. && git reset -q --hard HEAD~1 && apsis apply -C tools/opt
is "from above, with -C" "$code $(sed -n 3p tools/opt/a.txt)" "0 x5"
end_item

item "a submodule stays as it is"
git init -q "$T/sub" && git -C "$T/sub" commit -q --allow-empty -m sub
again run with_module
git -c protocol.file.allow=always submodule --quiet add "$T/sub" sub && git commit -qm module
apsis apply
is "exit" "$code" 0
is "the tree" "$(git status --porcelain) $(git ls-files -s sub | cut -c1-6)" " 160000"
end_item

item "untracked files that are not in the way stay"
again run beside
echo mine >untracked && echo ignored >logs/mine
apsis apply
is "exit" "$code" 0
is "mine" "$(cat untracked logs/mine | tr '\n' ' ')" "mine ignored "
end_item

item "while a run goes on, what it has kept can be applied, and the run goes on from its own"
MEASURE_MORE="test ! -e $T/hold || { touch $T/holding; sleep 2; }" ITERATIONS=1 deliverable busy <<'END'
set a.txt 3 x5
set b.txt 3 x6
END
touch "$T/hold"
"$APSIS" run --quiet --iterations 2 >"$T/run.out" 2>&1 &
pid=$!
for _ in $(seq 200); do [ -e "$T/holding" ] && break; nap 0.1; done
apsis apply
is "exit" "$code $(sed -n 3p a.txt)" "0 x5"
wait $pid
is "the run" "$?" 0
rm "$T/hold"
is "its best" "$(git show apsis/tiny:b.txt | sed -n 3p)" x6
apsis apply
is "applied, too" "$code $(sed -n 3p a.txt) $(sed -n 3p b.txt)" "0 x5 x6"
unlike "a run after it" "$("$APSIS" run --iterations 1 2>&1)" "HEAD has moved"
end_item

item "a merge by hand counts as applied"
again run by_hand
git merge -q --no-ff -m mine "$best" >/dev/null
apsis apply
is "nothing to do" "$code $out" "0 main has the changes of c0005 already: there is nothing to apply"
end_item

item "best, show best, status and run's end name it; once it is applied they do not"
again run named
apsis best && line "best" "$out" '^  apsis apply$'
apsis show best && line "show best" "$out" '^take the best: apsis apply$'
apsis status && line "status" "$out" '^take the best: apsis apply$'
apsis apply
apsis status && no_line "taken" "$out" 'apsis apply'
end_item

# ---- refused ----

# refused NAME REGEX ARGUMENTS: exit 3, the message, and nothing is changed.
refused() {
    local before
    before=$(state)
    apsis apply "${@:3}"
    is "$1: exit" "$code" 3
    like "$1: said" "$err" "$2"
    is "$1: nothing changed" "$(state)" "$before"
}

item "uncommitted changes are refused: in the tree, in the index, a deleted file"
again run dirty
echo mine >>c.txt
refused tree "1 uncommitted change: c.txt; commit them, or put them away: git stash$"
git checkout -q c.txt && echo mine >new && git add new
refused index "uncommitted change: new"
git rm -q --cached new && rm new b.txt
refused deleted "uncommitted change: b.txt"
end_item

item "files that git runs a filter program for, or gives an encoding, are refused: apsis would write what only git may see, or other bytes"
again run filtered
for attribute in filter=crypt 'text working-tree-encoding=UTF-16LE'; do
    echo "b.txt $attribute" >.gitattributes && commit attributes
    refused "$attribute" "^apsis: git has a filter or an encoding for b.txt .\.gitattributes., and apsis applies none; by hand: git merge --squash [0-9a-f]+$"
done
echo 'b.txt working-tree-encoding=utf-8' >.gitattributes && commit "git's own encoding"
apsis apply --dry-run
is "git's own encoding" "$code" 0
echo 'b.txt text working-tree-encoding=UTF-16LE eol=crlf' >.gitattributes && rm b.txt && git checkout b.txt 2>/dev/null && git commit -qam crlf
touch -d '1 hour ago' b.txt
apsis apply
like "it cannot be compared" "$code $err" "^3 apsis: 1 uncommitted change: b.txt; apsis cannot compare a file that has a working-tree-encoding .*git merge --squash [0-9a-f]+$"
is "git's view" "$(git status --porcelain)" ""
echo 'evaluate.sh filter=crypt' >.gitattributes && commit elsewhere
apsis apply
is "others' filters do not matter" "$code" 0
end_item

item "what git does not track is never overwritten: a file, an ignored file, a folder, a link that leads out"
deliverable in_the_way <<'END'
new d/n.txt x1; new ignored.txt x1; new dir.txt x1
END
mkdir "$T/outside" && ln -s "$T/outside" d
refused link "in the way: d/n.txt"
rm d && echo '/ignored.txt' >.git/info/exclude && echo mine >ignored.txt
refused ignored "in the way: ignored.txt; .*git stash -u"
rm ignored.txt && mkdir dir.txt && echo mine >dir.txt/f
refused folder "in the way: dir.txt"
rm -r dir.txt
is "nothing outside" "$(ls "$T/outside")" ""
apsis apply
is "then it goes" "$code" 0
end_item

item "conflicts are refused with the files' names and the commit to merge by hand, before anything is changed"
again run conflict
sed -i '3s/.*/mine/' a.txt && git mv b.txt moved.txt && sed -i '3s/.*/mine/' moved.txt && commit mine
refused conflict "does not join main: both sides change a.txt, .*git merge --squash $best"
refused steps "both sides change a.txt" --commits
refused merge "both sides change a.txt" --merge
refused dry "both sides change a.txt" --dry-run
end_item

item "a detached HEAD, a branch without a commit, and the run's own branch are refused, with the remedy"
again run detached
git checkout -q --detach
refused detached "HEAD is detached.*git switch -c NAME"
git checkout -q apsis/tiny
refused own "apsis/tiny is the run's own branch"
git checkout -q main && git checkout -q --orphan empty && git rm -qrf . && git checkout -q main -- manifest.yaml && git rm -q --cached manifest.yaml
apsis apply
is "no commit" "$code" 3
like "said" "$err" "no commit yet"
end_item

item "a merge, a rebase, a cherry-pick, a revert and a bisection that are not finished are refused"
again run unfinished
git checkout -q -b side && sed -i '3s/.*/side/' a.txt && commit side && git checkout -q main && sed -i '3s/.*/main/' a.txt && commit main
sed -i '3s/.*/main again/' a.txt && commit main
git merge -q side >/dev/null 2>&1
refused merge "a merge is not finished.*git merge --abort"
git merge --abort && git cherry-pick side >/dev/null 2>&1
refused cherry-pick "a cherry-pick is not finished"
git cherry-pick --abort && git revert --no-edit HEAD~1 >/dev/null 2>&1
refused revert "a revert is not finished"
git revert --abort && git rebase side >/dev/null 2>&1
refused rebase "a rebase is not finished.*--abort"
git rebase --abort && git bisect start >/dev/null
refused bisection "a bisection is not finished"
end_item

item "another git's lock of the index or of the branch is refused; a lock of the branch leaves the files as they were"
again run locked
touch .git/index.lock
refused index "another git works .*rm .*/index.lock"
rm .git/index.lock && touch .git/refs/heads/main.lock
refused branch "main was not moved: .*main.lock.*your files are as they were"
end_item

item "a full disk: the branch stays, and the remedy that is named restores the files"
again run full
for path in b.txt .git/index.lock; do
    capture "${TRACED[@]}" -f -o /dev/null -P "$PWD/$path" -e trace=write -e inject=write:error=ENOSPC "$APSIS" apply
    is "$path: exit" "$code" 3
    like "$path: said" "$err" "main is where it was, and your files are partly changed: git reset --hard puts them back"
    git reset -q --hard
    is "$path: as it was" "$(git rev-parse HEAD) $(git status --porcelain)" "$start "
done
end_item

item "no project, no baseline, no candidate of that name, one without a commit, and options that contradict"
mkdir "$T/none" && cd "$T/none" && apsis apply
is "no project" "$code" 2
new_project fresh && apsis apply
is "no baseline" "$code" 3
like "said" "$err" "run .apsis baseline. first"
cd "$T/run" && apsis apply c0099
is "no candidate" "$code" 2
like "said" "$err" "no candidate \"c0099\""
apsis apply --merge --commits
is "contradiction" "$code" 2
apsis apply baseline
is "the baseline" "$code $out" "0 c0000 is the baseline, where the others start: there is nothing to apply"
apsis apply a.txt
is "a file" "$code" 2
new_project nothing && echo 'return function() return {} end' >propose.lua && commit nothing
apsis baseline && apsis run --iterations 1 && apsis apply c0001
is "no commit" "$code" 2
like "said" "$err" "c0001 has no commit \(skipped_no_change\)"
apsis apply
like "the best is the baseline" "$code $out" "^0 c0000 is the baseline"
end_item

item "a candidate whose commit is not in this clone is refused, with what brings it"
git clone -q "file://$T/run" "$T/clone" && cd "$T/clone" && cp -a "$T/run/logs" .
apsis apply c0003
is "exit" "$code" 3
like "said" "$err" "is not in this repository: git fetch"
end_item

item "a branch that has nothing in common with the candidate is refused"
again run apart
git checkout -q --orphan apart && commit apart
refused apart "no commit in common"
end_item

item "a kill at any write leaves the old state, the new one, or changes that git shows and that stash and apply bring to the new one"
again run killed
"${TRACED[@]}" -f -o "$T/calls" -e trace=rename,unlink,mkdir,openat,write,link -e signal=none "$APSIS" apply >/dev/null 2>&1
git reset -q --hard "$start"
new=$(git rev-parse "$best^{tree}") old=$(git rev-parse "$start^{tree}") ends=''
for call in rename unlink openat write link; do
    total=$(grep -c "^[0-9]* *$call(" "$T/calls")
    from=$(grep "^[0-9]* *$call(" "$T/calls" | grep -n -m1 "$T/killed/.git/objects\|$T/killed/[a-z.]*txt\|$T/killed/.git/index" | cut -d: -f1)
    [ -n "$from" ] || from=$((total > 6 ? total - 6 : 1))
    for number in $(seq "$from" $((1 + (total - from) / ${KILLS:-12})) "$total"); do
        { capture "${TRACED[@]}" -f -o /dev/null -e trace="$call" -e inject="$call:signal=SIGKILL:when=$number" "$APSIS" apply; } 2>/dev/null
        rm -f .git/index.lock .git/refs/heads/main.lock .git/HEAD.lock
        tree=$(git rev-parse 'HEAD^{tree}') dirty=$(git status --porcelain)
        case "$tree $dirty" in
        "$old ") ends+=old ;;
        "$new ") ends+=new ;;
        "$old "*) ends+=part && git stash -q -u && apsis apply && is "$call $number: after git stash" "$code $(git status --porcelain)" "0 " ;;
        *) verdict no "$call $number: $tree $dirty" ;;
        esac
        is "$call $number: objects" "$(git fsck --no-dangling 2>&1 | grep -v '^notice')" ""
        git stash clear && git reset -q --hard "$start" && git clean -qfd -e logs -e runs -e .apsis
    done
done
for state in old part new; do like "kills that left a state $state" "$ends" $state; done
end_item

finish
