# server: the scripted chat server in a shell test. Sourced after lib.sh; what it starts ends with the test.
#
#   start_server SCRIPT.jsonl   (or - : the script from stdin)  starts one: $URL (ends in /v1), $SERVER_PID, $SERVER_LOG
#   stop_server                 ends it, which may be done twice
#   requests                    how many chat requests it has had
#   request N PATH              a field of the Nth chat request (-1: the newest): `request 1 body.messages.-1.content`,
#                               `request 1 headers.authorization`, `request 2 line`; JSON where it is not text
#
# What a script may say is at the top of chat_server.py.

export NO_PROXY=127.0.0.1,localhost no_proxy=127.0.0.1,localhost # a proxy of the machine is not for these
servers=0
at_end+=(stop_server)

start_server() {
    servers=$((servers + 1))
    local script=$1 port_file=$T/server-$servers.port wait
    if [ "$script" = - ]; then
        script=$T/server-$servers.jsonl
        cat >"$script"
    fi
    stop_server
    SERVER_LOG=$T/server-$servers.log
    : >"$SERVER_LOG"
    python3 "$ROOT/tests/cli/chat_server.py" "$port_file" "$script" "$SERVER_LOG" >"$T/server-$servers.said" 2>&1 </dev/null &
    SERVER_PID=$!
    for wait in $(seq 300); do # the interpreter's start, on a busy machine
        [ -s "$port_file" ] && break
        kill -0 "$SERVER_PID" 2>/dev/null || break
        sleep 0.05
    done
    if [ ! -s "$port_file" ]; then
        echo "Bail out! the chat server did not start: $(cat "$T/server-$servers.said")"
        exit 1
    fi
    URL=http://127.0.0.1:$(cat "$port_file")/v1
}

stop_server() {
    if [ -n "${SERVER_PID-}" ]; then
        kill "$SERVER_PID" 2>/dev/null
        wait "$SERVER_PID" 2>/dev/null
        SERVER_PID=
    fi
}

requests() { grep -c '^{"number": [0-9]' "$SERVER_LOG"; }

request() {
    python3 -IS - "$SERVER_LOG" "$1" "$2" <<'PYTHON'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
lines, number = [line for line in lines if line["number"]], int(sys.argv[2])
try:
    value = lines[number - 1 if number > 0 else number]
    for step in sys.argv[3].split("."):
        value = value[int(step)] if isinstance(value, list) else value[step]
except (IndexError, KeyError, TypeError):
    value = None
print(value if isinstance(value, str) else json.dumps(value))
PYTHON
}
