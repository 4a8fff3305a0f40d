#!/bin/bash
# bad_manifest: what a manifest that is wrong gets: exit 2, the file, the line and the key, and what would be right;
# nothing is written.
. tests/cli/lib.sh || exit 1

new_project tiny
cp manifest.yaml "$T/good.yaml"

# refused NAME REGEX...: manifest.yaml as it stands is refused by baseline and by run with each REGEX in the message.
refused() {
    item "$1"
    shift
    for command in baseline run; do
        apsis "$command"
        is "exit code of $command" "$code" 2
        is "stdout of $command" "$out" ""
        for pattern in "$@"; do like "$command" "$err" "$pattern"; done
        unlike "$command" "$err" "traceback"
    done
    ok "no journal" test ! -e logs/results.jsonl
    ok "no runs" test ! -e runs
    ok "no refs" test -z "$(git for-each-ref refs/apsis refs/heads/apsis)"
    end_item
    cp "$T/good.yaml" manifest.yaml
}

# line TEXT: the number of the line of manifest.yaml that contains it.
line() { grep -nF -- "$1" manifest.yaml | head -1 | cut -d: -f1; }

sed -i 's/^metric:/metrc:/' manifest.yaml
refused "manifest: an unknown key at the top: the nearest name" "manifest\.yaml:$(line metrc):" "metrc" "metric"

sed -i 's/direction: higher/directoin: higher/' manifest.yaml
refused "manifest: an unknown key inside a mapping: the nearest name" "manifest\.yaml:$(line directoin):" "directoin" "direction"

echo 'execution: {workers: many}' >>manifest.yaml
refused "manifest: a bad type, text for a number" "manifest\.yaml:$(line many):" "execution\.workers" "integer|whole number"

sed -i 's/^strategy:.*/strategy: [hillclimb]/' manifest.yaml
refused "manifest: a bad type, a list for a mapping" "manifest\.yaml:$(line '[hillclimb]'):" "strategy" "list"

sed -i 's/^version: 1/version: 2/' manifest.yaml
refused "manifest: a version that is not known" "manifest\.yaml:1:" "version" "1"

sed -i 's/direction: higher/direction: upwards/' manifest.yaml
refused "manifest: a bad direction: the allowed values" "manifest\.yaml:$(line upwards):" "metric\.direction" "higher" "lower"

sed -i 's/direction: higher/direction: lowr/' manifest.yaml
refused "manifest: a misspelt direction: the nearest value" "manifest\.yaml:$(line lowr):" "metric\.direction" "lower"

sed -i 's/mode: writable/mode: read_only/' manifest.yaml
refused "manifest: no writable file" "manifest\.yaml:$(line files:):" "files" "writable"

sed -i 's/path: value.txt/path: ..\/value.txt/' manifest.yaml
refused "manifest: a path that leaves the project, by .." "manifest\.yaml:$(line ../value):" "files" "\.\./value\.txt"

sed -i 's/path: value.txt/path: a\/..\/..\/value.txt/' manifest.yaml
refused "manifest: a path that leaves the project, by .. after a name" "manifest\.yaml:$(line a/../..):" "files"

sed -i 's/path: value.txt/path: \/etc\/passwd/' manifest.yaml
refused "manifest: a path that leaves the project, absolute" "manifest\.yaml:$(line /etc/passwd):" "files" "/etc/passwd"

sed -i 's/propose.lua, mode: read_only/value.txt, mode: read_only/' manifest.yaml
refused "manifest: the same rule in two modes" "manifest\.yaml:$(line 'value.txt, mode: read_only'):" "value\.txt" "writable" \
    "read_only"

sed -i 's/propose.lua, mode: read_only/.\/value.txt, mode: read_only/' manifest.yaml
refused "manifest: the same rule in two modes, written in two ways" "manifest\.yaml:$(line './value.txt'):" "value\.txt"

echo 'version: 1' >>manifest.yaml
refused "manifest: a duplicate YAML key at the top" "manifest\.yaml:$(wc -l <manifest.yaml | tr -d ' '):" "version" \
    "duplicate|twice|already"

sed -i 's/{name: tiny}/{name: tiny, name: large}/' manifest.yaml
refused "manifest: a duplicate YAML key inside a mapping" "manifest\.yaml:$(line large):" "name" "duplicate|twice|already"

{
    echo 'a: &a [x, x, x, x, x, x, x, x, x]'
    previous=a
    for name in b c d e f g h i j; do
        echo "$name: &$name [*$previous, *$previous, *$previous, *$previous, *$previous, *$previous, *$previous, *$previous]"
        previous=$name
    done
    cat "$T/good.yaml"
} >manifest.yaml
refused "manifest: an alias bomb" "manifest\.yaml:[0-9]+:" "alias"

{
    cat "$T/good.yaml"
    printf 'metrics: &m {a: *m}\n'
} >manifest.yaml
refused "manifest: an alias to itself" "manifest\.yaml:[0-9]+:"

printf 'version: 1\nproject: {name: tiny\nfiles: ]\n' >manifest.yaml
refused "manifest: not YAML" "manifest\.yaml:[0-9]+:"

: >manifest.yaml
refused "manifest: empty" "manifest\.yaml"

head -c 100000 /dev/urandom >manifest.yaml
refused "manifest: random bytes" "manifest\.yaml:[0-9]+:"

awk 'BEGIN { for (i = 0; i < 200000; i++) printf "[" }' >manifest.yaml
refused "manifest: nested two hundred thousand deep" "manifest\.yaml:[0-9]+:"

item "manifest: every error is told at once, not only the first"
sed -i -e 's/direction: higher/direction: up/' -e 's/^version: 1/version: one/' manifest.yaml
apsis baseline
is "exit code" "$code" 2
like "the first" "$err" "manifest\.yaml:1:"
like "the second" "$err" "metric\.direction"
end_item
cp "$T/good.yaml" manifest.yaml

item "manifest: errors of the user's own file name that file"
mkdir -p "$XDG_CONFIG_HOME/apsis"
printf 'execution:\n  wrokers: 2\n' >"$XDG_CONFIG_HOME/apsis/config.yaml"
apsis baseline
is "exit code" "$code" 2
like "file and line" "$err" "config\.yaml:2:"
like "nearest" "$err" "workers"
end_item
rm -r "$XDG_CONFIG_HOME/apsis"

item "manifest: none here or above: said with what makes one"
mkdir "$T/empty"
apsis baseline "$T/empty"
is "exit code" "$code" 2
like "remedy" "$err" "apsis init"
end_item

finish
