# lib: what the attacks share. Each attack is an evaluator's candidate or a provider that tries something, run by the built program in
# its default sandbox, or in the one that APSIS_CAGE names. Sourced by tests/attacks/*.t, from the repository's root.
#
#   attack NAME TITLE       begins one. It must be stopped in every way, but for
#   opens WAY [REASON]      a way in which it succeeds: a test fails where it does not, for then the attack would show nothing;
#   opens WAY? [REASON]     one in which it may.
#   candidate <<SCRIPT      runs an experiment whose candidate.sh, run by the hidden evaluator, is the script;
#   provider <<SCRIPT       runs one whose provider is the script.
#   won WHAT COMMAND...     the attack has succeeded where the command does. Other tests (ok, is, like) say that apsis came through.
#   end_attack
#
# Where ATTACKS_LOG names a file, each attack adds a line to it: NAME, way, expected, found, title, reason, between tabs.

# Not below /tmp, which commands have of their own: in the build folder, or where that is below /tmp, in the home.
for TMPDIR in "${BUILD:-build}/attacks" "$HOME/.cache/apsis-attacks"; do
    mkdir -p "$TMPDIR" 2>/dev/null && [ -w "$TMPDIR" ] && TMPDIR=$(cd "$TMPDIR" && pwd -P) || continue
    case $TMPDIR in /tmp/* | /var/tmp/* | /dev/shm/*) ;; *) break ;; esac
done
export TMPDIR
. tests/cli/lib.sh || exit 1
unset TMPDIR
rm -rf "$XDG_CONFIG_HOME/apsis"
at_end+=("rmdir ${T%/*} 2>/dev/null")
case $T in /tmp/* | /var/tmp/*) echo "# in $T, which commands do not see in any case: run it where build is not below /tmp" ;; esac
umask 022
LIMIT=240 # of a run on a busy machine; what hangs is ended after it

# Which way is in force here.
way_of() {
    case $("$APSIS" doctor 2>/dev/null | grep ' sandbox: ') in
    *"by namespaces"*) echo namespaces ;;
    *bwrap*) echo bwrap ;;
    *Landlock*) echo landlock ;;
    *) echo none ;;
    esac
}
WAY=$(way_of)
[ -n "${APSIS_CAGE:-}" ] && [ "$APSIS_CAGE" != "$WAY" ] && { echo "Bail out! $APSIS_CAGE does not work here"; exit 1; }
is_root() { [ "$(id -u)" = 0 ]; }
scopes_signals() { [ "$LANDLOCK" -ge 6 ]; }

# One program for what a shell cannot do.
mkdir -p "$T/bin"
${CC:-cc} -O1 -o "$T/bin/tool" tests/attacks/tool.c || { echo "Bail out! cannot compile tests/attacks/tool.c"; exit 1; }
LANDLOCK=$("$T/bin/tool" landlock)

# What is to be protected: a home with a key, another process of the user, variables.
mkdir -p "$HOME/.ssh" && echo "PRIVATE-KEY-OF-THE-USER" >"$HOME/.ssh/id_rsa"
echo 'export MARK=untouched' >"$HOME/.profile"
sleep 3217 &
VICTIM=$!
disown $VICTIM
at_end+=("kill $VICTIM 2>/dev/null")
export MY_API_KEY=secret-of-the-environment-1 VERY_HARMLESS=not-so-harmless

# ON_NODES=1: what is measured runs through `apsis job`, on the nodes of a stand-in of Slurm.
if [ -n "${ON_NODES:-}" ]; then
    export SLURM_FAKE=$T/fake FAKE=$T/fake PATH=$ROOT/tests/cluster/bin:$PATH
    mkdir -p "$FAKE/jobs" "$XDG_CONFIG_HOME/apsis"
    [ -z "${APSIS_CAGE:-}" ] || echo "APSIS_CAGE=$APSIS_CAGE" >"$FAKE/env"
    echo "execution: {target: slurm, folder: $T/shared, poll_sec: 0.2}" >"$XDG_CONFIG_HOME/apsis/config.yaml"
    setsid "$ROOT/tests/cluster/nodes" >/dev/null 2>&1 &
    disown $!
    at_end+=('rm -rf "$FAKE"')
fi

attack() {
    name=$1 title=$2 expected=stopped may='' reason='' evidence=''
    item "$title"
    EXTRA='' RULES='' MEASURE='[bash, evaluate.sh]' LIMIT_SEC=20 PROVIDER='' AGENT_SEC=20 PROVIDER_EXTRA='' ITERATIONS=1 code='' out='' err=''
    place=$T
}

opens() {
    case $1 in
    "$WAY") expected=open reason=${2:-} ;;
    "$WAY?") may=yes reason=${2:-} ;;
    esac
    return 0
}

won() {
    local what=$1
    shift
    if "$@" >/dev/null 2>&1; then evidence+="$what; "; fi
}

end_attack() {
    local found=stopped
    [ -z "$evidence" ] || found=open
    if [ "$found" != "$expected" ] && [ -z "$may" ]; then
        if [ $found = open ]; then problems+="the attack succeeded: $evidence"$'\n'
        else problems+="the attack was expected to succeed in this way ($WAY), and did not: so it shows nothing"$'\n'; fi
    fi
    [ -z "${ATTACKS_LOG:-}" ] ||
        printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$name" "$WAY" "${may:+maybe }$expected" "$found" "$title" "$reason" >>"$ATTACKS_LOG"
    current+=": $found ($WAY)"
    cd "$T" || exit 1
    end_item
}

# make_project SCRIPT: with the script as agent.sh, in $place/NAME. fill, if there is such a function, adds to it.
make_project() {
    mkdir -p "$place/$name" && cd "$place/$name" || exit 1
    project=$PWD
    cp -r "$T/undisturbed-template/." .
    cp "$T/bin/tool" .
    [ -z "$1" ] || cp "$1" agent.sh
    pool=$XDG_CACHE_HOME/apsis
    printf '%s\n' "PROJECT='$project' POOL='$pool' USERS_HOME='$HOME' VICTIM=$VICTIM HOST='$T'" >paths.sh
    cat >manifest.yaml <<END
version: 1
project: {name: tiny}
files:
  - {path: value.txt, mode: writable}
  - {path: candidate.sh, mode: writable}
  - {path: evaluate.sh, mode: hidden}
  - {path: 'secret/**', mode: hidden}
  - {path: 'generated/**', mode: generated}
${RULES}
verification:
  commands: [{name: measure, run: ${MEASURE}, timeout_sec: ${LIMIT_SEC}}]
  ${VERIFICATION_EXTRA-}
metric: {name: score, direction: higher${METRIC_EXTRA-}}
strategy: hillclimb
${PROVIDER}
${EXTRA}
END
    if declare -F fill >/dev/null; then fill; fi
    git add -A && git commit -qm start
    VERIFICATION_EXTRA='' METRIC_EXTRA=''
}

mkdir -p "$T/undisturbed-template/secret" "$T/undisturbed-template/lib" && (
    cd "$T/undisturbed-template" && git init -q .
    echo 0 >value.txt
    echo ': nothing yet' >candidate.sh
    echo 'THE-HIDDEN-ANSWER' >secret/answer.txt
    echo 'true' >lib/check.sh
    printf '%s\n' '[ "$APSIS_EXPERIMENT" = 0 ] || bash candidate.sh' '. lib/check.sh' 'echo "METRIC score=$(cat value.txt)"' >evaluate.sh
    printf '%s\n' 'logs/' 'runs/' '.apsis/' '*.cache' >.gitignore
) || exit 1

baseline() { apsis baseline --quiet; is "baseline" "$code" 0; }

launch() {
    baseline
    apsis run --quiet --iterations "$ITERATIONS"
    # Without a sandbox a command can change the journal: the run notices it and ends.
    [[ $WAY-$code-$err == none-3-*"results.jsonl: another program has"* ]] || is "run's exit code" "$code" "${EXIT:-0}"
    unset -f fill
}

# The candidate is the script and a value one above; of a second experiment ($NEXT), another script.
candidate() {
    cat >"$T/script"
    PROVIDER='provider: {kind: lua, use: propose.lua}'
    make_project ''
    {
        echo 'local first = [=====['
        cat "$T/script"
        echo ']=====]'
        echo 'local second = [=====['
        printf '%s\n' "${NEXT-}"
        echo ']=====]'
        echo 'return function(proposal)'
        echo '  return { ["value.txt"] = proposal.experiment .. "\n", ["candidate.sh"] = proposal.experiment % 2 == 1 and first or second }'
        echo 'end'
    } >propose.lua
    NEXT=''
    launch
}

# The provider is the script; what it does to value.txt is up to it.
provider() {
    cat >"$T/script"
    PROVIDER="provider: {kind: command, run: [bash, agent.sh], timeout_sec: ${AGENT_SEC}, retries: 0${PROVIDER_EXTRA}}"
    make_project "$T/script"
    launch
}

# Whether a text is in what the commands of an experiment said.
said() { grep -aqsF -- "$1" "runs/${2:-0001}"/verifier.log "runs/${2:-0001}"/provider_output*.md "runs/${2:-0001}"/provider_stderr*.log; }
holds() { grep -qs -- "$2" "$1"; }
outcome() { field "${1:-1}" outcome; }
value_is() { [ "$(field "${2:-1}" primary_metric)" = "$1" ]; }
