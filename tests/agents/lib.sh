# lib: a real coding agent against a stand-in for its model on loopback. Each *.t names an agent, configures it as a user
# would, and has `scenarios` run it as shipped: in the sandbox all that a model can do (improve, worse, scope, shell,
# daemon, hang, silence) and all that a server can refuse (401, 429, 500); then without a sandbox, and both again as an
# ordinary user. AGENTS: where npm installed the agents; their install scripts did not run, so those that are one native
# program are linked here. CELLS: a file that gets a line for each answer, of which tests/agents/table makes a table.
AGENT_TEST=$0
TMPDIR=/var/tmp # codex has no sandbox of its own for a home below /tmp
. tests/cli/lib.sh || exit 1
unset TMPDIR
rm -f "$XDG_CONFIG_HOME/apsis/config.yaml" # the home is not open to commands here

case $(uname -m) in aarch64) arch=arm64 ;; *) arch=x64 ;; esac
if [ -z "${AS_USER-}" ]; then
    mkdir -p "$AGENTS/bin"
    ln -sf "../node_modules/@anthropic-ai/claude-code-linux-$arch/claude" "$AGENTS/bin/claude"
    ln -sf "../node_modules/opencode-linux-$arch/bin/opencode" "$AGENTS/bin/opencode"
fi
PATH=$AGENTS/bin:$AGENTS/node_modules/.bin:$PATH
unset CLAUDE_CONFIG_DIR CODEX_HOME GEMINI_CLI_HOME PI_CODING_AGENT_DIR XDG_DATA_HOME XDG_STATE_HOME
MARK=key-of-the-test-$$ # what the agent's processes are known by
LIMIT=400

python3 tests/agents/model_server.py "$T/port" "$T/word" "$T/requests" &
SERVER=$!
disown $SERVER
at_end+=("kill $SERVER 2>/dev/null")
until [ -s "$T/port" ]; do sleep 0.05; done
URL=http://127.0.0.1:$(cat "$T/port")

left() { # processes that have the key in their environment
    local entry
    for entry in /proc/[0-9]*; do
        [[ ${entry#/proc/} = "$$" || ${entry#/proc/} = "$BASHPID" || ${entry#/proc/} = "$SERVER" ]] && continue
        tr '\0' '\n' <"$entry/environ" | grep -q "=$MARK$" && tr '\0' ' ' <"$entry/cmdline"
    done 2>/dev/null
}
settings() { (cd "$T" && find home config -type f -exec sha256sum {} + | sort -k2); }

asks() { # WORD [SECONDS]: one experiment whose model does this
    local began=$EPOCHREALTIME
    echo "$1" >"$T/word"
    : >"$T/requests"
    sed -i "s/timeout_sec: [0-9]*/timeout_sec: ${2:-300}/" manifest.yaml
    local had
    had=$(lines)
    apsis run ${ITERATIONS---iterations 1} --minutes "${MINUTES:-9}"
    number=$(($(lines) - 1))
    reason=$(field $number rollback_reason)
    if [ "$(lines)" = "$had" ]; then # it ended without a line
        cell "$1" "$began" stopped - - "${err##*$'\n'}"
    elif [ "$(outcome)" = skipped_no_change ]; then
        no_shell
        cell "$1" "$began" "has no shell" "$(field $number tokens)" "$(field $number cost)" "$reason"
    else
        cell "$1" "$began" "$(outcome)" "$(field $number tokens)" "$(field $number cost)" "$reason"
    fi
    is "the user's settings" "$(settings)" "$before"
}
outcome() { field $number outcome; }

# An agent may change nothing for one reason: its own limits refuse a shell command, which it reports, or offer no shell.
no_shell() {
    is "the sandbox" "${MODE%%,*}" "no sandbox"
    case $reason in
    *"was refused permission for"*) ;;
    *)
        unlike "it offers a shell" "$(cat "$T/requests")" '"shell": true'
        reason="$reason: it offers no shell to its model"
        ;;
    esac
}

cell() { # WORD BEGAN OUTCOME TOKENS DOLLARS REASON: a line for the table
    local seconds processes
    seconds=$(awk "BEGIN { printf \"%.1f\", $EPOCHREALTIME - $2 }")
    processes=$(left)
    is "no process is left" "$processes" ""
    [ "$3" = kept ] || like "a readable reason" "$6" '^[^[:cntrl:]]{20,}$'
    unlike "remains of objects" "$6" 'object Object|[{]"'
    [ -z "${CELLS-}" ] || printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$AGENT" "$MODE" "$1" "$3" "$seconds" \
        "$4" "$5" "$6" "${processes:-none}" >>"$CELLS"
}

# in_project NAME MORE: a project with the agent; MORE: lines of its manifest.
in_project() {
    PROVIDER="provider: {kind: command, preset: $AGENT, retries: 0, timeout_sec: 300, allow: ['$AGENTS:ro', '$(realpath "$AGENTS/node_modules"):ro'], $KEYS}"
    EXTRA=${2-} new_project "$1"
    echo 10 >value.txt
    git commit -qam ten
    apsis baseline
    before=$(settings)
}

# What must come of a model that works.
improves() {
    asks improve
    is "outcome" "$(outcome)" kept
    is "reason" "$reason" null
    is "the value" "$(git show "apsis/tiny:value.txt")" 25
    like "tokens" "$(field $number tokens)" '^[1-9][0-9]{3}$'
    like "dollars" "$(field $number cost)" '^(0\.0*[1-9]|[1-9].*e-)'
    like "what it learned" "$(field $number learned)" "it was tried"
}

# Without a sandbox the agent keeps its own limits, and what it starts is ended all the same.
without_sandbox() {
    if [ "$AGENT" = claude ] && [ "$(id -u)" = 0 ]; then
        apsis run --iterations 1
        is "exit" "$code" 4
        like "refused as root" "$err" "claude as root without a sandbox"
        for word in improve scope daemon; do cell "$word" "$EPOCHREALTIME" refused - - "${err##*$'\n'}"; done
        return
    fi
    improves
    asks scope
    like "a read_only file" "$(outcome) $reason" "^reverted_scope_violation .*propose.lua"
    asks daemon
    like "a daemon" "$(outcome)" "^(kept|skipped_no_change)$" # its own limits may refuse a shell
}

# scenarios NAME KEYS: an agent in all of them. KEYS: of its provider, beside the preset.
scenarios() {
    AGENT=$1 KEYS=$2
    item "$AGENT can be installed"
    like "version" "$("$AGENT" --version 2>&1 | tail -1)" '[0-9]+\.[0-9]+'
    end_item
    [ "$failures" = 0 ] || finish
    if [ -n "${AS_USER-}" ]; then
        as_the_user
        return
    fi
    if [ "$(id -u)" = 0 ]; then who=root; else who=user; fi
    MODE="sandbox, $who" in_project agent
    MODE="sandbox, $who"

    item "$AGENT: what improves is kept, with its tokens and dollars; its answer passes a budget of 0.01, which ends the run"
    echo "budget: {usd: 0.01}" >>manifest.yaml
    ITERATIONS='' improves
    like "after that answer" "$out" "^1 experiment:.*ended: budget: usd used up"
    ok "which passed the budget" awk "BEGIN { exit !($(field 1 cost) >= 0.01) }"
    sed -i '/^budget:/d' manifest.yaml
    end_item

    item "$AGENT: what worsens is rejected"
    asks worse
    is "outcome" "$(outcome)" reverted_worse_metric
    end_item

    item "$AGENT: an edit of a read_only file is refused"
    asks scope
    is "outcome" "$(outcome)" reverted_scope_violation
    like "reason" "$reason" "propose.lua"
    end_item

    item "$AGENT: its shell works"
    asks shell
    is "outcome" "$(outcome)" kept
    is "the value" "$(git show "apsis/tiny:value.txt")" 26
    end_item

    item "$AGENT: a daemon that it starts is gone afterwards"
    asks daemon
    is "outcome" "$(outcome)" kept
    is "the value" "$(git show "apsis/tiny:value.txt")" 27
    end_item

    item "$AGENT: a command of its shell that hangs is ended at the limit, with all that it started"
    asks hang 12
    is "exit" "$code" 4
    like "reason" "$reason" "over its limit of 12 s"
    end_item

    item "$AGENT: a refused key"
    asks 401 200
    is "exit" "$code" 4
    like "reason" "$reason" "$AGENT is not logged in.*401"
    end_item

    item "$AGENT: a rate limit ends a run whose minutes are shorter than the wait"
    MINUTES=0.4 asks 429 "${SLOW:+20}"
    is "exit" "$code" 4
    like "why" "$err" "${SLOW:-rate limit.*would be after the end of budget.minutes}"
    end_item

    item "$AGENT: a server that fails"
    asks 500 "${SLOW:+30}"
    is "exit" "$code" 4
    like "reason" "$reason" "${SLOW:-500|high demand}"
    end_item

    item "$AGENT: a model that never answers is ended at the limit, with all that it started"
    asks silence 8
    is "exit" "$code" 4
    like "reason" "$reason" "over its limit of 8 s"
    end_item

    if [ "$AGENT" != claude ]; then
        item "$AGENT has no option for max_turns, so the key is refused"
        sed -i 's/preset: /max_turns: 6, preset: /' manifest.yaml
        apsis run --iterations 1
        is "exit" "$code" 2
        like "why" "$err" "provider.max_turns: cannot be honoured: $AGENT has no option for it"
        cell endless "$EPOCHREALTIME" refused - - "$(grep max_turns <<<"$err")"
        end_item
    fi

    item "$AGENT without a sandbox"
    MODE="no sandbox, $who" in_project off 'sandbox: off'
    MODE="no sandbox, $who" without_sandbox
    end_item
    [ "$who" = user ] || ordinary_user
}

as_the_user() {
    item "$AGENT as an ordinary user"
    MODE="sandbox, user" in_project agent
    MODE="sandbox, user" improves
    MODE="sandbox, user" asks daemon
    is "a daemon" "$(outcome)" kept
    end_item
    item "$AGENT as an ordinary user, without a sandbox"
    MODE="no sandbox, user" in_project off 'sandbox: off'
    MODE="no sandbox, user" without_sandbox
    end_item
}

# The same file again as nobody; its tests become tests here.
ordinary_user() {
    local line
    cd "$ROOT" || return
    [ -z "${CELLS-}" ] || chmod a+w "$CELLS"
    while IFS= read -r line; do
        case $line in
        "ok "*"can be installed") ;;
        "ok "*) report yes "${line#ok * - }" ;;
        "not ok "*) report no "${line#not ok * - }" "see above" ;;
        "1.."*) ;;
        *) printf '%s\n' "$line" ;;
        esac
    done < <(AS_USER=1 setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all bash "tests/agents/${AGENT_TEST##*/}" 2>&1)
}
