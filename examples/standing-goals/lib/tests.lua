-- tests: what slug.lua makes of some titles. Prints each that is wrong, and how many are right.
local cases = {
  { "hello", "hello" },
  { "Hello", "hello" },
  { "two words", "two-words" },
  { "two  blanks", "two-blanks" },
  { "What?", "what" },
  { "tips & tricks", "tips-tricks" },
  { "a - b", "a-b" },
  { " edge ", "edge" },
}

local slug = dofile "lib/slug.lua"
local passed = 0
for _, case in ipairs(cases) do
  local ok, got = pcall(slug, case[1])
  if ok and got == case[2] then passed = passed + 1
  else print(("not ok: %q gives %q, expected %q"):format(case[1], tostring(got), case[2])) end
end
print("METRIC tests_passed=" .. passed)
