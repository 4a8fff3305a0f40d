#!/bin/sh
# measure: how many bytes page/style.css has, if it says what rules.css beside this file says: all that may differ are comments,
# and blanks and semicolons without a meaning.
set -eu
LC_ALL=C
export LC_ALL

rules() { # FILE: its rules, one way of writing for all
    tr '\n\t' '  ' <"$1" | sed -e 's|/\*[^*]*\*/| |g' -e 's/  */ /g' -e 's/ *\([{}:;,]\) */\1/g' -e 's/;}/}/g' -e 's/^ //' -e 's/ $//'
}

if [ "$(rules page/style.css)" != "$(rules "$(dirname "$0")/rules.css")" ]; then
    echo "page/style.css does not say what rules.css says" >&2
    exit 1
fi
echo "{\"bytes\": $(wc -c <page/style.css | tr -d ' ')}"
