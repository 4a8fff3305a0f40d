#!/bin/bash
# The scripted chat server itself: which line answers, what each kind of answer is on the wire, what the log holds, and
# that no server outlives its test. The other tests that use it lean on these.
. tests/cli/lib.sh || exit 1
. tests/cli/server.sh

post() { # post BODY [CURL OPTION...]: $code is curl's, $status HTTP's, $body what came
    local request=$1
    shift
    status=$(curl -q -sS -m 20 -o "$T/body" -D "$T/head" -w '%{http_code}' -H 'Content-Type: application/json' -d "$request" \
        "$@" "$URL/chat/completions" 2>"$T/curl.err")
    code=$?
    body=$(tr -d '\0' <"$T/body" 2>/dev/null)
}

ask() { post "{\"model\": \"${2:-m}\", \"messages\": [{\"role\": \"user\", \"content\": \"$1\"}]}"; } # TEXT [MODEL]

said() { # of $T/body: an expression over the answer `a`
    python3 -IS -c 'import json, sys; a = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$T/body" "$1"
}
content() { said 'a["choices"][0]["message"]["content"]'; }

# ---- which line ----

start_server - <<'SCRIPT'
# a comment, and an empty line

{"content": "first"}
{"match": "needle", "content": "found", "times": 2}
{"model": "big", "content": "by model"}
{"content": "second", "times": 2}
SCRIPT

item "plain lines answer in order, and the last of them repeats"
heard=
for text in a b c d; do ask "$text"; heard+="$(content) "; done
is "in order" "$heard" "first second second second "
end_item

item "a line with match or model comes before the plain ones, as often as it says"
ask 'a needle in hay'; is "match" "$(content)" found
ask 'a needle' big; is "the first that fits" "$(content)" found
ask 'a needle'; is "used up" "$(content)" second
ask 'hay' big; is "model" "$(content)" "by model"
ask 'hay' big; is "model has no end" "$(content)" "by model"
ask 'hay' bigger; is "the whole name" "$(content)" second
end_item

is "GET /v1/models lists what the script names" \
    "$(curl -q -sS -m 20 "$URL/models" | python3 -c 'import json, sys; print(json.load(sys.stdin)["data"][0]["id"])')" big
is "an address that is none gets 404" "$(curl -q -s -m 20 -o "$T/body" -w '%{http_code}' "$URL/nothing")" 404

start_server - <<<'{"content": "once"}
{"default": true, "content": "whenever"}'
ask a; heard=$(content)
ask b; heard+=" $(content)"
ask c; heard+=" $(content)"
is "a default answers once the others are used up" "$heard" "once whenever whenever"

# ---- what it is on the wire ----

start_server - <<'SCRIPT'
{"model": "usage", "content": "text", "usage": {"prompt_tokens": 12, "completion_tokens": 3}}
{"model": "silent", "content": "text", "usage": null}
{"model": "length", "content": "half of it", "finish": "length"}
{"model": "several", "content": ["one", "two"]}
{"model": "parts", "content_parts": [{"type": "text", "text": "in "}, {"type": "text", "text": "parts"}]}
{"model": "tools", "tool_calls": [{"name": "edit", "arguments": {"path": "value.txt"}}]}
{"model": "prose", "prose": true}
{"model": "empty", "empty": true}
{"model": "401", "status": 401}
{"model": "429", "status": 429, "headers": {"Retry-After": "1"}, "body": "slow down"}
{"model": "500", "status": 500, "body": {"error": {"message": "broken"}}}
{"model": "garbage", "garbage": true}
{"model": "html", "html": true}
{"model": "close", "close": true}
{"model": "reset", "reset": true}
{"model": "truncate", "content": "much more than will come", "truncate": true}
{"model": "stall", "content": "late", "stall_s": 600}
{"model": "midst", "content": "late", "stall_s": 600, "stall": "middle"}
{"model": "bytes", "bytes": 300000}
{"model": "long", "content": "a text that is cut into several events because it is long: äöü, \"quoted\"\nand of two lines"}
SCRIPT

item "an answer is a chat completion"
ask hello usage
is "status" "$status" 200
is "shape" "$(said 'a["object"], a["model"], a["choices"][0]["finish_reason"], a["choices"][0]["message"]["role"]')" \
    "('chat.completion', 'usage', 'stop', 'assistant')"
is "usage" "$(said 'a["usage"]["prompt_tokens"], a["usage"]["completion_tokens"], a["usage"]["total_tokens"]')" "(12, 3, 15)"
ask hello silent; is "no usage" "$(said '"usage" in a')" False
ask hello length; is "finish" "$(said 'a["choices"][0]["finish_reason"]')" length
ask hello several; is "choices" "$(said '[c["message"]["content"] for c in a["choices"]]')" "['one', 'two']"
post '{"model": "usage", "n": 3, "messages": []}'; is "n" "$(said 'len(a["choices"])')" 3
ask hello parts; is "parts" "$(said '"".join(p["text"] for p in a["choices"][0]["message"]["content"])')" "in parts"
ask hello tools
is "a tool's call" "$(said 'a["choices"][0]["finish_reason"], a["choices"][0]["message"]["tool_calls"][0]["function"]')" \
    "('tool_calls', {'name': 'edit', 'arguments': '{\"path\": \"value.txt\"}'})"
ask hello prose; like "prose" "$(content)" "can't help"
ask hello empty; is "no choices" "$(said 'a["choices"]')" "[]"
ask hello bytes; is "bytes" "$(said 'len(a["choices"][0]["message"]["content"])')" 300000
end_item

item "refusals carry their status, headers and body"
ask hello 401; is "401" "$status $(said 'a["error"]["code"]')" "401 invalid_api_key"
ask hello 429; is "429" "$status $body" "429 slow down"
like "Retry-After" "$(cat "$T/head")" "Retry-After: 1"
ask hello 500; is "500" "$status $(said 'a["error"]["message"]')" "500 broken"
post 'not json'; is "a bad request" "$status" 400
end_item

item "broken answers are broken"
ask hello garbage; is "garbage" "$status $(said 1 2>/dev/null)" "200 "
ask hello html; like "html" "$status $body" "^200 <!DOCTYPE"
ask hello close; is "closed: an empty reply" "$code" 52
ask hello reset; is "reset: cannot receive" "$code" 56
ask hello truncate; is "truncated: a partial file" "$code" 18
post '{"model": "stall", "messages": []}' -m 0.3; is "stalled: over the limit" "$code $(wc -c <"$T/head" | tr -d ' ')" "28 0"
curl -q -s -m 60 -o "$T/midst" -D "$T/midst.head" \
    -d '{"model": "midst", "messages": []}' "$URL/chat/completions" &
asker=$!
for wait in $(seq 200); do
    grep -q '^HTTP/1.1 200' "$T/midst.head" 2>/dev/null && break
    sleep 0.05
done
ok "stalled in the midst: the head came" grep -q '^HTTP/1.1 200' "$T/midst.head"
ok "and the client still waits" kill "$asker"
wait "$asker" 2>/dev/null
end_item

streamed() { # MODEL: the data of the events
    post "{\"model\": \"$1\", \"stream\": true, \"stream_options\": {\"include_usage\": true}, \"messages\": []}"
    sed -n 's/^data: //p' "$T/body" >"$T/events"
}
joined() { # the pieces of EXPRESSION over each delta `d`, put together
    python3 -IS -c '
import json, sys
events = [json.loads(line) for line in open(sys.argv[1]) if line[0] == "{"]
print("".join(eval(sys.argv[2]) or "" for e in events for c in e["choices"] for d in [c["delta"]]))' "$T/events" "$1"
}

item "a request that streams is answered by events"
streamed long
like "type" "$(cat "$T/head")" "text/event-stream"
is "the text" "$(joined 'd.get("content")')" $'a text that is cut into several events because it is long: äöü, "quoted"\nand of two lines'
ok "several pieces" test "$(grep -c '"content": "[^"]' "$T/events")" -gt 3
is "finish" "$(grep -c '"finish_reason": "stop"' "$T/events")" 1
is "usage" "$(grep -c '"prompt_tokens"' "$T/events")" 1
is "the end" "$(tail -n 1 "$T/events")" "[DONE]"
streamed tools
is "a tool's call" "$(joined 'd.get("tool_calls") and d["tool_calls"][0]["function"]["arguments"]')" '{"path": "value.txt"}'
streamed truncate; is "truncated" "$code" 18
unlike "without its end" "$(cat "$T/events")" DONE
streamed 429; is "refused as any other" "$status $body" "429 slow down"
end_item

# ---- programs ----

cat >"$T/answers.py" <<'PYTHON'
def answer(request, number):
    if "break" in request["text"]:
        return 1 // 0
    if "unknown" in request["text"]:
        return {"contents": "a key it does not know"}
    return {"content": f"{number}: {request['model']} said {request['text']}"}
PYTHON
start_server - <<<'{"program": "answers.py"}'

item "a program answers from the request and its number"
ask one; is "first" "$(content)" "1: m said one"
ask two other; is "second" "$(content)" "2: other said two"
ask break; like "a fault is seen" "$status $body" "^500 .*ZeroDivisionError"
ask unknown; like "an unknown key is seen" "$status $body" "^500 .*contents"
end_item

# ---- the log ----

item "the log has every request, and no key"
post '{"model": "m", "messages": [{"role": "user", "content": "to the log"}]}' -H 'Authorization: Bearer sk-secret'
is "number" "$(requests)" 5
is "body" "$(request -1 body.messages.0.content)" "to the log"
is "line" "$(request 5 line)" 1
is "the key's hash" "$(request 5 headers.authorization)" "sha256:$(printf 'Bearer sk-secret' | sha256sum | head -c 16)"
unlike "the key" "$(cat "$SERVER_LOG")" sk-secret
end_item

# ---- its end ----

item "a script that is wrong is refused, with its line"
while IFS='|' read -r line wanted; do
    echo "$line" >"$T/wrong.jsonl"
    capture python3 "$ROOT/tests/cli/chat_server.py" "$T/wrong.port" "$T/wrong.jsonl"
    like "$line" "$code $err" "^1 chat_server.py: .*$wanted"
    ok "no port for $line" test ! -e "$T/wrong.port"
done <<'LINES'
{"contents": "typo"}|wrong.jsonl:1: unknown key 'contents'
{"content": |wrong.jsonl:1: Expecting value
["text"]|wrong.jsonl:1: not an object
{"match": "("}|wrong.jsonl:1: .*unterminated
{"program": "none.py"}|none.py
|wrong.jsonl: no line
LINES
end_item

gone() { # PID: within 20 s
    local wait
    for wait in $(seq 400); do
        kill -0 "$1" 2>/dev/null || return 0
        sleep 0.05
    done
    return 1
}

item "it ends on SIGTERM, also while it stalls"
start_server - <<<'{"content": "late", "stall_s": 600}'
post '{"messages": []}' -m 0.2
pid=$SERVER_PID
stop_server
ok "gone" gone "$pid"
stop_server
end_item

echo '{"content": "text"}' >"$T/one.jsonl"

item "it ends with its parent"
bash -c 'python3 "$1" "$2" "$3" >/dev/null 2>&1 & echo $! >"$4"; until [ -s "$2" ]; do sleep 0.05; done' - \
    "$ROOT/tests/cli/chat_server.py" "$T/orphan.port" "$T/one.jsonl" "$T/orphan.pid"
ok "it had started" test -s "$T/orphan.port"
ok "gone" gone "$(cat "$T/orphan.pid")"
end_item

item "it ends when nothing asks any more"
CHAT_SERVER_IDLE_S=0.2 capture python3 "$ROOT/tests/cli/chat_server.py" "$T/idle.port" "$T/one.jsonl"
is "by itself" "$code" 0
ok "it had started" test -s "$T/idle.port"
end_item

finish
