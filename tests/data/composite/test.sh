# test CASE: passes where the function answers as the case says. Writes down what was tried, if asked to.
[ -z "${TRIED-}" ] || echo "$1" >>"$TRIED.$APSIS_EXPERIMENT"
IFS='|' read -r name text expected <"$1"
. ./text.sh
[ "$("$name" "$text")" = "$expected" ]
