#!/bin/bash
# submit: a driving agent that cheats through apsis gets nothing: the project's own files decide, not those of the folder
# that is submitted, and what decides cannot be submitted.
. tests/cli/lib.sh

PROVIDER='' # nobody but who submits
EXTRA='budget: {iterations: 30}' new_project tiny
mkdir .hidden && echo 1 >.hidden/key
commit hidden
apsis baseline -q

# cheats WHAT: what the checkout of the next experiment, changed by the commands of stdin, comes to.
cheats() {
    local commands
    commands=$(cat)
    item "$1"
    apsis next --json
    id=$(json id) where=$(json directory)
    (cd "$where" && eval "$commands") >"$T/cheat" 2>&1
    apsis submit "$where" --json
    is "exit" "$code" 1
    is "outcome" "$(json line.outcome)" "${2:-reverted_scope_violation}"
    like "reason" "$(json line.rollback_reason)" "${3:-never writable}"
    is "the best" "$(git rev-parse apsis/tiny)" "$(git rev-parse HEAD)"
    end_item
}

cheats "the verification's commands" <<'END'
sed -i 's/sh evaluate.sh/echo METRIC score=1000/' manifest.yaml; echo 1 >value.txt
END
cheats "the metric's direction" <<'END'
sed -i 's/direction: higher/direction: lower/' manifest.yaml; echo -1 >value.txt
END
cheats "the metric's name" <<'END'
sed -i 's/name: score/name: other/' manifest.yaml; echo 1 >value.txt
END
cheats "the budget" <<'END'
sed -i 's/iterations: 30/iterations: 3000/' manifest.yaml; echo 1 >value.txt
END
cheats "the scope, to write the evaluator" '' "evaluate.sh was created; it is hidden|manifest.yaml was changed" <<'END'
sed -i 's/hidden/writable/' manifest.yaml; echo 'echo METRIC score=1000' >evaluate.sh
END
cheats "a hidden file that is made again" '' "evaluate.sh was changed; it is hidden" <<'END'
echo 'echo METRIC score=1000' >evaluate.sh
END
cheats "a file that nobody may write" '' "propose.lua was changed; it is read_only" <<'END'
echo 'return {}' >propose.lua
END
cheats "git's files" '' "may not touch .git" <<'END'
echo '* filter=x' >.gitattributes; echo 1 >value.txt
END
cheats "a link to the evaluator outside" '' "symlink out of the tree" <<'END'
ln -sf /etc/passwd value.txt
END
cheats "its own journal and state are no part of a submission" reverted_worse_metric "not better" <<'END'
mkdir -p logs .apsis/inbox runs; echo '{"experiment":0,"outcome":"baseline"}' >logs/results.jsonl
echo '{}' >.apsis/inbox/s0001.json; git update-ref refs/apsis/tiny/c0000 HEAD; echo -1 >value.txt
END

item "an apsis of its own, in the checkout, decides nothing about the project"
before=$(wc -l <logs/results.jsonl)
apsis next --json
where=$(json directory)
(cd "$where" && sed -i 's/sh evaluate.sh/echo METRIC score=1000/' manifest.yaml && git commit -qam x &&
    "$APSIS" baseline -q && echo 2 >value.txt && "$APSIS" submit) >"$T/cheat" 2>&1
like "it went to the project" "$(field 11 rollback_reason)" "manifest.yaml was changed"
is "lines" "$(wc -l <logs/results.jsonl)" $((before + 1))
end_item

item "the project's own manifest, edited in place: the run keeps its budget, and another metric is refused"
sed -i 's/iterations: 30/iterations: 3000/' manifest.yaml
echo -1 >value.txt
apsis submit
is "tried" "$code" 1
is "limit" "$(field 12 context | grep -o '"iterations":[0-9]*')" '"iterations":30'
sed -i 's/direction: higher/direction: lower/' manifest.yaml
apsis submit
is "direction" "$code" 2
like "remedy" "$err" "apsis baseline --again"
sed -i 's/direction: lower/direction: higher/; s/name: score/name: other/' manifest.yaml
apsis submit
is "name" "$code" 2
like "remedy" "$err" "apsis baseline --again"
git checkout -q manifest.yaml
sed -i 's/sh evaluate.sh/echo METRIC score=1000/' manifest.yaml
apsis submit
is "verification" "$code" 2
like "remedy" "$err" "apsis baseline --again"
git checkout -q manifest.yaml
apsis submit
is "the refused ones do not wait" "$(lines)" 14
is "nothing is better" "$(git rev-parse apsis/tiny)" "$(git rev-parse HEAD)"
end_item

item "a parent that is none, or was never measured"
echo 1 >value.txt
apsis submit --parent c0002
is "exit" "$code" 2
like "message" "$err" "--parent: c0002 has no commit \(reverted_scope_violation\)"
apsis submit --parent c0099
like "message" "$err" 'no candidate "c0099"'
apsis submit --parent ../x
is "exit" "$code" 2
end_item

item "a request that somebody writes into the inbox is judged as any other"
evil=$(GIT_INDEX_FILE=$T/index sh -c 'git read-tree HEAD && echo "echo METRIC score=1000" >'"$T/e"' &&
    git update-index --cacheinfo 100644,$(git hash-object -w '"$T/e"'),evaluate.sh && git write-tree')
echo '{"id":"s0900","kind":"submit","parent":"c0000","tree":"'"$evil"'"}' >.apsis/inbox/s0900.json
apsis wait s0900
is "exit" "$code" 1
like "reason" "$out" "evaluate.sh was changed; it is hidden"
echo '{"id":"s0901","kind":"submit","parent":"c0000","tree":"00"}' >.apsis/inbox/s0901.json
echo '{"id":"s0902","kind":"submit","parent":"c9999","tree":"'"$evil"'"}' >.apsis/inbox/s0902.json
echo '{"id":"s0903","kind":"answer","experiment":77,"tree":"'"$evil"'"}' >.apsis/inbox/s0903.json
echo '{"id":"s0904","kind":"evil"}' >.apsis/inbox/s0904.json
echo 'rubbish' >.apsis/inbox/s0905.json
apsis wait s0901
like "no such tree" "$out" "skipped_provider_failure"
apsis wait s0902
like "no such parent" "$out" "skipped_not_selected"
apsis wait s0903
is "not given out" "$code" 2
apsis wait s0904
is "of no kind" "$code" 3
apsis wait s0905
is "rubbish" "$code" 2
echo 3 >value.txt
apsis submit
is "an honest one" "$code" 0
end_item

item "links in place of apsis's folders are refused"
rm -rf .apsis/inbox && mkdir "$T/elsewhere" && ln -s "$T/elsewhere" .apsis/inbox
echo 4 >value.txt
apsis submit
is "exit" "$code" 3
like "message" "$err" "symbolic link"
is "nothing there" "$(ls "$T/elsewhere")" ""
end_item

finish
