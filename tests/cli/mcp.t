#!/bin/bash
# mcp: what a client of the Model Context Protocol sends, over pipes, and what it gets.
. tests/cli/lib.sh

PROVIDER='' # nobody but who submits
EXTRA='budget: {iterations: 4}' new_project tiny
echo 10 >value.txt
commit ten
apsis baseline -q

coproc MCP { exec "$APSIS" mcp 2>"$T/mcp.err"; }
server=$MCP_PID
at_end+=("kill $server 2>/dev/null")
exec {to}>&"${MCP[1]}" {from}<&"${MCP[0]}"
eval "exec ${MCP[1]}>&-"

send() { printf '%s\n' "$1" >&"$to"; }
receive() { out='' && read -r -t 60 out <&"$from"; }
request() { # METHOD [PARAMS]: a request, and its response in $out
    number=$((${number:--1} + 1))
    send '{"method":"'"$1"'","params":'"${2:-{\}}"',"jsonrpc":"2.0","id":'"$number"'}'
    receive
    is "id of $1" "$(json id)" "$number"
}
call() { # TOOL [ARGUMENTS]: the text of its result in $text
    request tools/call '{"name":"'"$1"'","arguments":'"${2:-{\}}"',"_meta":{"progressToken":1}}'
    text=$(json result.content.1.text)
    is "error of $1" "$(json result.isError)" "${3:-false}"
    [ "${3-}" = true ] || like "next of $1" "$text" $'\nnext: '
    ok "$1 is short" test "${#text}" -lt 10000
}
initialize() {
    request initialize '{"protocolVersion":"'"$1"'","capabilities":{"roots":{},"elicitation":{}},"clientInfo":{"name":"test","version":"1"}}'
}

item "the version is the client's if it is known, else the newest"
initialize 2025-06-18
is "2025-06-18" "$(json result.protocolVersion)" 2025-06-18
is "name" "$(json result.serverInfo.name)" apsis
initialize 2025-03-26
is "2025-03-26" "$(json result.protocolVersion)" 2025-03-26
initialize 2025-11-25
is "2025-11-25" "$(json result.protocolVersion)" 2025-11-25
initialize 1999-01-01
is "unknown" "$(json result.protocolVersion)" 2025-11-25
send '{"method":"notifications/initialized","jsonrpc":"2.0"}'
request ping
is "ping" "$out" "{\"id\":$number,\"jsonrpc\":\"2.0\",\"result\":{}}"
end_item

item "the tools are these"
request tools/list
is "names" "$(printf '%s' "$out" | grep -o '"name":"[a-z]*"' | tr -d '\n')" \
    '"name":"status""name":"next""name":"submit""name":"wait""name":"log""name":"show""name":"diff""name":"direct""name":"metrics"'
end_item

item "from status over next and submit to a kept improvement"
call status
like "status" "$text" "waiting|ready"
call next
like "task" "$text" "^experiment c0001: exploitation from c0000 \(10\)"
directory=$(printf '%s\n' "$text" | sed -n 's/^directory: //p')
echo 20 >"$directory/value.txt"
call submit '{"dir":"'"$directory"'","title":"twenty","hypothesis":"more","learned":"say \"less\"\nor more"}'
like "kept" "$text" "^c0001 kept: score = 20, \+10: better"
is "hypothesis" "$(field 1 hypothesis)" more
is "learned" "$(field 1 learned)" 'say "less" or more'
call diff
like "diff" "$text" '\+20'
call show '{"id":"c0001"}'
like "show" "$text" twenty
call log '{"count":1}'
like "log" "$text" "c0001"
unlike "log" "$text" "baseline"
end_item

item "a submission of the project's own folder, notes and metrics"
echo 5 >value.txt
call submit
like "rejected" "$text" "^c0002 reverted_worse_metric.*reason: 5 is not better"
call wait '{"id":"c0002"}'
like "wait" "$text" "^c0002 reverted"
call direct '{"message":"try harder"}'
call next
like "the prompt has the note" "$text" "try harder"
call metrics '{"text":"METRIC score=3\nMETRIC score: 4\n"}'
like "metrics" "$text" '"score":3'
end_item

item "what cannot be done is told in the result"
call submit '{"dir":"/nowhere"}' true
like "no folder" "$text" "/nowhere"
call show '{"id":"c0099"}' true
like "no candidate" "$text" 'no candidate "c0099"'
call wait '{"id":"s0099"}' true
call wait '{}' true
like "missing" "$text" "wait needs id"
call log '{"count":"x"}' true
like "type" "$text" "count must be a whole number"
call submit '{"new_run":true}' true
like "no such argument" "$text" 'no argument "new_run"'
end_item

item "a journal that was changed is a warning in the results of the tools that read it"
cp logs/results.jsonl "$T/before"
sed -i '2s/"primary_metric":20/"primary_metric":2000/' logs/results.jsonl
for tool in status log show diff 'wait {"id":"c0002"}'; do
    call $tool
    like "$tool" "$text" "^warning: logs/results.jsonl:2: this is not the line that apsis wrote there"
done
apsis wait c0002 --json
like "as JSON" "$(json altered)" "results.jsonl:2: this is not the line"
cp "$T/before" logs/results.jsonl
moved=$(git rev-parse refs/apsis/tiny/c0002)
git update-ref refs/apsis/tiny/c0002 HEAD
call status
like "a moved ref" "$text" "^warning: refs/apsis/tiny/c0002 names another commit: somebody changed it"
git update-ref refs/apsis/tiny/c0002 "$moved"
call status
unlike "restored" "$text" "warning"
end_item

item "the loop ends by its budget, and no tool begins another"
for n in 30 31 32; do
    echo $n >value.txt
    call submit
done
like "over" "$text" "the loop is over: budget: iterations used up.*next: stop here"
call next
like "over" "$text" "the loop is over"
end_item

item "calls go on side by side, and a batch has one response"
send '[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":"b","method":"ping"}]'
receive
is "batch" "$out" '[{"id":"a","jsonrpc":"2.0","result":{}},{"id":"b","jsonrpc":"2.0","result":{}}]'
send '{"jsonrpc":"2.0","id":"slow","method":"tools/call","params":{"name":"status"}}'
send '{"jsonrpc":"2.0","id":"fast","method":"ping"}'
receive
is "the quick one comes first" "$(json id)" fast
receive
is "the other one after it" "$(json id)" slow
end_item

item "a text that no program can be given, and a file that has no end, are refused"
call submit '{"title":"a\u0000b"}' true
like "NUL" "$text" "submit: title has a NUL character"
call direct '{"message":"'"$(head -c 140000 /dev/zero | tr '\0' x)"'"}' true
like "long" "$text" "direct: message has 140000 bytes, and may have at most 100000"
quotes=$(head -c 100000 /dev/zero | tr '\0' "'")
call submit '{"dir":"/nowhere","title":"'"$quotes"'","hypothesis":"'"$quotes"'"}' true
like "long ones that are not too long" "$text" "/nowhere"
call metrics '{"text":"METRIC score=3\nMETRIC a\u0000b=1\n"}'
like "a text of metrics may have one" "$text" '"score":3.*NUL in line'
call metrics '{"file":"/dev/zero"}' true
like "a device" "$text" "/dev/zero is not a regular file"
echo "METRIC score=7" >"$T/log"
call metrics '{"file":"'"$T/log"'"}'
like "a log" "$text" '"score":7'
truncate -s 20M "$T/log"
call metrics '{"file":"'"$T/log"'"}' true
like "a large log" "$text" "at most 16777216 are read"
end_item

item "what is no request is an error of JSON-RPC, and serving goes on"
for bad in '{' '5' '[]' '{"jsonrpc":"2.0","id":1}' '{"jsonrpc":"2.0","id":1,"method":5}' \
    '{"jsonrpc":"1.0","id":1,"method":"ping"}' '{"id":1,"method":"ping"}'; do
    send "$bad"
    receive
    like "$bad" "$(json error.code)" '^-32[67]00$'
done
send '{"jsonrpc": 2.0, not JSON}'
receive
is "the place in the message" "$(json error.message)" "not JSON, at byte 18: expected a key in quotes"
request no/such/method
is "method" "$(json error.code)" -32601
request tools/call '{"name":"rm"}'
is "tool" "$(json error.code)" -32602
request tools/call '[]'
is "parameters" "$(json error.code)" -32602
request tools/call
like "no tool named" "$(json error)" "params needs name"
send ''
send '{"jsonrpc":"2.0","id":9,"result":{}}'
request ping
end_item

item "a message of more than 4 MB is refused and not kept; several in one write are all answered"
head -c 6000000 /dev/zero | tr '\0' x >&"$to"
send ''
receive
is "error" "$(json error.message)" "a message has at most 4 MB"
kb=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$server/status")
ok "memory: $kb kB" test "$kb" -lt $((${APSIS_SANITIZED:-0} ? 400000 : 40000))
printf '{"jsonrpc":"2.0","id":71,"method":"ping"}\n{"jsonrpc":"2.0","id":72,"method":"ping"}\n' >&"$to"
receive
is "first" "$(json id)" 71
receive
is "second" "$(json id)" 72
end_item

item "it ends when the client closes its end"
exec {to}>&-
wait "$server"
is "exit" "$?" 0
is "messages" "$(cat "$T/mcp.err")" ""
end_item

leftovers() { find "$T/tmp" -mindepth 1; }
mkdir -p "$T/tmp"
init='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}'
status='{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"status"}}'
list='{"jsonrpc":"2.0","id":3,"method":"tools/list"}'

item "calls that run when the client closes its end are answered, and nothing is left"
printf '%s\n' "$init" "$status" "$list" | TMPDIR=$T/tmp "$APSIS" mcp >"$T/answers" 2>"$T/mcp.err"
is "exit" "$?" 0
is "ids" "$(grep -o '"id":[0-9]' "$T/answers" | sort | tr '\n' ' ')" '"id":1 "id":2 "id":3 '
like "status" "$(cat "$T/answers")" '"isError":false'
is "messages" "$(cat "$T/mcp.err")" ""
is "folders" "$(leftovers)" ""
end_item

item "SIGTERM ends the server and its children at once, and not what works in the background"
EXTRA='' new_project slow
echo 'while [ ! -e '"$T/go"' ]; do sleep 0.1; done; echo "METRIC score=$(cat value.txt)"' >evaluate.sh
commit slow
touch "$T/go"
apsis baseline -q
rm "$T/go"
echo 2 >value.txt
mkfifo "$T/in"
TMPDIR=$T/tmp "$APSIS" mcp <"$T/in" >"$T/answers" 2>"$T/mcp.err" &
server=$!
exec {to}>"$T/in"
send '{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"submit"}}'
until [ -e .apsis/inbox/s0001.work ]; do sleep 0.05; done
for n in 5 6; do
    send '{"jsonrpc":"2.0","id":'$n',"method":"tools/call","params":{"name":"wait","arguments":{"id":"s0001"}}}'
done
calls() { grep -lz -e '^--timeout=45$' /proc/[0-9]*/cmdline 2>/dev/null | sed 's/cmdline/environ/' |
    xargs -r grep -lsz "^TMPDIR=$T/tmp$" | wc -l; }
until [ "$(calls)" = 3 ]; do sleep 0.05; done
kill "$server"
wait "$server"
is "exit" "$?" 0
is "messages" "$(cat "$T/mcp.err")" ""
is "folders" "$(leftovers)" ""
is "calls" "$(calls)" 0
ok "the background" test -e .apsis/inbox/s0001.work
touch "$T/go"
apsis wait s0001
is "the submission" "$code" 0
exec {to}>&-
end_item

finish
