#!/bin/bash
# bad_leavings: names, depths and modes that apsis cannot read back, as a provider, an answer or a verification may leave
# them: only that candidate fails, and the run goes on. Modes stop nobody but an ordinary user, so root becomes one.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    room=$(mktemp -d "${TMPDIR:-/tmp}/apsis-user.XXXXXX") && chown 65534:65534 "$room"
    TMPDIR=$room setpriv --reuid=65534 --regid=65534 --clear-groups bash "$0" "$@"
    code=$?
    rm -rf "$room"
    exit $code
fi
. tests/cli/lib.sh || exit 1
RULES="  - {path: '**', mode: writable}"

deep() { echo "python3 -c 'import os
for i in range($1): os.mkdir(\"d\"); os.chdir(\"d\")
open(\"f\", \"w\").close()'"; }
joiner=$(printf '.g\342\200\214it') # git on other systems ignores the joiner

# ends EXPERIMENT OUTCOME REASON
ends() {
    is "outcome of $1" "$(field "$1" outcome)" "$2"
    like "reason of $1" "$(field "$1" rollback_reason)" "$3"
}

# went_on EXPERIMENTS: the run went on to the last one, which is kept; nothing was done again, and git finds no fault.
went_on() {
    is "run's exit code" "$code" 0
    is "lines" "$(lines)" $(($1 + 1))
    unlike "done again" "$err" "done again"
    is "the last one" "$(field "$1" outcome) $(field "$1" primary_metric)" "kept $1"
    ok "git fsck" git fsck --strict
}

item "what a provider leaves in its workspace"
agent <<END
case \$APSIS_EXPERIMENT in
1) $(deep 4200) ;;
2) $(deep 1100) ;;
3) echo x >'git~1.' ;;
4) mkdir '$joiner' && echo x >'$joiner/config' ;;
5) chmod 0 . ;;
6) mkdir locked && echo x >locked/f && chmod 0 locked ;;
7) echo 7 >value.txt && chmod 0 value.txt ;;
8) echo 8 >value.txt ;;
esac
END
new_project provider
apsis baseline
apsis run --iterations 8
went_on 8
ends 1 reverted_scope_violation "cannot be read: .*deeper than 4096"
ends 2 reverted_scope_violation "deeper than 1000"
ends 3 reverted_scope_violation "git~1"
ends 4 reverted_scope_violation "config"
ends 5 reverted_scope_violation "cannot be read: .*Permission denied"
ends 6 reverted_worse_metric "tied"
ends 7 kept "null"
ok "no reason is a page long" test "$(field 2 rollback_reason | wc -c)" -lt 1000
end_item

item "what an answer names"
PROVIDER='provider: {kind: lua, use: propose.lua}'
new_project answer
cat >propose.lua <<END
local names = { "src/GIT~1 ", "$joiner/config", "a/../b", ("d/"):rep(1100) .. "f" }
return function(proposal)
  local name = names[proposal.experiment]
  if name then return { [name] = "x" } end
  return { ["value.txt"] = proposal.experiment .. "\n" }
end
END
commit answers
apsis baseline
apsis run --iterations 5
went_on 5
for number in 1 2 3 4; do ends $number reverted_scope_violation .; done
end_item

item "the folder of a project within a repository becomes a link to one of the user's"
mkdir -p "$T/other" && echo '{"learned": "of another project"}' >"$T/other/asi.json"
PROVIDER="provider: {kind: command, run: \"cd .. && rm -rf within && ln -s '$T/other' within\"}"
mkdir "$T/whole" && cd "$T/whole" && git init -q . && mkdir within && cd within || exit 1
fill_project
git add -A && git commit -qm start
apsis baseline
apsis run --iterations 1
ends 1 reverted_scope_violation within
is "its file is not read" "$(field 1 learned)" null
ok "and is still there" test -e "$T/other/asi.json"
PROVIDER='provider: {kind: lua, use: propose.lua}'
end_item

item "what a verification leaves in its workspace"
LIMIT_SEC=60 # it makes 4,200 folders, on a busy machine
new_project verification
cat >evaluate.sh <<END
echo "METRIC score=\$(cat value.txt)"
case \$APSIS_EXPERIMENT in
1) $(deep 4200) ;;
2) chmod 0 . ;;
3) echo "METRIC score=1000" >"\$APSIS_METRICS" && chmod 0 "\$APSIS_METRICS" ;;
4) mkdir "\$APSIS_ARTIFACTS/locked" && chmod 0 "\$APSIS_ARTIFACTS/locked" "\$APSIS_ARTIFACTS" "\$APSIS_RUN_DIR" ;;
5) chmod 0 value.txt ;;
6) truncate -s 2M "\$APSIS_METRICS" ;;
esac
END
sed -i "s/^verification:/&\n  log_limit_mb: 1/" manifest.yaml
commit evaluator
apsis baseline
apsis run --iterations 7
went_on 7
ends 1 skipped_verification_crash "cannot be read: .*deeper than 4096"
ends 2 skipped_verification_crash "cannot be read: .*Permission denied"
ends 3 skipped_verification_crash "APSIS_METRICS: .*Permission denied"
is "what it measured before it locked its own folder" "$(field 4 primary_metric)" 4
ends 5 kept "null"
ends 6 skipped_verification_crash "APSIS_METRICS is larger than verification.log_limit_mb, 1 MB"
end_item

# The last item: its limit of memory stays.
item "a JSON file larger than memory is not read"
new_project large
cat >evaluate.sh <<END
[ "\$APSIS_EXPERIMENT" = 0 ] && echo '{"v": 1}' >v.json || truncate -s 3G v.json
END
sed -i 's!^metric: .*!metric: {name: v, direction: higher, extractor: {type: json_file, path: v.json, json_pointer: /v}}!' manifest.yaml
commit evaluator
apsis baseline
[ -n "${APSIS_SANITIZED:-}" ] || ulimit -v 2000000 # sanitizers map more than that
apsis run -q --iterations 1
ends 1 skipped_verification_crash "v.json is larger than 16 MB"
end_item

finish
