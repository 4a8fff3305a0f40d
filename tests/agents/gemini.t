#!/bin/bash
# gemini: Gemini CLI, by its key and address in the environment; it reports no dollars, so it has a price. It tries a
# failing model again for longer than this test waits.
. tests/agents/lib.sh
export GEMINI_API_KEY=$MARK GOOGLE_GEMINI_BASE_URL=$URL
mkdir -p "$HOME/.gemini"
echo '{"security": {"auth": {"selectedType": "gemini-api-key"}}}' >"$HOME/.gemini/settings.json"
SLOW='over its limit|rate limit|500'
scenarios gemini 'model: gemini-2.5-flash, price: {input: 5, output: 20}'
finish
