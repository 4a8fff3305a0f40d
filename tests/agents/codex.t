#!/bin/bash
# codex: Codex, by its configuration; it reports no dollars, so it has a price.
. tests/agents/lib.sh
export OPENAI_API_KEY=$MARK
mkdir -p "$HOME/.codex"
cat >"$HOME/.codex/config.toml" <<END
model_provider = "local"
[model_providers.local]
name = "local"
base_url = "$URL/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
END
scenarios codex 'model: mock-1, price: {input: 5, output: 20}'
finish
