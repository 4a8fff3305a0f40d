#!/bin/bash
# opencode: by its configuration, which has the price of the model. It tries a failing model again for longer than this
# test waits.
. tests/agents/lib.sh
export OPENCODE_TEST_KEY=$MARK
mkdir -p "$XDG_CONFIG_HOME/opencode"
cat >"$XDG_CONFIG_HOME/opencode/opencode.json" <<END
{"provider": {"local": {"npm": "@ai-sdk/openai-compatible", "name": "local",
  "options": {"baseURL": "$URL/v1", "apiKey": "{env:OPENCODE_TEST_KEY}"},
  "models": {"mock-1": {"name": "mock-1", "cost": {"input": 5, "output": 20}}}}}}
END
SLOW='over its limit|rate limit|500'
scenarios opencode 'model: local/mock-1'
finish
