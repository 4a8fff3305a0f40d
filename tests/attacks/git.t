#!/bin/bash
# git: attacks by way of git: its hooks, configuration, filters, attributes, submodules, in the user's repository and in a workspace.
. tests/attacks/lib.sh || exit 1

ran() { [ -e "$T/ran-$name" ]; } # whether what git was to run has run outside
writes_ran() { printf '#!/bin/sh\ntouch %s\ncat\n' "$T/ran-$name" >"$1" && chmod +x "$1"; }

attack hooks "a provider writes .git/hooks of the user's repository"
opens none
provider <<'END'
. ./paths.sh
printf '#!/bin/sh\ntouch x\n' >"$PROJECT/.git/hooks/pre-commit"
cp "$PROJECT/.git/config" config.copy && rm config.copy && echo GOT-CONFIG
echo 1 >value.txt
END
won "there is a hook" test -e "$project/.git/hooks/pre-commit"
won "the configuration was read" said GOT-CONFIG
end_attack

attack exclude "a provider writes .git/info/exclude and .git/info/attributes of the user's repository"
opens none
provider <<'END'
. ./paths.sh
mkdir -p "$PROJECT/.git/info"
echo 'evaluate.sh' >>"$PROJECT/.git/info/exclude"
echo '* filter=evil' >>"$PROJECT/.git/info/attributes"
git -C "$PROJECT" config core.fsmonitor 'touch x'
git -C "$PROJECT" update-ref refs/heads/main refs/apsis/tiny/c0000~0
echo 1 >value.txt
END
won "a rule is there" holds "$project/.git/info/exclude" evaluate.sh
won "an attribute is there" holds "$project/.git/info/attributes" evil
won "the configuration is another" holds "$project/.git/config" fsmonitor
end_attack

attack own-git-folder "a provider brings a .git folder with hooks and a configuration in its workspace"
provider <<'END'
git init -q . && mkdir -p .git/hooks
printf '#!/bin/sh\ntouch x\n' >.git/hooks/post-checkout
git config core.fsmonitor 'touch x'
echo 1 >value.txt
END
is "outcome" "$(outcome)" reverted_scope_violation
won "it was committed" value_is 1
end_attack

attack attributes "a provider sets a filter in .gitattributes, whose command is in the user's configuration"
fill() { writes_ran "$T/filter.sh" && git config --global filter.users.clean "$T/filter.sh" && git config --global filter.users.smudge "$T/filter.sh"; }
provider <<'END'
echo '* filter=users' >.gitattributes
echo 1 >value.txt
END
git config --global --unset filter.users.clean
git config --global --unset filter.users.smudge
like "why" "$(field 1 rollback_reason)" "may not touch .git"
won "the filter has run" ran
won "it was committed" value_is 1
end_attack

attack submodule "a provider makes a submodule, and one without .gitmodules"
provider <<'END'
mkdir -p sub && cd sub && git init -q . && git -c user.name=x -c user.email=x@localhost commit -q --allow-empty -m x && cd ..
printf '[submodule "sub"]\n\tpath = sub\n\turl = ../../../\n' >.gitmodules
echo 1 >value.txt
END
is "outcome" "$(outcome)" reverted_scope_violation
won "it was committed" value_is 1
end_attack

attack repository-configuration "hooks, fsmonitor, pager, filters, external diff and textconv of the user's repository are run"
place=$T/undisturbed-place # by tests/beside_gc: git gc itself would run them
fill() {
    for kind in hook fsmonitor pager filter diff textconv editor ssh; do writes_ran "$T/$kind.sh"; done
    echo '*.txt filter=evil diff=evil' >.gitattributes
    git add -A && git commit -qm start
    mkdir -p "$T/hooks"
    for hook in pre-commit post-commit post-checkout reference-transaction post-rewrite post-index-change pre-auto-gc update; do
        cp "$T/hook.sh" "$T/hooks/$hook"
    done
    git config core.hooksPath "$T/hooks"
    git config core.fsmonitor "$T/fsmonitor.sh"
    git config core.pager "$T/pager.sh"
    git config filter.evil.clean "$T/filter.sh"
    git config filter.evil.smudge "$T/filter.sh"
    git config diff.external "$T/diff.sh"
    git config diff.evil.textconv "$T/textconv.sh"
    git config core.editor "$T/editor.sh"
    git config core.sshCommand "$T/ssh.sh"
    git() { command git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c filter.evil.clean=cat -c diff.external= "$@"; }
}
ITERATIONS=2
candidate <<'END'
true
END
unset -f git
for command in "log" "show c0001" "diff c0001" "status" "graph" "best" "report --out $T/report.html"; do
    # shellcheck disable=SC2086
    apsis $command
    unlike "$command" "$code" '^(3|70)$'
done
won "one has run" ran
end_attack

attack throwaway-hooks "a provider with a throwaway repository leaves hooks, a configuration and attributes in it for apsis's own git"
EXTRA='workspace: {git: true}'
PROVIDER_EXTRA=', steps: [plan, implement]'
fill() { echo "MARK='$T/ran-$name'" >>paths.sh; }
provider <<'END'
. ./paths.sh
printf '#!/bin/sh\ntouch %s\n' "$MARK" >/tmp/mark.sh; chmod +x /tmp/mark.sh
cp /tmp/mark.sh .git/mark.sh
for hook in pre-commit post-commit prepare-commit-msg post-index-change reference-transaction; do cp /tmp/mark.sh .git/hooks/$hook || { mkdir -p .git/hooks; cp /tmp/mark.sh .git/hooks/$hook; }; done
git config core.fsmonitor "$PWD/.git/mark.sh"
git config filter.evil.clean "$PWD/.git/mark.sh"
mkdir -p .git/info && echo '* filter=evil' >.git/info/attributes
echo 1 >value.txt
END
unset EXTRA
won "one has run" ran
end_attack

attack throwaway-failed "the same by a provider that fails, and is asked again"
EXTRA='workspace: {git: true}'
fill() {
    echo "MARK='$T/ran-$name'" >>paths.sh
    sed -i 's/retries: 0/retries: 2/' manifest.yaml
}
EXIT=4 # no answer in the whole run
provider <<'END'
. ./paths.sh
printf '#!/bin/sh\ntouch %s\n' "$MARK" >.git/mark.sh; chmod +x .git/mark.sh
mkdir -p .git/hooks; cp .git/mark.sh .git/hooks/pre-commit; cp .git/mark.sh .git/hooks/post-index-change
git config core.fsmonitor "$PWD/.git/mark.sh"
echo 1 >value.txt
exit 1
END
unset EXTRA EXIT
won "one has run" ran
end_attack

attack throwaway-user "the user's own hooks and filters are run on a candidate's files by apsis's throwaway repository"
EXTRA='workspace: {git: true}'
fill() {
    writes_ran "$T/user.sh"
    mkdir -p "$T/user-hooks" && cp "$T/user.sh" "$T/user-hooks/post-commit"
    echo '*.txt filter=users' >.gitattributes
    git add -A && git commit -qm start
    git config --global core.hooksPath "$T/user-hooks"
    git config --global filter.users.clean "$T/user.sh"
    git config --global core.fsmonitor "$T/user.sh"
    git() { :; }
}
provider <<'END'
echo 1 >value.txt
END
unset -f git
for key in core.hooksPath filter.users.clean core.fsmonitor; do git config --global --unset $key; done
unset EXTRA
is "outcome" "$(outcome)" kept
won "one has run" ran
end_attack

finish
