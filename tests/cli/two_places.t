#!/bin/bash
# two_places: two projects at one path, as containers with a shared cache have them.
. tests/cli/lib.sh || exit 1
item "two projects at one path, in two containers, with one cache: neither works in the other's workspaces"
if ! unshare -Urm true 2>/dev/null; then echo "# no user namespaces here"; end_item; finish; fi
mkdir "$T/place"
MEASURE='[bash, evaluate.sh]'
for name in one two; do
    new_project "$name"
    [ "$name" = one ] || sed -i 's/proposal.experiment/100 + &/' propose.lua
    echo 'first=$(cat value.txt); sleep 0.2; echo "METRIC score=$(($(cat value.txt) + first))"' >evaluate.sh
    commit "$name"
    unshare -Urm sh -c "mount --bind '$T/$name' '$T/place' && cd '$T/place' && '$APSIS' baseline -q" || echo "# no baseline"
done
for name in one two; do
    unshare -Urm sh -c "mount --bind '$T/$name' '$T/place' && cd '$T/place' && '$APSIS' run -q --iterations 6" >"$T/$name.out" 2>&1 &
done
wait
for name in one two; do
    cd "$T/$name"
    values=$(for number in 1 2 3 4 5 6; do field $number primary_metric; done | tr '\n' ' ')
    [ "$name" = one ] && is "values of one" "$values" "2 4 6 8 10 12 " || is "values of two" "$values" "202 204 206 208 210 212 "
done
end_item
finish
