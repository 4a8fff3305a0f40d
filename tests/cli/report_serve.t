#!/bin/bash
# report --serve: who may ask what, the events that browsers get, what is refused, and how it ends. What browsers show is in
# report_serve_browser.t.
. "$(dirname "$0")/lib.sh"

. "$(dirname "$0")/serve_page.sh"

new_project p
mkdir logs
"$APSIS" exec "$ROOT/tests/browser/feed.lua" logs/results.jsonl 0 10
serve

item "the page is for whoever has its address, on this machine"
like "the address" "$url" '^http://127\.0\.0\.1:[0-9]+/[0-9a-f]{32}/1/$'
like "and what it is" "$(cat "$T/served")" "to look at only.*Ctrl-C ends it"
like "the page" "$(ask "$url")" '^200 .*<!DOCTYPE html>'
is "no more than 300 kB" "$(($(stat -c %s "$T/answer") < 300000))" 1
like "it loads nothing, and asks its own server only" "$(cat "$T/answer")" "default-src 'none'.*connect-src 'self'"
host=${url#http://} && host=${host%%/*} && path=${url#http://"$host"} && token=${path:1:32}
like "a wrong token" "$(ask "http://$host/${token:0:31}x/1/")" '^403 the address lacks the right token'
like "a longer one" "$(ask "http://$host/${token}0/1/")" '^403 '
like "none" "$(ask "http://$host/")" '^403 '
like "a foreign host" "$(ask -H "Host: example.org:${host#*:}" "$url")" '^403 this server answers to 127.0.0.1'
like "another port's host" "$(ask -H "Host: 127.0.0.1:1" "$url")" '^403 '
like "localhost" "$(ask -H "Host: localhost:${host#*:}" "$url")" '^200 '
like "a page of another site" "$(ask -H "Origin: http://example.org" "$url")" '^403 pages of other sites'
unlike "it lets no other site read" "$(curl -si --max-time 20 "$url")" 'Access-Control'
like "no frame" "$(curl -si --max-time 20 "$url")" 'X-Frame-Options: DENY'
like "a page that is not there" "$(ask "${url}nothing")" '^404 '
like "another project" "$(ask "${url%1/}7/")" '^404 '
like "huge headers" "$(ask -H "X: $(head -c 60000 /dev/zero | tr '\0' x)" "$url")" '^431 '
end_item

item "without --control nothing can be done"
like "pause" "$(ask -X POST "${url}do/pause")" '^403 this page is to look at.*--control'
ok "is not done" test ! -e .apsis/pause
like "GET does nothing, either" "$(ask "${url}do/pause")" '^405 '
like "nor another method" "$(ask -X DELETE "$url")" '^405 '
end_item

item "events: the lines after a place, and then the facts; what cannot be told is taken whole"
stream() { curl -sN --max-time 0.5 "$@"; }
got=$(stream "${url}events/1-9")
is "the lines that are lacking" "$(grep -c '"number":' <<<"$got") $(grep -o '"number":[0-9]*' <<<"$got" | tr '\n' ' ')" '1 "number":9 "number":10 '
like "their place" "$got" 'id: 1-11'
like "the facts" "$got" 'event: facts.*"status":"stopped"'
unlike "after the last line none" "$(stream "${url}events/1-11")" 'event: lines|event: whole'
like "the browser's own place counts" "$(stream -H 'Last-Event-ID: 1-10' "${url}events/1-2")" '"from":10,'
for place in 1-99 2-3 0-0 -; do
    like "$place" "$(stream "${url}events/$place")" 'event: whole'
done
end_item

item "Ctrl-C ends it, with a browser that looks"
stream "${url}events/1-11" >/dev/null &
sleep 0.2
kill -INT $server
wait $server
is "exit" $? 0
is "nothing else is printed" "$(wc -l <"$T/served")" 1
wait
end_item

item "--open: the page is served while the browser starts, whether it can or not"
mkdir "$T/browser"
printf '#!/bin/sh\nwhile [ ! -e "%s/seen" ]; do sleep 0.05; done\nexit 3\n' "$T" >"$T/browser/xdg-open"
chmod +x "$T/browser/xdg-open"
PATH=$T/browser:$PATH serve --open
like "before it has started" "$(ask "$url")" '^200 '
touch "$T/seen"
for _ in $(seq 600); do grep -q xdg-open "$T/served" && break; nap 0.05; done
like "that it cannot is printed" "$(cat "$T/served")" 'cannot show http://.*xdg-open failed'
like "and the page is still served" "$(ask "$url")" '^200 '
kill -INT $server
wait $server
is "exit" $? 0
end_item

item "--json prints the address for programs; a port may be chosen"
serve --json --port 0
like "as JSON" "$url" '^\{"control":false,"url":"http://127.0.0.1:[0-9]+/[0-9a-f]+/1/"\}$'
port=${url#*127.0.0.1:} && port=${port%%/*}
apsis report --serve --port "$port"
is "one that is taken" "$code" 3
like "is named" "$err" "port $port of 127.0.0.1: Address already in use"
kill -INT $server
wait $server
for wrong in "--control" "--port 8000" "--serve --port 65536" "--serve --out x" "--serve --svg" "--serve --port x"; do
    # shellcheck disable=SC2086
    apsis report $wrong
    is "$wrong" "$code" 2
done
apsis report --serve "$T/home"
is "no project" "$code" 2
end_item

EXTRA="approval: ask" new_project asked
echo 'return function(proposal) return { ["value.txt"] = (100 + proposal.experiment) .. "\n" } end' >propose.lua
echo 100 >value.txt
commit scores
item "what waits for approval is shown, and can be answered"
apsis baseline --repeats 1
apsis run --iterations 2
serve --control
waiting() { stream "${url}events/1-1" | grep -o '"waiting":[^]]*]' | grep -oE '"(id":"c[0-9]+"|value":[0-9]+)' | tr '\n' ' '; }
is "two wait" "$(waiting)" '"id":"c0001" "value":101 "id":"c0002" "value":102 '
like "one that does not" "$(ask -X POST -d '{"id":"c0009"}' "${url}do/approve")" '^409 c0009 does not wait'
like "without an id" "$(ask -X POST -d '{}' "${url}do/approve")" '^400 '
like "rejected" "$(ask -X POST -d '{"id":"c0001","reject":true,"reason":"no <b>"}' "${url}do/approve")" '^200 c0001 is rejected'
like "approved" "$(ask -X POST -d '{"id":"c0002"}' "${url}do/approve")" '^200 c0002 is approved'
is "the answers" "$(cat .apsis/held/c0001.answer .apsis/held/c0002.answer)" $'reject no <b>\nkeep '
is "answered, they are not asked about" "$(waiting)" ""
kill -INT $server
wait $server
end_item

# rows [WHAT]: of the index, as JSON, or what Python finds in them.
rows() { stream "${url%1/}events" | sed -n 's/^data: //p' | python3 -c "import json, sys; d = json.loads(sys.stdin.readline()); print(${1:-d})"; }

item "the index has all projects and standing goals of the repository, with the figures of their own pages"
mkdir "$T/many" && cd "$T/many" && git init -q . || exit 1
for name in one two; do
    new_project "many/$name"
    rm -rf .git
    sed -i "s/name: tiny/name: $name/" manifest.yaml
done
mkdir -p "$T/many/wrong" "$T/many/.autoloop/programs" && cd "$T/many" || exit 1
echo 'project: {name' >wrong/manifest.yaml
cp -r one/. .
sed -e 's/^project:.*/program: goal/' one/manifest.yaml >manifest.yaml
git add -A && git commit -qm many
for name in one two; do apsis baseline "$name"; done
apsis run two --iterations 3 -q
cd one || exit 1
serve
is "the address is the project's" "$(basename "$url")" 1
is "each is a row" "$(rows '[(r["file"], r["number"], r.get("goal")) for r in d["rows"]]')" \
    "[('manifest.yaml', 2, True), ('one/manifest.yaml', 1, False), ('two/manifest.yaml', 3, False), ('wrong/manifest.yaml', 4, None)]"
like "what is wrong with one" "$(rows 'd["rows"][3]["problem"]')" "wrong/manifest.yaml:1"
"$APSIS" status --json ../two >"$T/status.json"
is "the figures are those of status" "$(rows '(lambda r, s: [r["best"]["id"] == s["best"]["candidate"], r["best"]["value"] == s["best"]["value"], r["baseline"] == s["baseline"]["candidate"], r["gained"] == s["best"]["value"] - s["baseline"]["value"], r["experiments"] == s["experiments"] == 3, r["kept"] == s["outcomes"].get("kept"), r["status"] == s["status"]])(d["rows"][2], json.load(open("'"$T"'/status.json")))')" "[True, True, True, True, True, True, True]"
like "the page" "$(ask "${url%1/}")" '^200 .*<!DOCTYPE html>.*"file":"two/manifest.yaml"'
like "another project's page" "$(ask "${url%1/}3/")" '^200 .*"project":"two"'
like "one that cannot be opened" "$(ask "${url%1/}4/")" '^404 '
like "nothing can be done to it" "$(ask -X POST "${url%1/}")" '^405 '
like "it needs the token" "$(ask "$(dirname "$(dirname "$url")")/x/")" '^403 '
like "runs side by side" "$(ask "${url%1/}beside/strategies/1,3")" '^200 .*Runs side by side'
is "by strategy" "$(grep -o '"strategies":\["[^]]*' "$T/answer")" '"strategies":["baseline only","hillclimb"'
ask "${url%1/}beside/runs/1,3" >/dev/null
is "each by itself" "$(grep -o '"strategies":\["[^]]*' "$T/answer")" '"strategies":["one","two"'
like "of a project that is not there" "$(ask "${url%1/}beside/runs/1,9")" '^404 there is no project 9'
like "of one that is not measured" "$(ask "${url%1/}beside/runs/2")" '^503 no experiments yet'
like "in no way that there is" "$(ask "${url%1/}beside/all/1")" '^404 '
apsis run --iterations 2 -q
is "it moves" "$(rows 'd["rows"][1]["experiments"]')" 2
mkdir ../three && cp ../one/manifest.yaml ../three
is "one that is new comes with the next look at the page" "$(ask "${url%1/}" | grep -c '"file":"three/manifest.yaml"')" 1
kill -INT $server
wait $server
rm -r ../three ../manifest.yaml
cd ../wrong && rm manifest.yaml || exit 1
serve
like "where no project is, the index is served" "$url" '/[0-9a-f]{32}/$'
is "with the others" "$(ask "$url" | grep -o '"file":"[a-z]*' | tr '\n' ' ')" '"file":"one "file":"two '
kill -INT $server
wait $server
end_item

finish
