# For tests of `apsis debug`: a session, and where it went.

# debug COMMANDS ARGUMENTS: a session of commands, one a line: $code, $out, $err.
debug() {
    local commands=$1
    shift
    printf "$commands" >"$T/.commands"
    timeout -k 5 60 "$APSIS" debug "$@" <"$T/.commands" >"$T/.out" 2>"$T/.err"
    code=$?
    out=$(cat "$T/.out") err=$(cat "$T/.err")
}

# The steps that a session showed: experiment and hook of each.
heads() { printf '%s\n' "$out" | sed -n 's/^step [0-9]*, experiment \([0-9]*\): \([a-z]*\).*/\1\2/p' | tr '\n' ' '; }
