#!/bin/bash
# bad_repository: what apsis does in repositories that are not the usual one, and with a tree that is not clean: it
# works, or exits 3 with the remedy and leaves nothing half made.
. tests/cli/lib.sh || exit 1

nothing_made() {
    ok "no journal line" test "$(lines)" = 0
    ok "no runs" test ! -e runs/0000_baseline
    unlike "message" "$err" "traceback"
}

# works DIR VALUE_PATH: baseline and a run keep two candidates in the project DIR.
works() {
    cd "$1" || exit 1
    apsis baseline
    is "baseline" "$code" 0
    apsis run --iterations 2
    is "run" "$code" 0
    is "experiment 2" "$(field 2 outcome)" kept
    is "the branch has the best tree" "$(git show "apsis/tiny:$2")" 2
}

item "repository: there is none: exit 3 with the commands that make one"
mkdir "$T/none" && cd "$T/none" && fill_project
apsis baseline
is "exit code" "$code" 3
like "remedy" "$err" "git init"
nothing_made
end_item

item "repository: the project is in a subdirectory: works, and only the subdirectory's file changes"
mkdir -p "$T/mono/sub/dir" && cd "$T/mono" && git init -q . && echo other >other.txt && cd sub/dir && fill_project
cd "$T/mono" && git add -A && git commit -qm start
works "$T/mono/sub/dir" sub/dir/value.txt
is "files changed" "$(git diff --name-only HEAD apsis/tiny)" sub/dir/value.txt
is "the other file is there" "$(git show apsis/tiny:other.txt)" other
end_item

item "repository: bare: exit 3 with the remedy"
git clone -q --bare "$T/mono" "$T/bare.git" && cd "$T/bare.git" && fill_project
apsis baseline
is "exit code" "$code" 3
like "remedy" "$err" "bare.*clone"
nothing_made
end_item

item "repository: unborn HEAD: exit 3 with the commands that commit"
mkdir "$T/unborn" && cd "$T/unborn" && git init -q . && fill_project
apsis baseline
is "exit code" "$code" 3
like "remedy" "$err" "git add.*git commit"
nothing_made
is "no refs" "$(git for-each-ref)" ""
end_item

item "repository: detached HEAD: works, and HEAD stays where it is"
new_project detached
git checkout -q --detach
head=$(git rev-parse HEAD)
works "$T/detached" value.txt
is "HEAD" "$(git rev-parse HEAD)" "$head"
ok "still detached" test "$(git rev-parse --abbrev-ref HEAD)" = HEAD
end_item

item "repository: a nested repository in the project: works, and the nested one is not touched"
new_project nested
git init -q inner && echo in >inner/file && git -C inner add file && git -C inner commit -qm inner
inner=$(git -C inner rev-parse HEAD)
works "$T/nested" value.txt
is "inner HEAD" "$(git -C inner rev-parse HEAD)" "$inner"
is "inner status" "$(git -C inner status --porcelain)" ""
ok "not committed" test -z "$(git ls-tree apsis/tiny inner)"
end_item

item "repository: a project that is itself nested in another repository: its own one is used"
mkdir "$T/outer" && cd "$T/outer" && git init -q . && echo out >out.txt && git add -A && git commit -qm outer
mkdir project && cd project && git init -q . && fill_project && git add -A && git commit -qm start
works "$T/outer/project" value.txt
is "the outer repository has no refs of it" "$(git -C "$T/outer" for-each-ref refs/apsis refs/heads/apsis)" ""
end_item

item "repository: with a submodule: works, and the submodule's entry is carried along"
new_project modules
git -c protocol.file.allow=always submodule --quiet add "$T/nested/inner" lib && git commit -qm module
entry=$(git ls-tree HEAD lib)
works "$T/modules" value.txt
is "the entry" "$(git ls-tree apsis/tiny lib)" "$entry"
is "files changed" "$(git diff --name-only HEAD apsis/tiny)" value.txt
ok "the submodule is as it was" test -z "$(git -C lib status --porcelain)"
end_item

item "repository: a linked worktree: works"
new_project main-tree
git worktree add -q "$T/linked" -b work
works "$T/linked" value.txt
is "the branch of the worktree" "$(git rev-parse --abbrev-ref HEAD)" work
end_item

item "repository: a project in a folder that nothing of is committed: the line works from where the user stands"
new_project above
mkdir inside && cp manifest.yaml value.txt evaluate.sh propose.lua inside/ && git config user.name me
apsis baseline inside
is "exit code" "$code" 3
remedy=$(sed -n 's/^  run: //p' <<<"$err")
like "remedy" "$remedy" "^git -C inside add value.txt .*manifest.yaml"
ok "which works" sh -c "$remedy"
apsis baseline inside
is "then" "$code" 0
end_item

item "repository: a file of the manifest is not committed: exit 3 with the git add line"
new_project uncommitted
git rm -q --cached evaluate.sh && git commit -qm without
apsis baseline
is "exit code" "$code" 3
like "remedy" "$err" "git add .*evaluate\.sh"
nothing_made
end_item

item "dirty tree: candidates start from HEAD, the user's files are not touched, and a note says so"
new_project dirty
echo 77 >value.txt
echo note >untracked.txt
echo staged >staged.txt && git add staged.txt
before=$(git status --porcelain; cat value.txt; git write-tree)
apsis baseline
is "baseline" "$code" 0
is "measured is HEAD" "$(field 0 primary_metric)" 0
apsis run --iterations 2
is "run" "$code" 0
like "the note is said" "$err" "uncommitted.*HEAD"
is "the user's files and index" "$(git status --porcelain; cat value.txt; git write-tree)" "$before"
is "files changed" "$(git diff --name-only HEAD apsis/tiny)" value.txt
like "the note in the log" "$(cat logs/apsis.log)" "uncommitted.*HEAD"
end_item

# changing PATH=TEXT...: the only experiment of the project proposes these files; it is kept.
changing() {
    local one
    { echo 'return function() return {'; for one; do printf '["%s"] = "%s\\n",\n' "${one%%=*}" "${one#*=}"; done; echo '} end'; } >propose.lua
    sed -i 's/path: value.txt,/path: "**",/' manifest.yaml && commit changes
    apsis baseline && apsis run --iterations 1
    is "run" "$code $(field 1 outcome)" "0 kept"
}

item "core.ignorecase where names differ by case: apply writes both files"
new_project ignorecase
changing value.txt=3 VALUE.txt=4
git config core.ignorecase true
apsis apply
is "exit" "$code" 0
is "files" "$(cat value.txt VALUE.txt | tr '\n' ' ')$(git status --porcelain)" "3 4 "
git config core.ignorecase false
is "git's view" "$(git status --porcelain)$(git ls-files -- value.txt VALUE.txt | tr '\n' ' ')" "VALUE.txt value.txt "
end_item

item "a sparse checkout is clean; apply leaves out what it leaves out, and refuses to change that"
new_project sparse
mkdir other away && echo 1 >other/x && echo 1 >away/x && commit more
changing value.txt=3
git sparse-checkout set other
ok "not there" test ! -e away/x
apsis baseline --again
unlike "a baseline" "$err" "uncommitted"
apsis status
unlike "status" "$out" "uncommitted"
apsis apply c0001
is "exit" "$code" 0
is "files" "$(cat value.txt)$(ls away 2>&1 | grep -c No) $(git status --porcelain)" "31 "
is "the mark" "$(git ls-files -t away/x)" "S away/x"
new_project sparse-change
mkdir other away && echo 1 >other/x && echo 1 >away/x && commit more
changing value.txt=3 away/x=2
git sparse-checkout set other
apsis apply
is "a change there: exit" "$code" 3
like "the remedy" "$err" "your sparse checkout leaves out away/x, .*git sparse-checkout disable"
is "nothing changed" "$(git status --porcelain)$(cat value.txt)" 0
git rm -q --cached --sparse away/x
apsis apply c0001
like "a removal in the index counts" "$err" "1 uncommitted change: away/x"
end_item

item "a change that git is not to see: apply names the commands that show it"
for mark in skip-worktree assume-unchanged; do
    new_project "$mark"
    changing value.txt=3
    git update-index "--$mark" value.txt && echo 9 >value.txt
    apsis apply
    is "$mark" "$code $(cat value.txt)" "3 9"
    unlike "$mark: what does not help" "$err" "stash -u"
    remedy=$(sed -n 's/.*: \(git -C .*\), then commit.*/\1/p' <<<"$err")
    ok "$mark: the remedy" eval "$remedy"
    git stash -q
    apsis apply
    is "$mark: then" "$code $(cat value.txt)" "0 3"
done
new_project absent
changing value.txt=3
git update-index --assume-unchanged value.txt && rm value.txt
apsis apply
like "a file that is not there" "$err" "update-index --no-assume-unchanged value.txt"
end_item

item "a commit of the history is missing: which, and where it comes from"
new_project undisturbed-hole # gc would pack the commit
changing value.txt=3
git commit -q --allow-empty -m one && git commit -q --allow-empty -m two
missing=$(git rev-parse HEAD~1)
git clone -q "$T/undisturbed-hole" "$T/copy"
rm -f ".git/objects/${missing:0:2}/${missing:2}"
ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0 apsis apply # libgit2 1.5 loses 64 bytes on the way to the merge base
is "exit" "$code" 3
like "which" "$err" "lacks the commit $missing, .*: git fetch --refetch REMOTE"
git fetch -q --refetch "$T/copy" main
apsis apply
is "with the remedy" "$code $(cat value.txt)" "0 3"
end_item

item "an index that cannot be read: no traceback, and of a sparse one the remedy"
new_project index
mkdir other && echo 1 >other/x && commit more
changing value.txt=3
git sparse-checkout set --cone --sparse-index none
for damage in sparse rubbish; do
    [ $damage = sparse ] || printf rubbish >.git/index
    for command in status "status --json" eval report "watch --plain" projects; do
        # shellcheck disable=SC2086
        LIMIT=30 apsis $command
        unlike "$damage: $command" "$out$err" "traceback|\\.lua:[0-9]"
        case $command in status* | eval) is "$damage: $command: exit" "$code" 0 ;; esac
    done
    for command in "baseline --again" apply; do
        [ $damage = sparse ] || break
        # shellcheck disable=SC2086
        apsis $command
        is "$command: exit" "$code" 3
        like "$command: remedy" "$err" "git sparse-checkout reapply --no-sparse-index"
    done
done
end_item

item "the git directory is a symbolic link: works"
new_project linked-git
mv .git ../gl.git && ln -s ../gl.git .git
works "$T/linked-git" value.txt
rm -rf "$T/gl.git/apsis-tiny.lock" && mkdir "$T/gl.git/apsis-tiny.lock"
apsis run --iterations 1
is "a lock that cannot be taken: exit" "$code" 3
unlike "nobody else is blamed" "$err" "another apsis"
end_item

# libgit2 leaks where it refuses an extension.
leaky() { ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" "$@"; }

item "a repository of another format than libgit2 reads: which, and what to do"
new_project reftable
git config core.repositoryformatversion 1 && git config extensions.refstorage reftable
leaky apsis baseline
is "exit code" "$code" 3
like "remedy" "$err" "extensions.refstorage: git refs migrate --ref-format=files"
mkdir "$T/sha256" && cd "$T/sha256" && git init -q --object-format=sha256 . 2>/dev/null && fill_project && commit
leaky apsis baseline
is "exit code with sha256" "$code" 3
like "remedy there" "$err" "extensions.objectformat \(sha256\): copy the files"
for command in "doctor --no-agent" setup run tick "init --measure ./x --metric y" "reset -f"; do
    leaky apsis $command
    like "remedy of $command" "$out$err" "extensions.objectformat \(sha256\): copy the files"
    unlike "$command" "$out$err" "unsupported extension"
done
end_item

# workspaces: the folder that setup's JSON names; it is in the account's home, and is removed again.
workspaces() {
    local folder
    folder=$(printf '%s' "$out" | sed -n 's/.*"workspaces","detail":"\([^"]*\)".*/\1/p')
    case $folder in /*/.cache/apsis/*) rm -f "$folder/lock" && rmdir "$folder" ;; esac
    printf '%s' "$folder"
}

item "without HOME the workspaces are in the account's home, never in a folder of /tmp that anybody may make"
new_project homeless
out=$(env -u HOME -u XDG_CACHE_HOME "$APSIS" setup --json)
like "workspaces" "$(workspaces)" '^/.+/\.cache/apsis/'
unlike "workspaces" "$out" '"/tmp/.cache'
end_item

item "a HOME that is no absolute path counts as none: no folder is made in the current folder or in /"
new_project rel_home
mkdir rel
for home in rel ""; do
    capture env -u XDG_CACHE_HOME -u XDG_CONFIG_HOME HOME="$home" "$APSIS" setup --json
    like "workspaces with HOME=$home" "$(workspaces)" '^/.+/\.cache/apsis/'
    capture env -u XDG_CACHE_HOME -u XDG_CONFIG_HOME HOME="$home" "$APSIS" doctor --no-agent
    like "user's file with HOME=$home" "$out" "user's file: no place for a user's file"
done
is "the folder" "$(ls -A rel)" ""
sed -i 's|^workspace:.*||; $a workspace: {root: "~/w"}' manifest.yaml
capture env HOME=rel "$APSIS" setup
like "a root that begins with ~" "$err$out" "workspace.root: begins with ~, but HOME is not an absolute path"
sed -i '/^workspace:/d' manifest.yaml
capture env -u XDG_CACHE_HOME HOME=/dev/null "$APSIS" run --iterations 1
is "a home that is no folder: exit" "$code" 3
like "the remedy" "$err" "^apsis: ENOTDIR: /dev/null/.cache/apsis: .*; set workspace.root or XDG_CACHE_HOME"
end_item

item "without /proc: a run is refused with the remedy; what needs no processes of commands works"
new_project procless
if [ -z "${APSIS_SANITIZED:-}" ] && unshare -m umount -l /proc 2>/dev/null; then # sanitizers need it
    capture unshare -m sh -c "umount -l /proc && '$APSIS' baseline"
    is "exit code" "$code" 3
    like "message" "$err" "/proc is not there.*mount -t proc"
    capture unshare -m sh -c "umount -l /proc && '$APSIS' setup"
    is "exit code of setup" "$code" 3
    like "the check of setup" "$out" "FAIL  git and files +/proc is not there"
    unlike "setup" "$err" "traceback"
    capture unshare -m sh -c "umount -l /proc && '$APSIS' doctor"
    like "doctor" "$out" "warn +processes: /proc is not there.*mount -t proc"
    line "doctor knows the program" "$out" "versions: apsis .*\($(realpath "$APSIS")\)"
    unlike "doctor" "$out" "\.lua:[0-9]"
    capture unshare -m sh -c "umount -l /proc && '$APSIS' lab hillclimb --world onemax:n=8 --seeds 2 --evaluations 5 --jobs 2 -q"
    is "exit code of lab: $err" "$code" 0
fi
end_item

finish
