#!/bin/bash
# pi: by its models.json and settings.json.
. tests/agents/lib.sh
export PI_OFFLINE=1 PI_TELEMETRY=0 PI_SKIP_VERSION_CHECK=1 PI_TEST_KEY=$MARK
mkdir -p "$HOME/.pi/agent"
cat >"$HOME/.pi/agent/models.json" <<END
{"providers": {"local": {"baseUrl": "$URL/v1", "api": "openai-completions", "apiKey": "PI_TEST_KEY",
  "models": [{"id": "mock-1", "contextWindow": 128000, "maxTokens": 4096,
    "cost": {"input": 5, "output": 20, "cacheRead": 0, "cacheWrite": 0}}]}}}
END
echo '{"retry": {"enabled": false, "provider": {"maxRetries": 0}}}' >"$HOME/.pi/agent/settings.json"
scenarios pi 'model: local/mock-1'
finish
