std = "lua54"
max_line_length = 140
self = false
ignore = { "581" } -- not (x > y) is how NaN is refused
files["lua/apsis/cli/commands/exec.lua"] = { globals = { "arg" } }
files["tests/lua"] = { max_line_length = 160, ignore = { "122", "212" } }
