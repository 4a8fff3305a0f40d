#!/bin/bash
# presets: how the known agents are started: which keys reach them, which are refused, and how the sandbox changes it.
# Stand-ins print their command line and environment and write a better value.
. tests/cli/lib.sh || exit 1
[ "${APSIS_CAGE-}" = none ] && [ "$(id -u)" = 0 ] && { echo "1..0 # skip claude is refused as root without a sandbox"; exit 0; }

mkdir -p "$T/agents"
for name in claude codex gemini opencode pi; do
    cat >"$T/agents/$name" <<'END'
#!/bin/sh
if [ -n "$PLANNED" ]; then eval "$PLANNED"; fi
{ echo "line ${0##*/} $*"; env; } >"$APSIS_RUN_DIR/seen"
echo "$APSIS_EXPERIMENT" >value.txt
echo "I raised the value"
END
    chmod +x "$T/agents/$name"
done
export PATH=$T/agents:$PATH

preset() { # NAME KEYS
    sed -i "s|^provider:.*|provider: {preset: $1, allow: ['$T/agents:ro']$2}|" manifest.yaml
    git commit -qam provider
}
seen() { cat "runs/$(printf %04d $(($(lines) - 1)))/provider/seen"; }

item "model, args, max_turns and usd_per_answer reach the agent, after the preset's own arguments"
new_project keys
apsis baseline
preset claude ", model: sonnet, args: [--effort, 'very high'], max_turns: 60, usd_per_answer: 2.5"
apsis run --iterations 1
line "claude" "$(seen)" "^line claude -p .*--model sonnet --max-turns 60 --max-budget-usd 2.5 --effort very high$"
preset codex ", model: m, args: [-c, 'a=\"b\"']"
apsis run --iterations 1
line "codex: the word that stays last" "$(seen)" '^line codex exec .*--model m -c a="b" -$'
sed -i "s|^provider:.*|provider: {run: [claude, one], args: [two, 'three four'], max_turns: 7, usd_per_answer: 0.25, allow: ['$T/agents:ro']}|" manifest.yaml
apsis run --iterations 1
line "a command of one's own: args" "$(seen)" "^line claude one two three four$"
line "max_turns" "$(seen)" "^APSIS_MAX_TURNS=7$"
line "usd_per_answer" "$(seen)" "^APSIS_USD_PER_ANSWER=0.25$"
sed -i "s|run: \[claude, one\]|run: claude 'one 1'|" manifest.yaml
apsis run --iterations 1
line "a line for the shell" "$(seen)" "^line claude one 1 two three four$"
end_item

item "allow, pass_env and env are added to the preset's"
mkdir -p "$HOME/extra" && echo here >"$HOME/extra/file"
export ANTHROPIC_LATER=a OWN_LATER=b
preset claude ", pass_env: [OWN_LATER], env: {CLAUDE_CODE_MAX_RETRIES: '5', MINE: c}"
apsis run --iterations 1
for word in ANTHROPIC_LATER=a OWN_LATER=b CLAUDE_CODE_MAX_RETRIES=5 MINE=c CLAUDE_CODE_DISABLE_AUTO_MEMORY=1; do
    line "$word" "$(seen)" "^$word$"
done
end_item

item "a key that a preset cannot honour is refused with its line"
for preset in codex gemini opencode pi; do
    for key in 'max_turns: 3' 'usd_per_answer: 1'; do
        preset "$preset" ", $key"
        apsis setup
        is "$preset, $key" "$code" 2
        like "$preset, $key" "$out$err" "manifest.yaml:[0-9]+: provider.${key%%:*}: cannot be honoured: $preset has no option"
    done
done
end_item

item "setup prints the command line that will run"
preset claude ", model: opus, args: ['two words']"
apsis setup
like "setup" "$out" "command found \(not run\): claude -p --no-session-persistence (--dangerously-skip-permissions|--permission-mode acceptEdits) --output-format json --model opus 'two words'"
end_item

item "in the sandbox the agents' own limits are off; without it they are on"
if [ "$APSIS_CAGE" != none ]; then
    for words in 'claude --dangerously-skip-permissions' 'codex --sandbox danger-full-access' 'gemini --approval-mode yolo' \
        'opencode --auto' 'pi --no-session'; do
        preset "${words%% *}" ""
        apsis run --iterations 1
        is "${words%% *}" "$(field $(($(lines) - 1)) outcome)" kept
        like "${words%% *}" "$(seen)" "${words#* }"
        [ "${words%% *}" = claude ] && [ "$(id -u)" = 0 ] && line "claude as root" "$(seen)" "^IS_SANDBOX=1$"
    done
fi
echo "sandbox: off" >>manifest.yaml
for words in 'codex --sandbox workspace-write' 'gemini --skip-trust --approval-mode auto_edit'; do
    preset "${words%% *}" ""
    apsis run --iterations 1
    like "${words%% *}, sandbox off" "$(seen)" "${words#* }"
done
end_item

item "claude as root without a sandbox is refused with the remedy; an ordinary user's keeps its own limits"
preset claude ""
apsis run --iterations 1
if [ "$(id -u)" = 0 ]; then
    is "exit" "$code" 4
    like "remedy" "$err" "claude as root without a sandbox.*remove .sandbox: off. from the manifest, or run apsis as an ordinary user"
else
    like "an ordinary user" "$(seen)" "--permission-mode acceptEdits"
    unlike "no lie" "$(seen)" "IS_SANDBOX"
fi
end_item

finish
