#!/bin/bash
# claude: Claude Code, by its key and address in the environment.
. tests/agents/lib.sh
export ANTHROPIC_BASE_URL=$URL ANTHROPIC_API_KEY=$MARK CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
scenarios claude 'max_turns: 20'
finish
