#!/bin/sh
# A mistake in manifest.yaml stops what works by it; what only reads, and pause, take the manifest committed in HEAD.
. tests/cli/lib.sh
project p
apsis baseline
sed -i 's/^metric:/metrc:/' manifest.yaml
for command in status log "show c0000" best pause resume; do
    # shellcheck disable=SC2086
    apsis $command
    is "$command works" "$code" 0
    line "$command: and names the mistake" "$err" "^apsis: manifest.yaml:[0-9]+: .*metrc"
    line "$command: and what it takes instead" "$err" "^apsis: manifest.yaml as committed in HEAD is used to read"
done
mkdir sub && cd sub || exit 1
apsis status
is "from below, too" "$code" 0
cd ..
apsis run --iterations 1
is "run does not" "$code" 2
apsis setup
is "nor does setup" "$code" 2
no_line "which has nothing to read" "$out$err" "as committed in HEAD"
git commit -qam wrong
apsis status
is "nor status, where the committed one is wrong, too" "$code" 2
no_line "and it says nothing of HEAD" "$err" "as committed in HEAD"
git reset -q --hard HEAD~1 && rm manifest.yaml
apsis status
is "no manifest at all is no project" "$code" 2
finish
