# lib: a real coding agent against a stand-in for its model on loopback. Each *.t names an agent, configures it as a user
# would, and has `scenarios` run it as shipped: improving, worsening, 401, 429, 500, silence. AGENTS: where npm installed
# the agents; their install scripts did not run, so those that are one native program are linked here.
. tests/cli/lib.sh || exit 1
rm -f "$XDG_CONFIG_HOME/apsis/config.yaml" # the home is not open to commands here

case $(uname -m) in aarch64) arch=arm64 ;; *) arch=x64 ;; esac
mkdir -p "$AGENTS/bin"
ln -sf "../node_modules/@anthropic-ai/claude-code-linux-$arch/claude" "$AGENTS/bin/claude"
ln -sf "../node_modules/opencode-linux-$arch/bin/opencode" "$AGENTS/bin/opencode"
PATH=$AGENTS/bin:$AGENTS/node_modules/.bin:$PATH
unset CLAUDE_CONFIG_DIR CODEX_HOME GEMINI_CLI_HOME PI_CODING_AGENT_DIR XDG_DATA_HOME XDG_STATE_HOME
MARK=key-of-the-test-$$ # what the agent's processes are known by
LIMIT=240

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
    echo "$1" >"$T/word"
    sed -i "s/timeout_sec: [0-9]*/timeout_sec: ${2:-120}/" manifest.yaml
    apsis run --iterations 1 --minutes "${MINUTES:-9}"
    reason=$(field $(($(lines) - 1)) rollback_reason)
}
outcome() { field $(($(lines) - 1)) outcome; }
kept_nothing() { is "no process is left" "$(left)" ""; is "the user's settings" "$(settings)" "$before"; }

# scenarios NAME KEYS: an agent in all of them. KEYS: of its provider, beside the preset.
scenarios() {
    item "$1 can be installed"
    like "version" "$("$1" --version 2>&1 | tail -1)" '[0-9]+\.[0-9]+'
    end_item
    [ "$failures" = 0 ] || finish
    PROVIDER="provider: {kind: command, preset: $1, retries: 0, timeout_sec: 120, allow: ['$AGENTS:ro', '$(realpath "$AGENTS/node_modules"):ro'], $2}"
    new_project agent
    echo 10 >value.txt
    git commit -qam ten
    apsis baseline
    before=$(settings)

    item "$1: what improves is kept, with its tokens and dollars, which end the run by their budget"
    echo "budget: {usd: 0.000001}" >>manifest.yaml
    echo improve >"$T/word"
    apsis run
    reason=$(field 1 rollback_reason)
    like "after one answer" "$out" "1 experiment:.*ended: budget: usd used up"
    sed -i '/^budget:/d' manifest.yaml
    is "outcome" "$(outcome)" kept
    is "reason" "$reason" null
    is "the value" "$(git show apsis/tiny:value.txt)" 25
    like "tokens" "$(field 1 tokens)" '^[1-9][0-9]{3}$'
    like "dollars" "$(field 1 cost)" '^(0\.0*[1-9]|[1-9].*e-)'
    like "what it learned" "$(field 1 learned)" "it was tried"
    kept_nothing
    end_item

    item "$1: what worsens is rejected"
    asks worse
    is "outcome" "$(outcome)" reverted_worse_metric
    end_item

    item "$1: a refused key"
    asks 401 60
    is "exit" "$code" 4
    like "reason" "$reason" "$1 is not logged in.*401"
    end_item

    item "$1: a rate limit ends a run whose minutes are shorter than the wait"
    MINUTES=0.4 asks 429 20
    is "exit" "$code" 4
    like "why" "$err" "${SLOW:-rate limit.*is behind the end of budget.minutes}"
    end_item

    item "$1: a server that fails"
    asks 500 30
    is "exit" "$code" 4
    like "reason" "$reason" "${SLOW:-500|high demand}"
    end_item

    item "$1: a model that never answers is ended at the limit, with all that it started"
    asks silence 8
    is "exit" "$code" 4
    like "reason" "$reason" "over its limit of 8 s"
    kept_nothing
    end_item
}
