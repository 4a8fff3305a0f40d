#!/bin/sh
# measure: the size of page/style.css in bytes, if its rules are those of rules.css beside this file; only comments and
# meaningless blanks and semicolons may differ.
set -eu
LC_ALL=C
export LC_ALL

rules() { # FILE: its rules in a normal form
    tr '\n\t' '  ' <"$1" | sed -e 's|/\*[^*]*\*/| |g' -e 's/  */ /g' \
        -e 's/ *\([{}:;,]\) */\1/g' -e 's/;}/}/g' -e 's/^ //' -e 's/ $//'
}

if [ "$(rules page/style.css)" != "$(rules "$(dirname "$0")/rules.css")" ]; then
    echo "the rules of page/style.css differ from rules.css" >&2
    exit 1
fi
echo "{\"bytes\": $(wc -c <page/style.css | tr -d ' ')}"
