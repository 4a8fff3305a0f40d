-- printed: numbers in JSON that a command printed, as Python's json.dumps writes it (texts made by Python 3.11).
local tap = require "tap"
local json = require "apsis.json"
local printed = require "apsis.live.printed"
local test, equal = tap.test, tap.equal

test("NaN, the infinities and numbers too large are null, in any place but strings", function()
  equal(printed.decode '{"loss": [NaN, -Infinity, Infinity, 1e999, -2.5e-3], "say": "NaN, \\"-Infinity\\\\", "n": 3}',
    { loss = json.array { json.null, json.null, json.null, json.null, -0.0025 }, say = 'NaN, "-Infinity\\', n = 3 })
  equal({ printed.decode "NaN" }, { json.null })
end)

test("what is no JSON otherwise is refused as before, with its own message", function()
  for _, text in ipairs { '{"a": NaN, "b": }', '{"a": nan}', '{"a": "x', "{NaN: 1}", '{"a": 1e999e}' } do
    local value, message = printed.decode(text)
    equal({ value == nil, message }, { true, (select(2, json.decode(text))) })
  end
end)

test("a null printed last is false, whatever was printed before", function()
  equal({ (printed.number('{"loss": 0.5}\n{"loss": NaN}\n', "loss")) }, { false })
  equal({ (printed.number('{"loss": 0.5}\n{"loss": null}\n', "loss")) }, { false })
  equal({ (printed.number('{"loss": NaN}\n{"loss": 0.5}\n', "loss")) }, { 0.5 })
  equal({ (printed.number('{"at": {"loss": NaN}}\n', "at.loss")) }, { false })
  equal({ printed.number('{"at": {"loss": NaN}, "of": {"loss": 1}}\n', "loss") }, { nil, true })
end)

test("a number or a null comes with its object, at the top level or below it", function()
  local text = 'ran\n{"at": {"loss": null, "reason": "tests failed"}}\n{"n": 1}'
  local number, _, object = printed.number(text, "loss")
  equal({ number, object }, { false, { loss = json.null, reason = "tests failed" } })
  equal({ select(3, printed.number('{"loss": 1, "n": 2}', "loss")) }, { { loss = 1, n = 2 } })
end)

test("an evaluator's reason is one line of at most 300 characters, from the first key that has one", function()
  equal(printed.reason { rejected_reason = "tests failed", error = "another" }, "tests failed")
  equal(printed.reason { rejected_reason = json.null, reason = " \n", error = " 2 of\t9:\r\n\27[31mfailed\xC2\x9B " },
    "2 of 9: [31mfailed?")
  equal(printed.reason { message = ("é"):rep(400) }, ("é"):rep(300))
  equal(printed.reason { message = "bad\xFF" }, "bad?")
  equal({ printed.reason { reason = 5, fitness = json.null }, printed.reason(nil) }, {})
end)

tap.done()
