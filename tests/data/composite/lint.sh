# lint: what is still to be mended. Writes down that it ran, if asked to.
[ -z "${TRIED-}" ] || echo lint >>"$TRIED.$APSIS_EXPERIMENT"
grep -n UNTIDY text.sh | sed 's/^/text.sh:/'
