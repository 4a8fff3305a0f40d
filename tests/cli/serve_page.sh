# serve_page.sh: what the tests of `apsis report --serve` share. Sourced after lib.sh.

# serve ARGS: serves the project here; its address is in $url, its process in $server.
serve() {
    : >"$T/url"
    "$APSIS" report --serve "$@" >"$T/url" 2>"$T/served" &
    server=$!
    at_end+=("kill -INT $server 2>/dev/null; wait $server 2>/dev/null")
    for _ in $(seq 600); do [ -s "$T/url" ] && break; nap 0.05; done
    url=$(cat "$T/url")
}

# ask ARGS: the status and, after it, what the server answers.
ask() { curl -s --max-time 20 -w '%{http_code} ' -o "$T/answer" "$@"; cat "$T/answer"; }
