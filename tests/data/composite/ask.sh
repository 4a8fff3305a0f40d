# ask WORD: its number, of the table. Writes down what was asked, if asked to.
[ -z "${TRIED-}" ] || echo "$1" >>"$TRIED.$APSIS_EXPERIMENT"
sed -n "s/^$1=//p" table.txt
