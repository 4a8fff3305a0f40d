# transcript.sh: what the transcripts share: a folder of their own that is removed at the end, with HOME and the cache
# inside it; TAP assertions; projects to work on. Sourced by *.t, which prove runs. APSIS is the program, build/apsis
# unless it is set.
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
APSIS=${APSIS:-$top/build/apsis}
case $APSIS in /*) ;; *) APSIS=$top/$APSIS ;; esac
work=$(mktemp -d "${TMPDIR:-/tmp}/apsis-cli-XXXXXX") || exit 1
trap 'cd /; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

for name in $(env | sed -n 's/^\(GIT_[A-Z_]*\)=.*/\1/p'); do unset "$name"; done
export HOME="$work/home" XDG_CACHE_HOME="$work/cache" XDG_CONFIG_HOME="$work/config"
export GIT_CONFIG_NOSYSTEM=1 LC_ALL=C.UTF-8
mkdir -p "$HOME"
printf '[user]\n\tname = Test\n\temail = test@localhost\n[init]\n\tdefaultBranch = main\n' > "$HOME/.gitconfig"

count=0
failures=0

# run ARGUMENTS: runs apsis; leaves $out, $err and $code.
run() {
    "$APSIS" "$@" > "$work/out" 2> "$work/err" < /dev/null
    code=$?
    out=$(cat "$work/out")
    err=$(cat "$work/err")
}

result() { # 0|1 NAME [DETAIL]
    count=$((count + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $count - $2"
    else
        failures=$((failures + 1))
        echo "not ok $count - $2"
        printf '%s\n' "${3:-}" | sed 's/^/# /'
    fi
}

ok() { # NAME COMMAND...
    local name=$1
    shift
    if "$@" > /dev/null 2>&1; then result 0 "$name"; else result 1 "$name" "failed: $*"; fi
}

is() { # GOT EXPECTED NAME
    if [ "$1" = "$2" ]; then result 0 "$3"; else result 1 "$3" "got '$1', expected '$2'; stderr: $err"; fi
}

like() { # TEXT PATTERN NAME
    if printf '%s\n' "$1" | grep -Eq -e "$2"; then result 0 "$3"; else result 1 "$3" "no match of '$2' in: $1"; fi
}

unlike() { # TEXT PATTERN NAME
    if printf '%s\n' "$1" | grep -Eq -e "$2"; then result 1 "$3" "a match of '$2' in: $1"; else result 0 "$3"; fi
}

# json PATH: a value of the JSON in $out, such as best.candidate or 1.check.
json() {
    printf '%s' "$out" | "$APSIS" exec "$here/json.lua" "$1"
}

# Commits all that lies in the current folder.
commit() {
    case $PWD in "$work"/*) ;; *) echo "Bail out! not in the test's own folder"; exit 1 ;; esac
    git add -A && git commit -qm "${1:-start}"
}

# A project in $work/NAME, made by init and committed; it becomes the current folder.
project() {
    mkdir "$work/$1" && cd "$work/$1" && git init -q . && "$APSIS" init > /dev/null || exit 1
    printf '/logs/\n/runs/\n/.apsis/\n' > .gitignore
    commit
}

# A project as above whose provider proposes the lines of edits.txt one after another, as settings.lua's first number.
scripted() {
    project "$1"
    cat > mutate.lua <<'LUA'
return function(proposal, workspace)
  local number = proposal.experiment
  local at = 0
  for line in io.lines("edits.txt") do
    at = at + 1
    if at == number then
      local value, hypothesis = line:match("^(%S+) (.*)$")
      hypothesis = hypothesis:gsub("ESC", "\27")
      return { ["settings.lua"] = ("return { %s, 0, 0 }\n"):format(value) }, { hypothesis = hypothesis }
    end
  end
  return nil, "nothing more to propose"
end
LUA
    printf '%s\n' '1 one is nearer' '1.5 ESC[31mred' '0.5 half is farther' > edits.txt
    commit "a scripted provider"
}

done_testing() {
    echo "1..$count"
    [ "$failures" -eq 0 ]
    exit $?
}
