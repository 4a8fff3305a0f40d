-- json: every function of apsis.json, for allocations.c: `return run, prepare`.
return function(step)
  local json = require "apsis.json"
  local text = [[{"a": [1, 2.5, -0, 1e300, null, true, false, "x\u00e9\ud83d\ude00\n"], "b": {"c": {}, "d": []}, "long": "]]
    .. ("y"):rep(500) .. [["}]]
  step("decode", function()
    local value = assert(json.decode(text))
    assert(value.a[2] == 2.5 and value.a[5] == json.null and #value.long == 500)
  end)
  step("decode, without nulls or some members", function()
    assert(json.decode(text, true).a[2] == 2.5)
    local value = assert(json.decode(text, { b = true }))
    assert(value.a == nil and value.b.c)
  end)
  step("decode refuses", function()
    for _, bad in ipairs { "", "{", "[1,]", '{"a":1,"a":2}', "nul", '"\1"', "1e999", "[1] 2", ("["):rep(1100) } do
      local value, message, code = json.decode(bad)
      assert(value == nil and code == "EJSON", message) -- which says memory where that ran out
    end
  end)
  step("encode", function()
    local value = { a = json.array { 1, 2.5, "x\0\255" }, b = { c = {}, d = json.array() }, n = json.null, t = true, z = ("z"):rep(600) }
    assert(json.decode(json.encode(value)).a[2] == 2.5)
    assert(json.encode(value, { pretty = true, sorted = true }):find '\n  "b"')
  end)
  step("encode refuses", function()
    local cycle = {}
    cycle.me = cycle
    for _, bad in ipairs { { a = 0 / 0 }, { f = print }, cycle, { 1, x = 2 } } do
      local ok, message = pcall(json.encode, bad)
      assert(not ok and type(message) == "string")
      if message:find "memory" then error(message, 0) end
    end
  end)
end
