#!/bin/bash
# Test runners of other languages: the HyperAgents plugin's own example, `npm test -- --json`, and a runner that reports on standard
# error. A stand-in for npm prints what the real program printed (tests/data/fitness/runners).
. tests/cli/lib.sh || exit 1

DATA=$ROOT/tests/data/fitness/runners

# shop NAME: a project with a stand-in for npm: experiment N runs the tests of `value.txt`, a name of the samples.
shop() {
    new_project "$1"
    git rm -q --cached manifest.yaml 2>/dev/null
    mkdir -p bin samples .hyperagents
    cp "$DATA"/jest_* samples/
    cat >bin/npm <<'END'
#!/bin/sh
[ "$1" = test ] || exit 64
name=$(cat value.txt)
case "$*" in
"test -- --json") cat "samples/jest_json_$name.txt"; cat "samples/jest_text_$name.txt" >&2 ;;
*) printf '\n> shop@1.0.0 test\n> jest\n\n'; cat "samples/jest_text_$name.txt" >&2 ;;
esac
[ "$name" = pass ]
END
    chmod +x bin/npm
    echo mixed >value.txt
    echo 'return function(proposal) return { ["value.txt"] = proposal.experiment == 1 and "broken\n" or "pass\n" } end' >propose.lua
    cat >manifest.yaml
    git add -A && git commit -qm shop
}

item "the HyperAgents plugin's example, npm test -- --json, is measured as it is: Jest's JSON among npm's own lines"
shop plugin <<'END'
version: 1
project: {name: shop}
files: [{path: value.txt, mode: writable}]
provider: {kind: lua, use: propose.lua}
END
printf '{\n  "domain": "tests",\n  "test_command": "npm test -- --json",\n  "score_key": "pass_rate"\n}\n' >.hyperagents/config.json
git add -A && git commit -qm config
export PATH=$PWD/bin:$PATH
apsis baseline --repeats 1
is "passed / total" "$code:$out" "0:baseline c0000: tests = 0.5555555556 (higher is better)"
like "its numbers" "$(field 0 secondary_metrics)" '"tests.failed":4,"tests.passed":5,"tests.skipped":2,"tests.total":9'
apsis run --iterations 2 -q
is "a file that does not load, and all pass" "$(field 1 primary_metric) $(field 2 primary_metric)" "0.22222222222222 0.22222222222222"
like "by item" "$(field 0 items)" 'price.test.js > discount > takes ten percent":0'
end_item

item "a runner that reports on standard error is read there, if standard output has nothing of that format"
shop standard_error <<'END'
version: 1
project: {name: shop}
files: [{path: value.txt, mode: writable}]
provider: {kind: lua, use: propose.lua}
fitness: {domain: tests, run: npm test}
END
export PATH=$PWD/bin:$PATH
apsis eval
is "found out" "$code:$out" "0:tests=0.5555555556  (failed 4, passed 5, skipped 2, total 9)"
sed -i 's/run: npm test/run: npm test, format: jest/' manifest.yaml && git commit -qam named
apsis eval
is "by name" "$code:$out" "0:tests=0.5555555556  (failed 4, passed 5, skipped 2, total 9)"
sed -i 's/format: jest/format: mocha/' manifest.yaml && git commit -qam another
apsis eval
like "of another format it is none" "$code:$err" "mocha: no summary at the end"
end_item

finish
