#!/bin/bash
# claude: Claude Code, by its key and address in the environment.
. tests/agents/lib.sh
export ANTHROPIC_BASE_URL=$URL ANTHROPIC_API_KEY=$MARK CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
scenarios claude 'max_turns: 6'
if [ -z "${AS_USER-}" ]; then
    item "claude: an answer that reaches max_turns counts as it is"
    cd "$T/agent" || exit 1
    asks endless
    is "outcome" "$(outcome)" kept
    is "the value" "$(git show "apsis/tiny:value.txt")" 28
    end_item
fi
finish
