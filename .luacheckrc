std = "lua54"
max_line_length = 140
files["lua/apsis/cli/exec.lua"] = { globals = { "arg" } }
files["tests/lua"] = { max_line_length = 160 }
