#!/bin/bash
# mcp: apsis mcp by the official client library, which checks each message against the protocol's schema.
. tests/cli/lib.sh

PROVIDER='' # nobody but the client
new_project tiny
echo 10 >value.txt
commit ten
apsis baseline -q
cp "$ROOT/tests/agents/mcp_client.mjs" "$AGENTS/mcp_client.mjs"
LIMIT=60 capture node "$AGENTS/mcp_client.mjs" "$APSIS" "$PWD"

item "the client library connects, lists the tools and calls each"
is "exit" "$code" 0
is "server" "$(json server.name)" apsis
like "instructions" "$(json instructions)" "Call status first"
is "the ninth tool" "$(json tools.9)" metrics
for tool in status next submit wait log show diff direct metrics; do
    like "$tool" "$(json texts.$tool)" $'\nnext: '
    unlike "$tool" "$(json texts.$tool)" '^error'
done
like "kept" "$(json texts.submit)" "^c0001 kept: score = 25"
is "side by side" "$(json both.1) $(json both.2)" "true true"
is "unknown" "$(json unknown)" -32602
end_item

item "and what it submitted is in the journal"
is "line" "$(field 1 outcome) $(field 1 description)" "kept the client's"
end_item

finish
