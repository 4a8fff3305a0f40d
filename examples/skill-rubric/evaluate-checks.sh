#!/bin/sh
# evaluate-checks: the gate. SKILL.md has a valid front matter, is of a size that a model reads with attention, and holds no passage
# of the cases; cases and references are those of untouched.txt. To change a case yourself: cksum cases/*.txt gold/*.md >untouched.txt
set -eu
LC_ALL=C
export LC_ALL

MOST_BYTES=1500
PASSAGE=24 # bytes of a line that may not stand in SKILL.md

fail()
{
    echo "SKILL.md: $*" >&2
    exit 1
}

cd "$(dirname "$0")"
if [ ! -f SKILL.md ] || [ -L SKILL.md ]; then fail "is no file"; fi

awk '
    NR == 1 && $0 != "---" { why = "line 1: must be --- (the front matter)"; exit }
    NR == 1 { next }
    !closed && $0 == "---" { closed = 1; next }
    !closed {
        if (!match($0, /^(name|description): ./)) { why = "line " NR ": front matter takes name: and description: alone"; exit }
        key = substr($0, 1, index($0, ":") - 1)
        if (key in value) { why = "line " NR ": a second " key; exit }
        value[key] = substr($0, index($0, ":") + 2)
        next
    }
    /[^ \t]/ { body = 1 }
    END {
        if (!why && !closed) why = "the front matter does not end with ---"
        if (!why && value["name"] != "bug-report") why = "name: must be bug-report"
        if (!why && (value["description"] == "" || length(value["description"]) > 1024)) why = "description: must have 1 to 1024 bytes"
        if (!why && !body) why = "there are no instructions below the front matter"
        if (why) { print "SKILL.md: " why; exit 1 }
    }' SKILL.md >&2

size=$(wc -c <SKILL.md | tr -d ' ')
[ "$size" -le "$MOST_BYTES" ] || fail "$size bytes, of which at most $MOST_BYTES are allowed"

cat cases/*.txt gold/*.md | awk -v least="$PASSAGE" '
    FILENAME == "SKILL.md" { skill = skill $0 "\n"; next }
    { sub(/^[A-Z][a-z]+: |^[0-9]+\. /, "") }
    length($0) >= least && index(skill, $0) { print "SKILL.md: holds a line of a case or its reference: " $0; bad = 1 }
    END { exit bad }' SKILL.md - >&2

cksum cases/*.txt gold/*.md | cmp -s - untouched.txt || {
    echo "cases/, gold/: are not those of untouched.txt" >&2
    exit 1
}
echo "SKILL.md is valid"
