#!/bin/bash
# bad_provider: what a provider that misbehaves gets: the right outcome, nothing of it in a commit, nothing of it still
# running, and a clean workspace for the next experiment.
. tests/cli/lib.sh || exit 1

MARK=31$$ # seconds that only this test sleeps

# misbehaves NAME OUTCOME REASON: in a new project, whose agent (read from stdin, for experiment 1; what experiment 2
# does is to write a better value), experiment 1 has OUTCOME and its reason matches REASON, and experiment 2 is kept and
# has only its change. The item stays open for more checks; PREPARE is done in the project before the baseline.
misbehaves() {
    item "provider $1"
    {
        echo 'if [ "$APSIS_EXPERIMENT" != 1 ]; then echo "$APSIS_EXPERIMENT" >value.txt; exit 0; fi'
        cat
    } >"$T/script"
    agent <"$T/script"
    new_project "p$count"
    eval "${PREPARE-}"
    git status --porcelain >"$T/before"
    apsis baseline
    is "baseline" "$code" 0
    apsis run --iterations 2
    is "run's exit code" "$code" 0
    is "outcome" "$(field 1 outcome)" "$2"
    like "reason" "$(field 1 rollback_reason)" "$3"
    is "the next experiment" "$(field 2 outcome)" kept
    is "the next candidate's changes" "$(git diff --name-status refs/apsis/tiny/c0000 refs/apsis/tiny/c0002)" "M	value.txt"
    is "the branch's tree" "$(git rev-parse apsis/tiny^{tree})" "$(git rev-parse refs/apsis/tiny/c0002^{tree})"
    is "the user's tree" "$(git status --porcelain)" "$(cat "$T/before")"
    ok "git fsck" git fsck --strict
    ok "nothing of it is left running" gone "sleep $MARK"
}
status_is() { is "status" "$(field 1 status)" "$1"; }
no_commit() { ok "no commit of experiment 1" test -z "$(git for-each-ref refs/apsis/tiny/c0001)"; }

misbehaves "crashes" skipped_provider_failure "exit 3: it broke" <<'END'
echo 99 >value.txt
echo "it broke" >&2
exit 3
END
status_is crash
no_commit
end_item

misbehaves "is killed by a signal" skipped_provider_failure "$(died SIGSEGV 11)" <<'END'
echo 99 >value.txt
kill -SEGV $$
END
end_item

AGENT_SEC=0.5 misbehaves "times out" skipped_provider_failure "over its limit" <<END
echo 99 >value.txt
sleep $MARK
END
status_is crash
no_commit
end_item

AGENT_SEC=0.5 misbehaves "times out and ignores SIGTERM" skipped_provider_failure "over its limit" <<END
trap '' TERM
sleep $MARK & sleep $MARK
sleep $MARK
END
end_item

AGENT_EXTRA=", cpu_sec: 1" misbehaves "takes more processor than it may" skipped_provider_failure "$(died SIGXCPU 24)" <<'END'
echo 99 >value.txt
while :; do :; done
END
like "what it ran into" "$err" "the provider: it was ended by provider.cpu_sec"
end_item

AGENT_EXTRA=", memory_mb: 200" misbehaves "takes more memory than it may" skipped_provider_failure "exit 1: MemoryError" <<'END'
echo 99 >value.txt
python3 -c 'bytearray(10**9)'
END
like "what it ran into" "$err" "the provider: a process of its commands has provider.memory_mb, which may be raised"
end_item

# The kernel holds back anybody but root, whom apsis does.
EXTRA='limits: {processes: 100}' misbehaves "starts more processes than it may" skipped_provider_failure \
    "ended by apsis: it started too many processes \(limits.processes\)|fork: .*Resource temporarily unavailable" <<END
echo 99 >value.txt
for i in {1..150}; do sleep $MARK & done
wait
END
end_item

# In both the watch over a fork bomb would lose: a process's `stat` cannot be read while it is in execve, and new processes outrun a walk.
item "without a namespace processes are found without waiting for any of them, and their group is ended at once"
cat >"$T/ended.lua" <<END
local result = assert(require("apsis.process").run { shell = "sleep $MARK & sleep $MARK & wait", timeout_s = 0.3, grace_s = 0,
  cage = { mode = "subreaper" } })
print(result.outcome)
END
capture "${TRACED[@]}" -f -o "$T/calls" -e trace=openat,open,kill "$APSIS" exec "$T/ended.lua"
is "outcome" "$code $out" "0 timeout"
like "they are found" "$(cat "$T/calls")" '"/proc/[0-9]+/status"'
unlike "nobody is waited for" "$(cat "$T/calls")" '"/proc/[0-9]+/stat"'
like "the first that is killed is the group" "$(grep -m 1 ' kill(.*SIGKILL' "$T/calls")" 'kill\(-[0-9]+, SIGKILL'
ok "nothing is left" gone "sleep $MARK"
end_item

misbehaves "leaves daemons that go on writing" skipped_no_change "changed nothing" <<END
setsid bash -c 'while sleep 0.01; do echo 98 >value.txt; done; : sleep $MARK' >/dev/null 2>&1 &
(setsid sleep $MARK >/dev/null 2>&1 &)
sleep 0.1
kill -9 \$! 2>/dev/null
echo 0 >value.txt
END
end_item

misbehaves "writes nothing" skipped_no_change "changed nothing" <<'END'
echo "I thought about it"
END
status_is discard
no_commit
end_item

misbehaves "writes what is already there" skipped_no_change "changed nothing" <<'END'
echo 0 >value.txt
END
end_item

misbehaves "writes outside scope, a read_only file" reverted_scope_violation "propose\.lua was changed; it is read_only" <<'END'
echo 99 >value.txt
echo >>propose.lua
END
status_is discard
no_commit
end_item

misbehaves "writes outside scope, a new file" reverted_scope_violation "new\.txt was created" <<'END'
echo 99 >value.txt
echo >new.txt
END
end_item

misbehaves "writes outside scope, the manifest" reverted_scope_violation "manifest\.yaml was changed" <<'END'
sed -i s/higher/lower/ manifest.yaml
END
end_item

misbehaves "writes outside scope, a hidden file that it guessed" reverted_scope_violation "evaluate\.sh.*hidden" <<'END'
echo 'echo METRIC score=1000' >evaluate.sh
END
end_item

misbehaves "writes into its APSIS_RUN_DIR: a private folder, kept with the run, no part of the candidate" skipped_no_change "changed nothing" <<'END'
echo "$APSIS_RUN_DIR" >"$APSIS_RUN_DIR/note.txt"
END
ok "its file is in the run's folder" test -f runs/0001/provider/note.txt
end_item

misbehaves "deletes a read_only file" reverted_scope_violation "propose\.lua was deleted" <<'END'
echo 99 >value.txt
rm propose.lua
END
end_item

misbehaves "deletes a writable file: the candidate is measured without it" skipped_verification_crash "." <<'END'
rm value.txt
END
is "the commit has no such file" "$(git ls-tree refs/apsis/tiny/c0001 value.txt)" ""
end_item

misbehaves "deletes everything" reverted_scope_violation "was deleted" <<'END'
rm -rf ./* .[a-z]*
END
end_item

# What a sandbox keeps from happening is tried without one as well. Where Landlock alone keeps it in, what is allowed is so as a
# whole: not the folder that all of this test is in.
EXTRA='sandbox: {allow: []}'
misbehaves "deletes its own workspace, whose folder stays" skipped_provider_failure "exit 1: rm: cannot remove" <<'END'
rm -rf "$PWD"
END
end_item

misbehaves "empties its own workspace" reverted_scope_violation "was deleted" <<'END'
rm -rf "$PWD" || true
END
end_item

EXTRA='sandbox: off'
misbehaves "deletes its own workspace, without a sandbox" reverted_scope_violation "was deleted" <<'END'
rm -rf "$PWD"
END
end_item
EXTRA=

relinks() {
    mkdir -p "$T/precious"
    misbehaves "puts a link to a directory of the user's in its workspace's place$1: what is there stays" "$2" "$3" <<END
echo 1 >$T/precious/file
mv "\$PWD" "\$PWD.moved" && ln -s $T/precious "\$PWD"
rm "\$PWD.moved/value.txt"; rm "\$PWD.moved/propose.lua"
END
    is "the user's file" "$(cat "$T/precious/file")" 1
    ok "nothing else there but what the agent of experiment 1 put" test "$(ls "$T/precious")" = file
}

EXTRA="sandbox: {allow: ['$T/precious:rw']}"
relinks "" skipped_provider_failure "cannot remove"
end_item

EXTRA='sandbox: off'
relinks ", without a sandbox" reverted_scope_violation "was deleted"
end_item
EXTRA=

misbehaves "renames a file" reverted_scope_violation "(other\.txt was created|value\.txt was deleted)" <<'END'
mv value.txt other.txt
END
end_item

RULES="  - {path: 'data/**', mode: writable}"
PREPARE='mkdir data; echo x >data/x; git add -A; git commit -qm data'
misbehaves "renames a file within what is writable: the rename is committed" reverted_worse_metric "not better|tied" <<'END'
mv data/x data/y
END
is "its changes" "$(git diff --name-status --find-renames refs/apsis/tiny/c0000 refs/apsis/tiny/c0001)" $'R100\tdata/x\tdata/y'
end_item

misbehaves "adds names with spaces, newlines and non-UTF-8: they are committed as they are" reverted_worse_metric "." <<'END'
echo 1 >"data/a b"
echo 2 >data/$'new\nline'
echo 3 >data/$'\377\376'
echo 4 >data/"quote\"'"
END
is "names" "$(git ls-tree -r -z --name-only refs/apsis/tiny/c0001 data | sort -z | od -An -tx1)" \
    "$(printf '%s\0' "data/a b" data/$'new\nline' "data/quote\"'" data/x data/$'\377\376' | sort -z | od -An -tx1)"
end_item

misbehaves "adds a name with a newline and non-UTF-8 outside scope: the reason is one line of text" reverted_scope_violation \
    'a\\nb\\xff was created' <<'END'
echo 2 >$'a\nb\377'
END
end_item

misbehaves "changes the mode of a writable file: it is committed" reverted_worse_metric "." <<'END'
chmod +x data/x
END
like "mode" "$(git ls-tree refs/apsis/tiny/c0001 data/x)" "^100755"
end_item

misbehaves "changes the mode of a read_only file" reverted_scope_violation "propose\.lua was given another mode" <<'END'
chmod +x propose.lua
END
end_item

misbehaves "takes all permissions away" reverted_scope_violation "." <<'END'
echo 99 >value.txt; echo z >other.txt
chmod 000 value.txt data; chmod 555 .
END
end_item

misbehaves "adds a symlink out of the tree" reverted_scope_violation "data/link is a symlink out of the tree" <<'END'
ln -s /etc/passwd data/link
END
end_item

misbehaves "adds a symlink out of the tree, by .." reverted_scope_violation "data/link is a symlink out of the tree" <<'END'
ln -s ../../secret data/link
END
end_item

misbehaves "replaces a directory by a symlink out of the tree and writes through it" reverted_scope_violation "data" <<END
mkdir $T/outside; rm -r data; ln -s $T/outside data; echo 1 >data/x
END
is "what it wrote there stays alone" "$(cat "$T/outside/x")" 1
end_item

misbehaves "adds a symlink within the tree: it is committed" reverted_worse_metric "." <<'END'
ln -s x data/link
END
like "mode" "$(git ls-tree refs/apsis/tiny/c0001 data/link)" "^120000"
end_item

misbehaves "adds a 1 GB file: refused without reading it" reverted_scope_violation "big has 1024\.0 MB, above max_file_mb: 100" <<'END'
truncate -s 1G data/big
END
end_item

adds_specials() {
    misbehaves "adds a named pipe, a socket and a device$1" reverted_scope_violation "is not a file" <<END
mkfifo data/pipe
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("data/socket")'
mknod data/null c 1 3 2>/dev/null && echo made >$T/device-made
ls data >$T/specials
END
    is "it has tried" "$(grep -cx 'pipe\|socket' "$T/specials")" 2
}

adds_specials ""
ok "there is no device" test ! -e "$T/device-made"
end_item

EXTRA='sandbox: off'
adds_specials ", without a sandbox"
end_item
EXTRA=

misbehaves "makes a .git of its own" reverted_scope_violation "\.git was created; a candidate may not touch" <<'END'
git init -q . && echo 99 >value.txt && git add -A && git -c user.name=a -c user.email=a@a commit -qm mine
END
end_item

misbehaves "makes a .git directory by hand with a hook" reverted_scope_violation "\.git.* was created" <<'END'
mkdir -p .git/hooks; echo 'touch /tmp/no' >.git/hooks/post-checkout; chmod +x .git/hooks/post-checkout
END
end_item

misbehaves "edits .gitattributes" reverted_scope_violation "\.gitattributes was created; a candidate may not touch" <<'END'
echo '* filter=evil' >.gitattributes
END
end_item

misbehaves "edits .gitattributes in a writable directory" reverted_scope_violation "data/\.gitattributes was created" <<'END'
echo '* filter=evil' >data/.gitattributes
END
end_item

misbehaves "edits .gitmodules" reverted_scope_violation "\.gitmodules was created; a candidate may not touch" <<'END'
printf '[submodule "x"]\n\tpath = x\n\turl = /\n' >.gitmodules
END
end_item

misbehaves "edits .gitignore" reverted_scope_violation "\.gitignore was changed; a candidate may not touch" <<'END'
echo '*' >>.gitignore
END
end_item

misbehaves "adds a nested repository" reverted_scope_violation "data/inner" <<'END'
git init -q data/inner && cd data/inner && echo 1 >f && git add f && git -c user.name=a -c user.email=a@a commit -qm inner
END
end_item

item "provider commits by itself, in the throwaway repository it was given: the change counts once, as apsis's commit"
EXTRA='workspace: {git: true}'
agent <<'END'
echo "$APSIS_EXPERIMENT" >value.txt
git -c user.name=agent -c user.email=agent@localhost commit -qam "mine" || exit 9
git checkout -q -b elsewhere
END
new_project commits
apsis baseline
apsis run --iterations 2
is "run" "$code" 0
is "outcome 1" "$(field 1 outcome)" kept
is "outcome 2" "$(field 2 outcome)" kept
is "its parent is the baseline" "$(git rev-parse refs/apsis/tiny/c0001^)" "$(git rev-parse refs/apsis/tiny/c0000)"
unlike "its own commit is not there" "$(git log --all --format='%an %s')" "agent mine"
is "branches" "$(git for-each-ref --format='%(refname)' refs/heads)" $'refs/heads/apsis/tiny\nrefs/heads/main'
end_item
EXTRA=

item "provider runs git commands where it has no repository: it never finds the user's"
agent <<'END'
echo "$APSIS_EXPERIMENT" >value.txt
git rev-parse --git-dir && git commit -qam stolen
git checkout -- :/
true
END
new_project finds
echo 55 >value.txt
apsis baseline
apsis run --iterations 2
is "run" "$code" 0
is "outcome 2" "$(field 2 outcome)" kept
is "the user's edit" "$(cat value.txt)" 55
unlike "no commit of its own" "$(git log --all --format=%s)" "stolen"
end_item

item "provider prints without end: its output is cut, memory stays small"
agent <<'END'
if [ "$APSIS_EXPERIMENT" = 1 ]; then head -c 200000000 /dev/zero | tr '\0' 'x'; fi
echo "$APSIS_EXPERIMENT" >value.txt
END
new_project prints
apsis baseline
capture /usr/bin/time -f 'rss %M' "$APSIS" run --quiet --iterations 2
is "run" "$code" 0
is "outcome 1" "$(field 1 outcome)" kept
is "outcome 2" "$(field 2 outcome)" kept
rss=$(sed -n 's/^rss //p' "$T/.err")
ok "peak memory ($rss kB) under 64 MB" test "$rss" -lt $((64 * MB))
ok "its log is bounded" test "$(stat -c %s runs/0001/provider_output.md)" -lt 70000000
end_item

item "provider does not exist: failed experiments that name it; a run without any answer exits 4"
PROVIDER='provider: {kind: command, run: [no-such-agent], retries: 0}'
new_project nowhere
apsis baseline
apsis run --iterations 2
is "run" "$code" 4
is "it goes on" "$(lines)" 3
like "why" "$err" "the provider gave no usable answer in the whole run: .*no-such-agent"
is "outcome" "$(field 1 outcome)" skipped_provider_failure
like "reason" "$(field 1 rollback_reason)" "no-such-agent"
end_item

item "a provider's script that candidates would not have is refused before any experiment, with the way out"
for command in ./mine.sh 'sh mine.sh' '[bash, ./mine.sh]'; do
    agent <<<true
    new_project "late$count" && sed -i "s|^provider:.*|provider: {kind: command, run: $command}|" manifest.yaml
    git commit -qam provider && apsis baseline
    printf '#!/bin/sh\necho 5 >value.txt\n' >mine.sh && chmod +x mine.sh
    apsis run --iterations 1
    is "$command, not committed: exit" "$code" 4
    like "$command: the remedy" "$err" "provider: mine.sh is not committed, so commands do not have it: git add mine.sh"
    git add mine.sh && git commit -qm script
    apsis run --iterations 1
    is "$command, committed after the baseline: exit" "$code" 4
    like "$command: its remedy" "$err" "mine.sh is committed, but not in the baseline's commit.*apsis baseline --again"
    apsis setup
    is "$command, committed after the baseline: setup" "$code" 4
    like "$command: setup's remedy" "$out" "FAIL  provider .*mine.sh is committed, but not in the baseline's commit.*apsis baseline --again"
    apsis baseline --again
    apsis run --iterations 1
    is "$command: then it runs" "$(field 2 outcome)" kept
    rm -rf "$PWD" && cd "$T" || exit 1
done
end_item

item "provider: none in the manifest: baseline works and run exits 4"
PROVIDER=
new_project without
apsis baseline
is "baseline" "$code" 0
apsis run
is "run" "$code" 4
like "remedy" "$err" "provider"
is "no experiment" "$(lines)" 1
end_item
unset PROVIDER

# lua_provider NAME OUTCOME REASON: the same for a Lua provider whose body for experiment 1 is read from stdin.
lua_provider() {
    item "lua provider $1"
    EXTRA="limits: {hook_cpu_sec: $HOOK_CPU}"
    new_project "lua$count"
    {
        echo 'return function(proposal, workspace)'
        echo 'if proposal.experiment ~= 1 then return { ["value.txt"] = proposal.experiment .. "\n" } end'
        cat
        echo 'end'
    } >propose.lua
    git commit -qam provider
    apsis baseline
    apsis run --iterations 2
    is "run" "$code" 0
    is "outcome" "$(field 1 outcome)" "$2"
    like "reason" "$(field 1 rollback_reason)" "$3"
    is "the next experiment" "$(field 2 outcome)" kept
    end_item
}

lua_provider "raises" skipped_provider_failure "propose\.lua:[0-9]+: it broke" <<<'error("it broke")'
lua_provider "returns a number" skipped_provider_failure "number" <<<'return 7'
lua_provider "returns nothing" skipped_provider_failure "no edits" <<<'return nil'
lua_provider "returns the same text" skipped_no_change "change nothing" <<<'return { ["value.txt"] = "0\n" }'
lua_provider "gives a plan that is no text" skipped_provider_failure "plan must be a string" \
    <<<'return { ["value.txt"] = "1" }, { plan = 7 }'
lua_provider "gives tokens that are NaN" skipped_provider_failure "tokens" <<<'return { ["value.txt"] = "1" }, { tokens = 0/0 }'
lua_provider "loops without end" skipped_provider_failure "limit" <<<'while true do end'
lua_provider "edits outside scope" reverted_scope_violation "propose\.lua was changed" <<<'return { ["propose.lua"] = "x" }'
lua_provider "edits a path out of the project" reverted_scope_violation "\.\./x" <<<'return { ["../x"] = "x" }'
lua_provider "edits an absolute path" reverted_scope_violation "/etc/x" <<<'return { ["/etc/x"] = "x" }'
lua_provider "edits .git/config" reverted_scope_violation "\.git" <<<'return { [".git/config"] = "x" }'
lua_provider "edits with a key that is no path" reverted_scope_violation "." <<<'return { [1] = "x" }'
lua_provider "edits with a value that is no text" reverted_scope_violation "value\.txt" <<<'return { ["value.txt"] = true }'

# What the user would have lost: a night. 20 of 20 failed, "no improvement in 20 experiments", exit 0.
item "every proposal fails: three experiments, exit 4 with the reason; patience is not touched"
agent <<'END'
echo "no credit left" >&2
exit 1
END
new_project hopeless
apsis baseline
apsis run --iterations 20
is "exit code" "$code" 4
like "reason" "$err" "stopping: the provider failed in 3 consecutive experiments; .*no credit left"
is "lines" "$(lines)" 4
is "since kept" "$("$APSIS" status --json | grep -o '"since_kept":[0-9]*')" '"since_kept":0'
apsis run --iterations 20
is "a resumed run has three tries" "$code $(lines)" "4 7"
end_item

# What the user would have lost: hours, in which apsis looked for the end of a line of blanks.
misbehaves "prints a line with 400 KB of blanks in it" kept null <<'END'
printf 'a%400000sb\n' '' | tr ' ' '\t'
printf 'ASI learned=a%300000sb\n' ''
echo 1 >value.txt
END
ok "its line in the journal is short" test "$(tail -n 1 logs/results.jsonl | wc -c)" -lt 20000
end_item

misbehaves "fails with a long line of blanks, and one after it" skipped_provider_failure "exit 3: the reason" <<'END'
{ printf 'a%1000000sb\n' ''; head -c 1000000 /dev/zero | tr '\0' '\v'; printf '\nthe reason\n\n'; } >&2
exit 3
END
end_item

item "what a Lua provider says that an answer took must be possible; so must its texts"
unset PROVIDER
new_project amounts
for about in 'cost = 1/0' 'cost = -100' 'tokens = 1.5' 'tokens = -5' 'tokens = 1e19' 'hypothesis = 1/0'; do
    echo "return function() return { ['value.txt'] = '1\n' }, { $about } end" >propose.lua
    git commit -qam "$about"
    apsis baseline --again --repeats 1
    apsis run --iterations 1
    is "$about" "$code:$(field $(($(lines) - 1)) outcome)" 4:skipped_provider_failure
    like "$about" "$(field $(($(lines) - 1)) rollback_reason)" "propose.lua: ${about%% *} must be .*, not "
done
apsis status
is "status" "$code" 0
end_item

item "amounts that a command prints and that cannot be are unknown; a journal that has them can be read"
PROVIDER="provider: {run: [sh, propose.sh], retries: 0, usage: {tokens: 'took ([0-9.]+)', usd: '[$]([0-9.]+)'}}" new_project printed
for said in "\$$(printf '9%.0s' $(seq 400))" "took 99999999999999999999" "took 12.5"; do
    echo "echo '$said'; echo \$APSIS_EXPERIMENT >value.txt" >propose.sh
    git add -A && git commit -qm said
    apsis baseline --again --repeats 1
    apsis run --iterations 1 -q
    is "${said:0:20}" "$code:$(field $(($(lines) - 1)) outcome)" 0:kept
done
apsis status
like "unknown" "$out" "tokens: +unknown"
sed -i '$s/"tokens":[a-z0-9]*/"tokens":1e300/; $s/"parents":\["[^"]*"/"parents":["\\u001b[31mX\\u202e"/' logs/results.jsonl
rm -rf .apsis/digests .apsis/fold
for command in status "show c0003" "watch --plain" log; do
    apsis $command
    is "$command" "$code" 0
    ok "$command: no control character" test -z "$(printf %s "$out" | tr -d '\n\t' | tr -dc '\000-\037')"
done
end_item

# What the user would have lost: env.json recorded a model that the agent never heard of.
item "provider.model reaches the command, and each preset's own option; a kind that takes none refuses it"
AGENT_EXTRA=', model: small' agent <<'END'
echo "model=$APSIS_MODEL"
echo "$APSIS_EXPERIMENT" >value.txt
END
new_project model
apsis baseline
apsis run --iterations 1
like "the command's" "$(cat runs/0001/provider_output.md)" "^model=small$"
mkdir -p "$T/agents"
for preset in claude codex gemini opencode pi; do
    printf '#!/bin/sh\necho "preset $0 $*"; echo 7 >value.txt\n' >"$T/agents/$preset" && chmod +x "$T/agents/$preset"
    sed -i "s|^provider:.*|provider: {preset: $preset, model: some-model, allow: ['$T/agents:ro']}|" manifest.yaml
    PATH=$T/agents:$PATH apsis run --iterations 1
    like "$preset" "$(cat "runs/$(printf %04d $(($(lines) - 1)))/provider_output.md")" \
        "preset .*/$preset .*--model some-model( -)?( Read.*| .*)?$"
done
for key in 'model: m' 'timeout_sec: 3' 'retries: 3' 'env: {A: b}'; do
    sed -i "s/^provider:.*/provider: {use: other.lua, $key}/" manifest.yaml
    apsis run
    is "kind lua, $key" "$code" 2
    like "kind lua, $key" "$err" "provider.${key%%:*}: does not belong to kind lua"
done
end_item

finish
