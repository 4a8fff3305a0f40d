#!/bin/bash
# card: a run as a picture to share and as a moving picture: what they say, that words in them are words only, and what a PNG needs.
. tests/cli/lib.sh || exit 1

new_project plain
echo 200 >value.txt
printf '%s\n' 'return function(proposal) return { ["value.txt"] = (200 - 20 * proposal.experiment) .. "\n" } end' >propose.lua
commit plain
DIRECTION=lower write_manifest
sed -i 's/^project:.*/project: {name: tiny}/; s/name: score/name: time_ms/' manifest.yaml
sed -i 's/score/time_ms/' evaluate.sh
commit time
apsis baseline --repeats 1 -q

item "before and after: what was gained, from what to what, in how many experiments, and how sure it is"
apsis report --card "$T/empty.svg"
is "exit code" "$code:$out" "0:$T/empty.svg"
apsis run --iterations 5 -q
apsis report --card "$T/card.svg" --animated "$T/moving.svg"
is "exit code" "$code" 0
is "both" "$out" "$T/card.svg
$T/moving.svg"
like "size" "$(cat "$T/card.svg")" 'viewBox="0 0 1200 675" width="1200" height="675"'
like "gain" "$(cat "$T/card.svg")" 'class="gain"[^>]*>2x faster<'
like "from and to" "$(cat "$T/card.svg")" '>200 → 100 time_ms \(lower is better\)<'
like "experiments" "$(cat "$T/card.svg")" '>5 experiments, 5 kept, measured once<'
unlike "plain colours" "$(cat "$T/card.svg")" 'var\('
like "it moves by CSS" "$(cat "$T/moving.svg")" '@keyframes sweep'
like "unless somebody wants it still" "$(cat "$T/moving.svg")" 'prefers-reduced-motion: reduce'
apsis report --card "$T/again.svg"
ok "the same bytes" cmp "$T/card.svg" "$T/again.svg"
end_item

item "no words become markup, and long ones do not leave the picture"
sed -i "s|^project:.*|project: {name: tiny, description: x}|" manifest.yaml
name='<script>alert(1)</script>&amp;"'$(printf '%0.sW' {1..200})
apsis report --json
printf '%s' "$out" >"$T/data.json"
cat >"$T/hostile.lua" <<END
local json, fs = require "apsis.json", require "apsis.fs"
local data = json.decode(fs.read "$T/data.json", true)
data.project, data.metric, data.words, data.doubt = arg[1], arg[1], arg[1], arg[1] .. "\27[31m\u{202e}"
fs.write("$T/hostile-card.svg", require("apsis.report.card").svg(data))
fs.write("$T/hostile-moving.svg", require "apsis.report.curve"(data, true))
END
"$APSIS" exec "$T/hostile.lua" "$name"
for file in "$T"/hostile-*.svg; do
    no_line "script" "$(cat "$file")" '<script|onload|href|<foreignObject'
    no_line "control characters" "$(cat "$file")" $'\e'
    unlike "bidi" "$(cat "$file")" $'\u202e'
    command -v python3 >/dev/null && ok "well-formed" python3 -c "import sys, xml.dom.minidom as x; x.parse(sys.argv[1])" "$file"
done
like "cut" "$(cat "$T/hostile-card.svg")" 'class="name"[^>]*>&lt;script&gt;[^<]*…<'
end_item

item "a PNG needs a program that draws it; a wrong name or other options are refused"
mkdir "$T/none" "$T/some"
for tool in sh env git; do ln -s "$(command -v $tool)" "$T/none/$tool"; done
capture env PATH="$T/none" "$APSIS" report --card "$T/card.png"
is "exit code" "$code" 3
like "message" "$err" "a PNG needs rsvg-convert \(Debian: librsvg2-bin\) or chromium in PATH"
ok "nothing is written" test ! -e "$T/card.png"
printf '%s\n' '#!/bin/sh' 'while [ "$1" != -o ]; do shift; done' 'echo PNG >"$2"; grep -c "2x faster" "$3" >>"$2"' >"$T/some/rsvg-convert"
chmod +x "$T/some/rsvg-convert"
capture env PATH="$T/some:$PATH" "$APSIS" report --card "$T/card.png"
is "drawn" "$code:$(tr '\n' ' ' <"$T/card.png")" "0:PNG 1 "
apsis report --card card.gif
like "name" "$code:$err" "^2:.*--card: card.gif does not end in .svg or .png"
apsis report --animated moving.png
like "name" "$code:$err" "^2:.*--animated: moving.png does not end in .svg"
apsis report --svg run.svg
like "no file" "$code:$err" "^2:.*--svg takes no file: name it with --out run.svg"
apsis report --card a.svg --json
is "together" "$code" 2
apsis report --card "$T/no/such/card.svg"
like "a folder that is not there" "$code:$err" "^3:.*cannot write"
end_item

finish
