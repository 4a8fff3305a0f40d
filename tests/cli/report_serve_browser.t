#!/bin/bash
# report --serve in two browsers and behind a proxy that drops connections: the page moves while its journal grows, each
# line once; its actions; what models said is text. What runs in the browser is not ours to sanitize: under
# APSIS_SANITIZED nothing is looked at.
. "$(dirname "$0")/lib.sh"
[ -z "${APSIS_SANITIZED:-}" ] || { ok "left out" true; finish; }
. "$(dirname "$0")/serve_page.sh"

new_project p
mkdir logs
"$APSIS" exec "$ROOT/tests/browser/feed.lua" logs/results.jsonl 0 10
serve --control
LIMIT=120 capture python3 "$ROOT/tests/browser/serve.py" "$APSIS" "$url" "$ROOT/tests/browser/feed.lua"
found() { grep "^$1"$'\t' <<<"$out" | cut -f 2-; }

item "two browsers show what a journal gets, each line once"
is "the script ended" "$code$err" 0
is "at first" "$(found begun)" "11 11"
is "then" "$(found 'both move')" "['41 41', '41 41']"
is "elements and focus stay" "$(found 'the same elements, the same focus')" "yes scroll"
is "the best" "$(found best)" 40
like "in words" "$(found 'in words')" "over 41 lines of the journal.*the best is 40 \(c0040\).*28 kept"
is "after a reload" "$(found reloaded)" "61 61"
end_item

item "nothing is lost or doubled when a proxy drops the connections"
is "all lines, once" "$(found 'a proxy that drops')" "[True, '61 61']"
end_item

item "--control: pause, resume and direct"
is "paused" "$(found paused)" "[True, 'resume']"
is "others see it" "$(found 'the other is shown it')" True
is "resumed" "$(found resumed)" True
is "a note" "$(found directed)" "look <b>here</b>"
like "a note that is none" "$(ask -X POST -d '{"message":7}' "${url}do/direct")" '^400 '
like "an empty one" "$(ask -X POST -d '{"message":" "}' "${url}do/direct")" '^409 --message: is empty'
head -c 3000000 /dev/zero | tr '\0' x >"$T/large"
like "a large one" "$(ask -X POST --data-binary "@$T/large" "${url}do/direct")" '^413 an action.s text has at most 64 KiB'
like "no JSON" "$(ask -X POST -d '{' "${url}do/direct")" '^400 '
like "another command" "$(ask -X POST "${url}do/reset")" '^400 '
like "from a page of another site" "$(ask -X POST -H 'Origin: null' "${url}do/pause")" '^403 '
ok "is not done" test ! -e .apsis/pause
end_item

item "each candidate that waits for approval has its buttons"
like "the second is rejected, the first still asked about" "$(found asked)" "^\\['c0070 = .* waits for approval.*approvereject', 'reject'\\]"
end_item

item "the index of all projects"
is "a row" "$(found index)" "6040 kept"
is "it moves, and the focus stays" "$(found 'the index moves')" "[True, 'page1', []]"
is "it leads to the project's page" "$(found 'and leads to the page')" "64 64"
end_item

item "words of models and journals are text"
is "no harm" "$(found harm)" "['none', 'none', 'none', 'none']"
is "no complaint" "$(found complaints)" "[[], []]"
is "no other host is asked" "$(found 'asked of others')" "[]"
end_item

item "a journal that is removed, and one that comes back"
is "a message, and an empty page" "$(found removed)" "['the journal was removed: nothing is measured', True]"
is "and back" "$(found back)" "64 64"
kill -INT $server
wait $server
is "exit" $? 0
end_item

finish
