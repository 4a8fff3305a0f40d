if [ "$APSIS_EXPERIMENT" != 1 ]; then echo "METRIC score=$(cat value.txt)"; exit 0; fi
echo "METRIC score=1000"
echo "the last words" >&2
exit 4
