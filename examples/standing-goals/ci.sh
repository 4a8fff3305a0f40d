#!/bin/sh
# ci: the project's own CI, and the gate of every program: no tabs and no carriage returns in what is written here.
set -eu
cd "$(dirname "$0")"
status=0
for file in lib/*.lua page/*.css speed/*.lua; do
    if grep -q "$(printf '[\t\r]')" "$file"; then
        echo "$file: error: a tab or a carriage return" >&2
        status=1
    fi
done
exit $status
