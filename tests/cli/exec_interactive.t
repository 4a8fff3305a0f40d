# exec -i: Lua line by line from standard input.
. tests/cli/lib.sh
cd "$T" || exit 1

# lua TEXT ARGUMENTS: $code, $out, $err of `apsis exec -i` that reads the text.
lua() {
    local text=$1
    shift
    printf '%s\n' "$text" | timeout -k 5 60 "$APSIS" exec -i "$@" >"$T/.out" 2>"$T/.err"
    code=$?
    out=$(cat "$T/.out") err=$(cat "$T/.err")
}

lua '1 + 1, "two"
x = { a = 1 }
x
nil
require("apsis.json").encode { 1, 2 }'
is "values of expressions are shown" "$code $out" "0 2	two
{ a = 1 }
nil
[1,2]"
lua 'function double(n)
  return n * 2
end
double(
21)'
is "an unfinished statement goes on in the next line" "$out$err" 42
lua 'error "bad"
= 1
7'
is "after an error it goes on" "$code $out" "0 7"
line "the error" "$err" "^stdin:1: bad"
line "and what is no Lua" "$err" "^stdin:1: unexpected symbol near '='"
lua '"a\27[31mred"'
is "a value is text to the terminal" "$out" 'a^[[31mred'
lua 'for i = 1, 2 do'
line "what input leaves unfinished is an error" "$err" "near <eof>"
echo 'given = ...; return 3' >file.lua
lua 'given' file.lua word
is "a file runs before, with its arguments; the exit code is the file's" "$code $out" "3 word"
lua '1' absent.lua
is "a file that is not there exits 2, and nothing is read" "$code $out" "2 "
finish
