#!/bin/bash
# hostile: what a candidate, a provider or a journal says is text in every face: escape sequences, C1 controls, marks of
# direction, line ends, HTML, SVG, scripts. tests/attacks/text.t has the same said by programs during a run.
. tests/cli/lib.sh || exit 1

export TERM=xterm-256color
unset NO_COLOR CI TMUX
new_project p
name=$(printf 'any/\033]0;PWNED\007\302\23331m\342\200\256R<img src=x onerror=window.harm=4>\nFORGED: 1')
RULES="  - {path: 'any/**', mode: writable}" write_manifest
sed -i "s|name: tiny|name: tiny, description: \"</title><script>window.harm=5</script>\\\\e]0;PWNED\\\\a\\\\u202eR\"|; s|direction: higher|direction: higher, unit: \"<i>\\\\u202eu</i>\"|" manifest.yaml
agent <<END
mkdir -p any
printf '%s\n' "\$APSIS_EXPERIMENT" >value.txt
printf 'x\033]0;PWNED\007\302\23331m\342\200\256R\n' >"\$(printf '$(printf %s "$name" | sed 's/\x1b/\\033/g; s/\x07/\\007/g' | sed ':a;N;$!ba;s/\n/\\n/g')')"
END
RULES="  - {path: 'any/**', mode: writable}" write_manifest
sed -i "s|name: tiny|name: tiny, description: \"</title><script>window.harm=5</script>\\\\e]0;PWNED\\\\a\\\\u202eR\"|; s|direction: higher|direction: higher, unit: \"<i>\\\\u202eu</i>\"|" manifest.yaml
commit hostile
"$APSIS" baseline -q --repeats 1 >/dev/null 2>&1
"$APSIS" run -q --iterations 3 >"$T/run.txt" 2>&1
ok "the run has candidates" test "$("$APSIS" log --json 2>/dev/null | grep -c '"outcome":"kept"')" = 3
ok "with the file" git cat-file -e "refs/apsis/tiny/c0001:$name"

# harmless WHAT FILE: what a terminal was sent controls nothing but colours and, with a second argument, what matches it
# (extended, of sequences without their escape).
cat >"$T/harmless.py" <<'PY'
import re, sys
data = open(sys.argv[1], "rb").read().decode("utf-8", "surrogateescape")
data = re.sub(r"\x1b(\[[0-9;]*m" + (("|" + sys.argv[2]) if sys.argv[2:] else "") + ")", "", data)
for found in re.finditer(r"[\x00-\x07\x0e-\x1f\x7f-\x9f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\udc80-\udcff]", data):
    print(repr(data[max(0, found.start() - 40):found.start() + 20]))
for line in re.split(r"\r\n|\n|\r", data):
    if line.startswith("FORGED"):
        print("a line of its own:", repr(line[:60]))
PY
harmless() { is "$1" "$(python3 "$T/harmless.py" "${@:2}" | head -3)" ""; }

# shown COMMAND: on a terminal, in $T/shown.
shown() { timeout 60 script -qefc "stty cols ${COLUMNS_:-200} rows 40; $*" /dev/null </dev/null >"$T/shown" 2>&1; }

item "the run itself: the live line and the end"
printf 'return { plan = function(run) return { parents = { run.best }, operator = %s } end }\n' '"op\27]0;PWNED\7\u{9b}31m\u{202e}R"' >mine.lua
shown "'$APSIS' run --iterations 1 --strategy mine.lua"
like "it ran" "$(tr -d '\0' <"$T/shown")" "1 experiment: 1 kept"
harmless "nothing controls the terminal" "$T/shown" '\[J|\[[0-9]+A'
end_item

apsis exec "$ROOT/tests/cli/hostile.lua"
is "the journal has it" "$code$err" 0

for command in status log "log --graph" "log --reverse -n 2" "show c0001" "show c0004" "show baseline" "show best" best "diff c0001" "replay" \
    "explain --dry-run" "watch --plain" "log --format autoresearch" "log --format pi-autoresearch" "log --json" "show c0001 --json" \
    "best --json" "status --json" "report --json" "report --beside . --json" "metrics" "doctor" "replay --strategy hillclimb"; do
    item "on a terminal: $command"
    shown "'$APSIS' $command"
    ok "something is shown" test -s "$T/shown"
    harmless "and controls nothing" "$T/shown"
    end_item
done

for command in "log --json" "log --format json" "status --json" "best --json" "report --json" "report --beside . --json"; do
    apsis $command
    is "$command is JSON, and a line each" "$(printf '%s\n' "$out" | python3 -c 'import json, sys
for line in sys.stdin: json.loads(line)' 2>&1)$(printf '%s\n' "$out" | grep -c '^FORGED')" 0
done

item "debug: what a strategy is given and returns"
printf '%s\n' s s 'p run.best' 'p run.best.notes' n n m q >"$T/keys"
shown "'$APSIS' debug <'$T/keys'"
like "it shows" "$(tr -d '\0' <"$T/shown")" "PWNED"
harmless "it controls nothing" "$T/shown"
end_item

item "watch: each screen"
TMUX_TMPDIR=$T LC_ALL=C.UTF-8 tmux -L hostile -f /dev/null new-session -d -x 120 -y 40 "script -qfc \"'$APSIS' watch\" $T/typescript"
at_end+=("TMUX_TMPDIR=$T tmux -L hostile kill-server 2>/dev/null")
keys() { TMUX_TMPDIR=$T tmux -L hostile send-keys "$@" 2>/dev/null; }
screen_has() { TMUX_TMPDIR=$T tmux -L hostile capture-pane -p 2>/dev/null | grep -q -e "$1"; }
wait_for "now" screen_has '^\[1 now\]'
keys 2 && wait_for "journal" screen_has '^> .*c0004'
keys Enter && wait_for "facts" screen_has '\[facts\]'
for tab in diff log prompt answer; do keys Tab && wait_for "$tab" screen_has "\[$tab\]"; done
keys q 3 && wait_for "path" screen_has 'where it starts'
keys 4 && wait_for "search" screen_has 'kept of proposed'
keys q
unlike "nothing of it got through" "$(tr -d '\0' <"$T/typescript" | LC_ALL=C grep -aoE "$(printf '\033')\]|$(printf '\302[\200-\237]|\342\200[\252-\256]|\342\201[\246-\251]')|$(printf '\033')\[31mRED" | head -3)" .
end_item

item "report --svg is a picture and nothing else"
apsis report --svg --out "$T/run.svg"
is "it is XML without scripts or handlers" "$(python3 - "$T/run.svg" <<'PY'
import sys, xml.etree.ElementTree as tree
for node in tree.parse(sys.argv[1]).iter():
    name = node.tag.split("}")[1]
    if name not in ("svg", "title", "style", "rect", "path", "text", "circle") or any(key.startswith("on") or "href" in key for key in node.attrib):
        print(name, node.attrib)
PY
)" ""
end_item

apsis report --out "$T/hostile.html"
is "the report is written" "$code" 0
if [ -z "${APSIS_SANITIZED:-}" ]; then
    item "report in a browser: no script ran, no element was made, all of it is text"
    cd "$T" && LIMIT=120 capture python3 "$ROOT/tests/browser/browse.py" --views desktop hostile.html
    seen() { printf '%s\n' "$out" | python3 -c "import json, sys; d = json.loads(sys.stdin.readline()); print($1)"; }
    is "drawn, without errors or requests" "$(seen 'd["drawn"], d["errors"], d["requests"], d["harm"]')" "True [] [] none"
    is "no element of it" "$(seen 'sorted({"img", "iframe", "i", "script"} & set(d["elements"])), d["images"]')" "['script'] 0"
    for text in "description </script><script>window.harm=1" "operator </script>" "island </script>" "model </script>" \
        "strategy </script>" "near </script>" "left </script>"; do
        is "text: $text" "$(seen "'''$text''' in d['text']")" True
    done
    is "no control, no mark of direction" "$(seen '__import__("re").findall("[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]", d["text"])')" "[]"
    end_item

    item "runs side by side in a browser"
    apsis report --beside "$T/p" --out "$T/beside.html"
    LIMIT=120 capture python3 "$ROOT/tests/browser/browse.py" --views desktop "$T/beside.html"
    is "drawn, without errors or requests" "$(seen 'd["drawn"], d["errors"], d["requests"], d["harm"]')" "True [] [] none"
    is "no element of it" "$(seen 'sorted({"img", "iframe", "i", "script"} & set(d["elements"])), d["images"]')" "['script'] 0"
    for text in "reason </script><script>window.harm=1" "strategy </script>" "operator </script>"; do
        is "text: $text" "$(seen "'''$text''' in d['text']")" True
    done
    is "no control, no mark of direction" "$(seen '__import__("re").findall("[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]", d["text"])')" "[]"
    end_item

    item "the index of projects in a browser"
    cd "$T/p" && . "$ROOT/tests/cli/serve_page.sh" && serve
    LIMIT=120 capture python3 "$ROOT/tests/browser/browse.py" --views desktop "${url%1/}"
    kill -INT "$server"
    is "drawn, without errors" "$(seen 'd["drawn"], d["errors"], d["harm"]')" "True [] none"
    is "no element of it" "$(seen 'sorted({"img", "iframe", "i", "script"} & set(d["elements"])), d["images"]')" "['script'] 0"
    is "it is text" "$(seen "'reason </script><script>window.harm=1' in d['text']")" True
    is "no control, no mark of direction" "$(seen '__import__("re").findall("[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]", d["text"])')" "[]"
    end_item
fi

item "a line that was changed by hand, and the name of a folder"
cp -r "$T/p" "$T/$(printf 'q \033]0;PWNED\007\302\23331m\342\200\256R')" && cd "$T/q "* || exit 1
sed -i '$s/"timestamp":"/&\\u001b]0;PWNED\\u0007\\u009b31m\\u202eR/' logs/results.jsonl
for command in "show c0003" "show c0001" "status -C ." "report" "log"; do
    shown "'$APSIS' $command"
    harmless "$command" "$T/shown"
done
cd .. && shown "'$APSIS' status -C q*"
harmless "the command that takes the best" "$T/shown"
end_item

finish
