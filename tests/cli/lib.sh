# lib: the harness of every shell test. Sourced by *.t, which prove runs from the repository's root. Each file works in one temporary directory of its own (HOME and the XDG directories are in it),
# removed at its end.
#
# TAP: `ok WHAT COMMAND...`, `is WHAT GOT WANT`, `like WHAT TEXT REGEX` and `unlike` are a test each; between `item
# NAME` and `end_item` they are the parts of one test of that name. The file ends with `finish`.

ROOT=$PWD
APSIS=${APSIS:-$ROOT/build/apsis}
case $APSIS in /*) ;; *) APSIS=$ROOT/$APSIS ;; esac
[ -x "$APSIS" ] || { echo "Bail out! no program at $APSIS"; exit 1; }

T=$(mktemp -d "${TMPDIR:-/tmp}/${UNDISTURBED:+undisturbed-}apsis-test.XXXXXX") && T=$(cd "$T" && pwd -P) || { # it is removed at the end
    echo "Bail out! no temporary directory"
    exit 1
}
export HOME=$T/home XDG_CACHE_HOME=$T/cache XDG_CONFIG_HOME=$T/config GIT_CONFIG_NOSYSTEM=1 LC_ALL=C PAGER=cat
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE APSIS_METRICS EMAIL
mkdir -p "$HOME" "$XDG_CACHE_HOME" "$XDG_CONFIG_HOME"
mkdir -p "$XDG_CONFIG_HOME/apsis"
echo "sandbox: {allow: ['$T:rw']}" >"$XDG_CONFIG_HOME/apsis/config.yaml" # what commands tell these tests, they tell in files there
git config --global user.name tester
git config --global user.email tester@localhost
git config --global init.defaultBranch main
git config --global advice.detachedHead false

# Beside gc (tests/beside_gc) a test's own git and rm are tried again: git makes a folder of objects, its gc takes the empty
# folder away, and git refuses; gc writes into a folder that rm empties. Programs that apsis starts are not affected.
if [ -n "${BESIDE_GC-}" ]; then
    tried_again() {
        local _
        for _ in 1 2 3 4; do command "$@" 2>/dev/null && return; done
        command "$@"
    }
    git() {
        case " $* " in
            *" add "* | *" commit "* | *" update-index "* | *" write-tree "* | *" commit-tree "* | *" merge "* | *" hash-object -w "[!-]*)
                tried_again git "$@" ;;
            *" mktree "*) cat >"$T/.tree" && tried_again sh -c 'exec git "$@" <"$0"' "$T/.tree" "$@" ;;
            *) command git "$@" ;;
        esac
    }
    cp() { # of a repository: as a whole, or once more
        local to=${!#} _
        case $1 in
            -r | -a)
                for _ in 1 2 3 4; do
                    [ -e "$to" ] && break
                    command cp "$@" 2>/dev/null && { [ ! -e "$to/.git" ] || command git -C "$to" fsck --connectivity-only >/dev/null 2>&1; } && return
                    command rm -rf "$to"
                done
                ;;
        esac
        command cp "$@"
    }
    rm() {
        tried_again rm "$@" || return
        case $* in -rf*) sleep 0.3 && tried_again rm "$@" ;; esac
    }
fi

# nap SECONDS: passes in the shell itself, so who polls starts no process for it.
mkfifo "$T/.nap"
nap() { read -rt "$1" _ <>"$T/.nap" || :; }

at_end=()
leave() {
    local command
    [ "$BASHPID" = $$ ] || return # a subshell that a signal meets before bash has reset its traps
    for command in "${at_end[@]}"; do eval "$command"; done
    cd /
    chmod -R u+rwX "$T" 2>/dev/null
    rm -rf "$T"
}
trap leave EXIT
trap 'exit 1' INT TERM HUP

MB=1024 HOOK_CPU=0.3 # a MB in kB; the limit of a hook that is to run into it
if [ -n "${APSIS_SANITIZED:-}" ]; then # a sanitizer's own memory comes on top, and all takes longer
    MB=8192 HOOK_CPU=4
fi

# A leak sanitizer cannot work in a traced process.
TRACED=(env ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" strace -qq)

count=0 failures=0 current='' problems=''

report() { # report PASSED NAME [DIAGNOSIS]
    count=$((count + 1))
    if [ "$1" = yes ]; then
        echo "ok $count - $2"
    else
        failures=$((failures + 1))
        echo "not ok $count - $2"
        printf '%s\n' "${3-}" | head -c 4000 | sed 's/^/#   /' >&2
    fi
}

verdict() { # verdict PASSED WHAT [DIAGNOSIS]: a test, or a part of the current item
    if [ -z "$current" ]; then
        report "$@"
    elif [ "$1" != yes ]; then
        problems+="$2: ${3-}"$'\n'
    fi
}

item() { current=$1 problems=''; }

end_item() {
    local name=$current
    current=''
    if [ -z "$problems" ]; then
        report yes "$name"
    else
        report no "$name" "$problems${code:+last command: exit $code$'\n'}${out:+stdout: $out$'\n'}${err:+stderr: $err}"
    fi
}

ok() {
    local what=$1
    shift
    if "$@" >/dev/null 2>&1; then verdict yes "$what"; else verdict no "$what" "failed: $*"; fi
}

is() {
    if [ "$2" = "$3" ]; then verdict yes "$1"; else verdict no "$1" "got '$2', expected '$3'"; fi
}

like() {
    if [[ $2 =~ $3 ]]; then verdict yes "$1"; else verdict no "$1" "got '$2', expected a match of '$3'"; fi
}

unlike() {
    if [[ $2 =~ $3 ]]; then verdict no "$1" "got '$2', expected no match of '$3'"; else verdict yes "$1"; fi
}

# line WHAT TEXT REGEX: a line of the text matches (grep's extended syntax); no_line: none does.
line() {
    if printf '%s\n' "$2" | grep -Eq -e "$3"; then verdict yes "$1"; else verdict no "$1" "no line of '$2' matches '$3'"; fi
}

no_line() {
    if printf '%s\n' "$2" | grep -Eq -e "$3"; then verdict no "$1" "a line of '$2' matches '$3'"; else verdict yes "$1"; fi
}

finish() {
    echo "1..$count"
    exit $((failures > 0))
}

# Runs a command bounded in time: $code, $out, $err.
capture() {
    timeout -k 5 "${LIMIT:-300}" "$@" >"$T/.out" 2>"$T/.err" </dev/null
    code=$?
    { out=$(<"$T/.out") err=$(<"$T/.err"); } 2>/dev/null # bash leaves out a NUL, and says so
}

apsis() { capture "$APSIS" "$@"; }

# The manifest of the current directory, from: DIRECTION, PROVIDER, MEASURE, LIMIT_SEC (of the verifier), STRATEGY,
# RULES and EXTRA (lines).
write_manifest() {
    cat >manifest.yaml <<END
version: 1
project: {name: tiny}
files:
  - {path: value.txt, mode: writable}
  - {path: evaluate.sh, mode: hidden}
  - {path: propose.lua, mode: read_only}
${RULES-}
verification:
  commands: [{name: measure, run: ${MEASURE:-sh evaluate.sh}, timeout_sec: ${LIMIT_SEC:-10}}]
metric: {name: score, direction: ${DIRECTION:-higher}}
strategy: ${STRATEGY:-hillclimb}
${PROVIDER-provider: {kind: lua, use: propose.lua\}}
${EXTRA-}
END
}

# drop_refs: the candidates' refs are gone, as in a clone.
drop_refs() { git for-each-ref --format='delete %(refname)' refs/apsis/ refs/apsis-anchors/ | git update-ref --stdin; }

# new_project NAME: a git project in $T/NAME, which becomes the current directory. value.txt holds a number, evaluate.sh
# prints it as the score, and propose.lua makes it the experiment's number: so every experiment is kept.
new_project() {
    mkdir -p "$T/$1" && cd "$T/$1" || exit 1
    git init -q .
    fill_project
    git add -A && git commit -qm start
}

fill_project() {
    echo 0 >value.txt
    echo 'echo "METRIC score=$(cat value.txt)"' >evaluate.sh
    printf '%s\n' 'return function(proposal) return { ["value.txt"] = proposal.experiment .. "\n" } end' >propose.lua
    printf '%s\n' 'logs/' 'runs/' '.apsis/' >.gitignore
    write_manifest
}

# Commits everything in the current directory.
commit() {
    case $PWD in "$T"/*) ;; *) echo "Bail out! not in the test's own directory"; exit 1 ;; esac
    git add -A && git commit -qm "${1:-start}"
}

# project NAME: a project in $T/NAME, made by `apsis init --example` and committed; it becomes the current directory.
project() {
    mkdir "$T/$1" && cd "$T/$1" && git init -q . && "$APSIS" init --example >/dev/null || exit 1
    printf '/logs/\n/runs/\n/.apsis/\n' >.gitignore
    commit
}

# scripted NAME: such a project whose provider proposes the lines of edits.txt in turn, as the first number of settings.lua.
scripted() {
    project "$1"
    cp "$ROOT/tests/cli/scripted.lua" mutate.lua
    printf '%s\n' '1 one is nearer' '1.5 ESC[31mred' '0.5 half is farther' >edits.txt
    commit "a scripted provider"
}

# json PATH: a value of the JSON in $out, such as best.candidate or 1.check.
json() { printf '%s' "$out" | "$APSIS" exec "$ROOT/tests/cli/json.lua" "$1"; }

# agent <<SCRIPT: a command provider's program, outside the project; PROVIDER names it.
agent() {
    agents=$((${agents:-0} + 1))
    cat >"$T/agent-$agents.sh"
    PROVIDER="provider: {kind: command, run: [bash, $T/agent-$agents.sh], timeout_sec: ${AGENT_SEC:-20}, retries: 0${AGENT_EXTRA-}}"
}

# died SIGNAL NUMBER: how a command's death by it is told. Of one that bwrap confines the exit code is all that is known.
died() {
    echo 'print((require "apsis.live.cage.ways".find()))' >"$T/.way.lua"
    if [ "$("$APSIS" exec "$T/.way.lua")" = bwrap ]; then echo "exit $((128 + $2))"; else echo "$1"; fi
}

# field EXPERIMENT KEY: of the journal line of an experiment (the newest with that number); "null" for null.
field() { "$APSIS" exec "$ROOT/tests/cli/field.lua" logs/results.jsonl "$1" "$2"; }

lines() { if [ -f logs/results.jsonl ]; then wc -l <logs/results.jsonl | tr -d ' '; else echo 0; fi; }

# gone MARKER: no process has it on its command line.
gone() { ! pgrep -f -- "$1" >/dev/null; }

# wait_for WHAT COMMAND...: until the command succeeds.
wait_for() {
    local what=$1 until=$((SECONDS + 240))
    shift
    while [ "$SECONDS" -lt "$until" ]; do
        "$@" >/dev/null 2>&1 && return
        nap 0.02
    done
    verdict no "$what" "never: $*"
}
