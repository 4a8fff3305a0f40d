-- template: what is filled in, what is left out, and what is said about a wrong one.
local tap = require "tap"
local template = require "apsis.template"
local test, equal, matches = tap.test, tap.equal, tap.matches

test("fields are filled in, again and again", function()
  equal(template.render("{{a}}-{{b}}-{{a}}", { a = "1", b = "2" }), "1-2-1")
  equal(template.render("no places", {}), "no places")
end)

test("a section is left out where its field is empty, with its lines", function()
  local text = "first\n{{#more}}\n## More\n\n{{more}}\n\n{{/more}}\nlast\n"
  equal(template.render(text, { more = "" }), "first\nlast\n")
  equal(template.render(text, { more = "x" }), "first\n## More\n\nx\n\nlast\n")
end)

test("sections nest", function()
  local text = "{{#a}}[{{#b}}{{b}}{{/b}}]{{/a}}"
  equal(template.render(text, { a = "1", b = "" }), "[]")
  equal(template.render(text, { a = "1", b = "2" }), "[2]")
end)

test("what is filled in is never read as a template, and blank lines in it stay", function()
  equal(template.render("{{code}}", { code = "{{#x}}\n\n\n%1 {{y}}" }), "{{#x}}\n\n\n%1 {{y}}")
end)

test("an unknown field is refused with file, line and the nearest name", function()
  local text, message = template.render("one\ntwo {{metrik}}\n", { metric = "m" }, "prompts/mutation.md")
  equal(text, nil)
  matches(message, '^prompts/mutation%.md:2: no field {{metrik}}.*did you mean "metric"')
end)

test("a section left open, and one that closes nothing, are refused with their line", function()
  matches(select(2, template.render("a\n{{#b}}\n", { b = "" }, "t")), "^t:2: {{#b}} is never closed")
  matches(select(2, template.render("a\n\n{{/b}}", { b = "" }, "t")), "^t:3: {{/b}} closes nothing")
  matches(select(2, template.render("{{#a}}{{#b}}{{/a}}{{/b}}", { a = "", b = "" }, "t")), "^t:1: {{/a}} closes nothing")
end)

test("a check says which fields a text names, and refuses the first that is not among the known ones", function()
  equal(template.check("{{a}}\n{{#b}}\n{{c}}\n{{a}}{{/b}}", { "c", "b", "a" }), { a = 1, b = 2, c = 3 })
  equal(template.check("{{anything}}"), { anything = 1 })
  equal(template.check("none", {}), {})
  local found, message = template.check("x\n{{#metrik}}\n{{other}}{{/metrik}}", { "metric", "answer" }, "prompts/mutation.md")
  equal(found, nil)
  equal(message, 'prompts/mutation.md:2: no field {{metrik}}; did you mean "metric"?; fields: answer, metric')
  matches(select(2, template.check("{{#b}}", nil, "t")), "^t:1: {{#b}} is never closed")
end)

tap.done()
