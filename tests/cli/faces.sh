# faces: for tests of the figures that all faces of a run show: status, log, watch, report and the live line. Sourced
# after lib.sh. faces.lua compares what was printed, number by number.
export TERM=xterm
unset CI

# live ARGUMENTS...: a run on a terminal, of which what it showed is kept.
live() { script -qefc "stty cols 200 rows 24; '$APSIS' run $*" /dev/null </dev/null >live.txt 2>&1; }

# agree NAME [live] [kept]: of the project here.
agree() {
    local name=$1
    shift
    "$APSIS" status >"$T/status.txt" 2>/dev/null && "$APSIS" status --json >"$T/status.json" 2>/dev/null
    "$APSIS" log --reverse >"$T/log.txt" 2>/dev/null && "$APSIS" log --json >"$T/log.jsonl" 2>/dev/null
    "$APSIS" watch --plain >"$T/watch.txt" 2>/dev/null && "$APSIS" report --out "$T/page.html" >/dev/null 2>&1
    "$APSIS" report --beside . --json >"$T/beside.json" 2>/dev/null
    [ ! -e live.txt ] || tr -d '\0' <live.txt >"$T/live.txt"
    apsis exec "$ROOT/tests/cli/faces.lua" "$T" "$@"
    is "$name" "$code:$out$err" 0:
}

# values NAME VALUE...: a project whose experiments have these values; "-" is a crash, "=" changes nothing. The last one
# takes a moment: by then the live line shows what was before it.
values() {
    new_project "$1"
    shift
    printf '%s\n' "$@" >list.txt
    printf '%s\n' live.txt >>.gitignore
    cat >propose.lua <<'END'
return function(proposal, workspace)
  local list = {}
  for value in workspace:read "list.txt":gmatch "%S+" do list[#list + 1] = value end
  local number = proposal.experiment
  if number == #list then require "apsis.wait".sleep(0.15) end
  local value = list[number] or "1"
  return { ["value.txt"] = value == "=" and workspace:read "value.txt" or value .. "\n" .. ("x\n"):rep(number % 3) }
end
END
    echo 'read -r value <value.txt; [ "$value" != - ] && echo "METRIC score=$value" && echo "METRIC size=$(wc -l <value.txt)"' >evaluate.sh
    write_manifest
    commit values
}
start() { git add -A; git commit -q --allow-empty -m more; "$APSIS" baseline -q --repeats "${1:-1}" >/dev/null 2>&1; }
