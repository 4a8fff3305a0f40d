#!/bin/bash
# blocks: EVOLVE-BLOCK regions hold for every provider: what is outside of them stays as the parent has it, or the candidate is no
# candidate. What is inside may change.
. tests/cli/lib.sh || exit 1

# A project whose value.txt has a region: its third line.
region_project() {
    new_project "$1"
    printf '%s\n' '# head' '# EVOLVE-BLOCK-START' 0 '# EVOLVE-BLOCK-END' '# tail' >value.txt
    echo 'echo "METRIC score=$(grep -v "^#" value.txt | tail -n 1)"' >evaluate.sh
    eval "${PREPARE-}"
    git add -A && git commit -qm regions
}

RULES='  - {path: "*.txt", mode: writable}'

# tried NAME OUTCOME REASON: experiment 1 of the provider given has OUTCOME; a violation leaves no commit.
tried() {
    item "$1"
    region_project "p$count"
    apsis baseline
    is "baseline" "$code" 0
    apsis run --iterations 1
    is "run's exit code" "$code" 0
    is "outcome" "$(field 1 outcome)" "$2"
    like "reason" "$(field 1 rollback_reason)" "$3"
    if [ "$2" = reverted_scope_violation ]; then
        is "status" "$(field 1 status)" discard
        ok "no commit" test -z "$(git for-each-ref refs/apsis/tiny/c0001)"
        is "the branch" "$(git show apsis/tiny:value.txt)" "$(cat value.txt)"
    fi
    is "the user's tree" "$(git status --porcelain)" ""
    end_item
}

command_provider() { # NAME OUTCOME REASON <SCRIPT
    agent
    tried "command provider $1" "$2" "$3"
}

lua_provider() { # NAME OUTCOME REASON: the edits as $LUA
    PROVIDER='provider: {kind: lua, use: propose.lua}'
    PREPARE='printf "%s\n" "$LUA" >propose.lua' tried "lua provider $1" "$2" "$3"
}

command_provider "changes a line in the region" kept null <<'END'
sed -i 's/^0/7/' value.txt
END
command_provider "adds lines in the region, with CRLF" kept null <<'END'
sed -i 's/^0/1\r\n2/' value.txt
END
command_provider "converts the file to CRLF" reverted_scope_violation 'value\.txt: line 1: only its line end differs \(CRLF instead of LF' <<'END'
sed -i 's/^0/7/; s/$/\r/' value.txt
END
command_provider "drops the last newline" reverted_scope_violation 'value\.txt: line 5: only its line end differs \(none instead of LF' <<'END'
sed -i 's/^0/7/' value.txt; truncate -s -1 value.txt
END
command_provider "puts blanks after a marker" reverted_scope_violation 'value\.txt: line 4: only the blanks at its end differ' <<'END'
sed -i 's/^0/7/; s/END$/END  /' value.txt
END
command_provider "puts a blank line at the end" reverted_scope_violation 'value\.txt: a blank line was added at line 6' <<'END'
sed -i 's/^0/7/' value.txt; echo >>value.txt
END
command_provider "makes the file executable" reverted_scope_violation 'value\.txt: its mode became 100755 instead of 100644; .*EVOLVE-BLOCK' <<'END'
chmod +x value.txt
END
command_provider "makes the file executable and changes a line in the region" reverted_scope_violation 'value\.txt: its mode became' <<'END'
sed -i 's/^0/7/' value.txt; chmod +x value.txt
END
command_provider "changes the head" reverted_scope_violation 'value\.txt: line 1, .# head., became .# hat.' <<'END'
sed -i 's/^0/7/; s/head/hat/' value.txt
END
command_provider "puts a line after the region" reverted_scope_violation 'value\.txt: .9. was added at line 6' <<'END'
echo 9 >>value.txt
END
command_provider "removes a marker" reverted_scope_violation 'line 4.*EVOLVE-BLOCK-END.*stay as they are' <<'END'
sed -i '/BLOCK-END/d' value.txt
END
command_provider "widens the region" reverted_scope_violation 'line 5, .# tail.' <<'END'
printf '%s\n' '# head' '# EVOLVE-BLOCK-START' 9 '# tail' '# EVOLVE-BLOCK-END' >value.txt
END
command_provider "deletes the file" reverted_scope_violation 'value\.txt was deleted; it has EVOLVE-BLOCK regions' <<'END'
rm value.txt
END
command_provider "renames the file" reverted_scope_violation 'value\.txt was (deleted|renamed); it has EVOLVE-BLOCK' <<'END'
mv value.txt other.txt
END
command_provider "puts a link in its place" reverted_scope_violation 'value\.txt was replaced; it has EVOLVE-BLOCK' <<'END'
ln -sf propose.lua value.txt
END
command_provider "moves it and puts a link in its place" reverted_scope_violation 'value\.txt was (renamed|replaced); it has EVOLVE-BLOCK' <<'END'
mv value.txt other.txt; ln -s other.txt value.txt
END
command_provider "makes it larger than regions are looked for in" reverted_scope_violation 'line 1, .# head., became' <<'END'
sed -i 's/head/hat/; s/^0/7/' value.txt
head -c 5000000 /dev/zero | tr '\0' x >>value.txt
END
command_provider "makes a new file beside it" kept null <<'END'
echo free >other.txt; sed -i 's/^0/7/' value.txt
END

new='# head\n# EVOLVE-BLOCK-START\n7\n# EVOLVE-BLOCK-END\n# tail\n'
LUA="return function() return { ['value.txt'] = '$new' } end" lua_provider "changes a line in the region" kept null
LUA="return function() return { ['value.txt'] = '${new/tail/tale}' } end" lua_provider "changes the tail" reverted_scope_violation \
    'value\.txt: line 5, .# tail., became .# tale.'
LUA="return function() return { ['value.txt'] = '7\n' } end" lua_provider "writes the inside alone" reverted_scope_violation 'line 1, .# head.'
LUA="return function() return { ['value.txt'] = false } end" lua_provider "deletes the file" reverted_scope_violation \
    'value\.txt was deleted; it has EVOLVE-BLOCK'
LUA="return function() return { ['value.txt'] = { bytes = '$new', mode = '100755' } } end" lua_provider "makes it executable, too" \
    reverted_scope_violation 'value\.txt: its mode became 100755 instead of 100644'
LUA="return function() return { ['value.txt'] = ('$new'):gsub('\\n', '\\r\\n') } end" lua_provider "converts the file to CRLF" \
    reverted_scope_violation 'value\.txt: line 1: only its line end differs \(CRLF instead of LF'
LUA="return function() return { ['value.txt'] = ('$new'):sub(1, -2) } end" lua_provider "drops the last newline" \
    reverted_scope_violation 'value\.txt: line 5: only its line end differs \(none instead of LF'
LUA="return function() return { ['value.txt'] = { bytes = '$new', mode = '100644' } } end" lua_provider "says the mode that it has" kept null

item "a strategy's own edits are held to the regions too"
own="return { plan = function(run) return { parents = { run.best }, edits = { ['value.txt'] = '9' } } end }"
STRATEGY=./own.lua PREPARE='echo "$own" >own.lua' region_project own
apsis baseline
apsis run --iterations 1
is "outcome" "$(field 1 outcome)" reverted_scope_violation
like "reason" "$(field 1 rollback_reason)" 'value\.txt: line 1, .# head.'
end_item

item "in a project below the repository's root, the path is the project's"
mkdir -p "$T/below/sub" && cd "$T/below" && git init -q . && cd sub || exit 1
agent <<'END'
sed -i 's/head/hat/' value.txt
END
fill_project
printf '%s\n' '# head' '# EVOLVE-BLOCK-START' 0 '# EVOLVE-BLOCK-END' >value.txt
echo 'echo "METRIC score=1"' >evaluate.sh
git add -A && git commit -qm start
apsis baseline
apsis run --iterations 1
is "outcome" "$(field 1 outcome)" reverted_scope_violation
like "reason" "$(field 1 rollback_reason)" '^value\.txt: line 1'
end_item

finish
