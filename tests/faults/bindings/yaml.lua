-- yaml: every way through apsis.yaml, for allocations.c: `return run, prepare`.
return function(step)
  local yaml = require "apsis.yaml"
  step("decode", function()
    local value, lines = yaml.decode([[
a: &x {k: [1, 0x1f, 1.5, .inf, true, ~, "q\u00e9", 'single']}
b: *x
c: !!str 12
long: |
  one
  two
list:
- - 1
- {deep: {deeper: [a, b]}}
]], { name = "f.yaml" })
    if not value then error(lines, 0) end
    assert(value.a.k[2] == 31 and value.b.k[1] == 1 and value.c == "12" and lines[value].keys.c == 3, lines)
  end)
  step("decode an empty document and a scalar", function()
    assert(assert(yaml.decode "") == yaml.null and assert(yaml.decode "x") == "x" and #assert(yaml.decode "[]") == 0)
  end)
  step("decode refuses", function()
    for _, bad in ipairs { "a: [", "a: 1\na: 2", "a: 1\n---\nb: 2", "{[1]: 2}", "a: !mine 1", "\1", "a: *nope", "a:\n\t- 1", "\255",
      ("["):rep(200) } do
      local value, message, code = yaml.decode(bad)
      assert(value == nil and code == "EYAML", message)
      if message:find "memory" then error(message, 0) end
    end
  end)
end
