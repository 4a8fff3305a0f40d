-- extract: reads the primary metric from a verification's output: a METRIC line (or a number in printed JSON if there
-- is none), a JSON file, or text on stdout or stderr. Every extractor returns a finite number, or nil and a reason for
-- people. JSON with null in the metric's place rejects the candidate: gathered.rejected. Called by verify.
local direction = require "apsis.direction"
local editline = require "apsis.edit.line"
local fs = require "apsis.fs"
local json = require "apsis.json"
local metric = require "apsis.metric"
local near_miss = require "apsis.live.near_miss"
local printed = require "apsis.live.printed"
local regex = require "apsis.regex"
local suggest = require "apsis.suggest"

local extract = {}

local LARGEST_JSON = 16 << 20 -- bytes; decoded it takes up to thirty times the memory

-- Notes that the evaluator rejected the candidate: it printed an object with null at a name. Why, if it gives a reason.
local function rejection(gathered, name, object)
  gathered.rejected = true
  local reason = printed.reason(object)
  return reason and ('rejected by the evaluator ("%s": null): %s'):format(name, reason)
end

local function number_at(text, path, what, gathered)
  if #text > LARGEST_JSON then return nil, ("%s is larger than %d MB"):format(what, LARGEST_JSON >> 20) end
  local value, message = printed.decode(text)
  if value == nil then return nil, ("%s: %s"):format(what, message) end
  local number = printed.pointer(value, path)
  if number == nil then return nil, ("%s has nothing at %q"):format(what, path) end
  local why = number == json.null and json.decode(text) ~= nil -- NaN is no rejection
    and rejection(gathered, path:match "[^/]*$", printed.pointer(value, path:match "^(.*)/"))
  if why then return nil, why end
  if not direction.finite(number) then return nil, ("%s has no finite number at %q"):format(what, path) end
  return number
end

-- What a captured text is as the value of a METRIC line, so that numbers have one grammar: the scanner's report.
local function scanned(capture)
  local text = editline.trim(capture)
  return metric.scan("METRIC value=0\nMETRIC value=" .. (text:find "%c" and "?" or text))
end

-- The first match counts; but if the last one is not finite, there is no measurement.
local function by_regex(text, pattern, what)
  local compiled, message = regex.compile(pattern, "m")
  if not compiled then return nil, message end
  local first, limit = compiled:match(text)
  if first == nil and limit then return nil, limit end
  if not first then return nil, ("no match of %q in %s"):format(pattern, what) end
  local last = first
  pcall(function() -- what is behind a limit is not searched
    for capture in compiled:gmatch(text) do last = capture or last end
  end)
  local report = scanned(first)
  if #report.samples.value < 2 then return nil, ("%q of %s is not a finite decimal number"):format(first, what) end
  if scanned(last).not_finite.value then
    return nil, ("the last match in %s is %q, which is not finite: no measurement"):format(what, last)
  end
  return report.metrics.value
end

-- ---- METRIC lines, and hints if none names the metric ----

-- limits of a message: bytes of standard output read, and names in it
local HINT_BYTES, HINT_NAMES, NAME_BYTES = 1048576, 5, 60

local function can_be_shown(name)
  return #name <= NAME_BYTES and not name:find("[%c\127]") and not name:find("\xC2[\x80-\x9F]")
    and utf8.len(name) ~= nil
end

-- The names in METRIC lines, then those with a number in JSON, in the order of the output.
local function names_in(gathered, text)
  local lines, seen, quoted = suggest.names(gathered.metrics), {}, {}
  for name in text:gmatch('"([^"\n]+)"%s*:%s*[-%d]') do
    if not seen[name] and can_be_shown(name) then seen[name], quoted[#quoted + 1] = true, name end
  end
  return lines, quoted
end

-- What JSON has after the metric's last name instead of a number, such as null; nil if the name is missing or too long.
local function instead(text, name)
  local found = text:match('^.*"' .. name:gsub("%W", "%%%0") .. "\"%s*:%s*([%w_\"{%[+.-][^,}%]\r\n]*)")
  return found and can_be_shown(found) and found or nil
end

local function first_of(list, before)
  local shown = table.concat(list, ", ", 1, math.min(#list, HINT_NAMES))
  return #list > 0 and ("%s %s%s"):format(before, shown, #list > HINT_NAMES and ", ..." or "") or nil
end

-- What the output has in place of the metric: a near miss, or other names, and which of them may be meant. inside: the
-- metric's name in JSON.
local function hint(name, gathered, text, inside)
  local near = gathered.near_misses[1]
  if near then return "near miss at " .. near_miss.at(near) end
  local found = instead(text, inside or name)
  if found then return ('it has "%s": %s, which is no number'):format(inside or name, found) end
  local lines, quoted = names_in(gathered, text)
  local parts = { first_of(lines, "METRIC lines of") }
  parts[#parts + 1] = first_of(quoted, "JSON of")
  if #parts == 0 then return "verifier.log has what it printed" end
  return ("it has %s%s"):format(table.concat(parts, " and "), suggest.sentence(name, table.move(quoted, 1, #quoted,
    #lines + 1, lines)))
end

local function output_of(gathered)
  return #gathered.commands > 0 and "the output of " .. table.concat(gathered.commands, " and ") or "the output"
end

local function no_such_line(name, inside, gathered, text)
  local other = inside and ('JSON with "%s": NUMBER'):format(inside)
  local line = ("METRIC %s=NUMBER"):format(name)
  if gathered.private then
    return ("no %s in the file that APSIS_METRICS names, which counts instead of %s unless it is empty; %s"):format(
      line, output_of(gathered), hint(name, gathered, ""))
  elseif not other then
    return ("no %s in %s; the evaluator must print such a line; %s"):format(line, output_of(gathered),
      hint(name, gathered, text))
  end
  local none = name:find("[^%w_.\xC2\xB5]") and "no " .. other or ("neither a line %s nor %s"):format(line, other)
  return ("%s in %s; %s"):format(none, output_of(gathered), hint(name, gathered, text, inside))
end

-- Why a METRIC line does not count: a command after the one that printed or wrote it printed the metric as JSON.
local function printed_later(extractor, name, gathered)
  local named = extractor.json and gathered.named[name]
  local text = named and (fs.read(gathered.stdout_path) or ""):sub(named.printed + 1) or ""
  if text == "" or not printed.number(text, extractor.json) then return nil end
  return ("a command prints %s as JSON, and %s before it gave METRIC %s: which one counts is not clear; let the "
    .. "command that measures write a METRIC line to the file that APSIS_METRICS names"):format(extractor.json,
    named.command, name)
end

-- Whether JSON that has no finite number at a name has null there, as it was printed: NaN is no rejection.
local function is_null(text, name)
  return (instead(text, name) or instead(text, name:match "[^.]*$")) == "null"
end

local function line_pattern(name) return "METRIC%s+" .. name:gsub("%W", "%%%0") .. "%s*=" end

-- Why the METRIC line does not count if JSON that was printed after it has null or no finite number in its place.
local function lost_later(extractor, name, gathered)
  if not extractor.json or gathered.private then return nil end
  local later = ("\n" .. (fs.read(gathered.stdout_path) or "")):match("^.*\n" .. line_pattern(name) .. "(.*)")
  local number, _, object = printed.number(later or "", extractor.json)
  if number ~= false then return nil end
  return is_null(later, extractor.json) and rejection(gathered, extractor.json, object)
    or ("the JSON after the last line METRIC %s has no finite number as %s, so there is no measurement"):format(name,
      extractor.json)
end

-- The line of a METRIC line of that name that is not finite, though none had a number before it; nil if there is none.
local function only_not_finite(name, near_misses)
  local pattern = "^%s*" .. line_pattern(name)
  for _, near in ipairs(near_misses) do
    if near.reason:find "^not finite" and near.text:find(pattern) then return near.line end
  end
end

-- The value of the METRIC line; without one, the number that the extractor names in JSON on standard output.
function extract.metric_lines(extractor, name, gathered)
  local value, not_finite = gathered.metrics[name], gathered.not_finite[name]
  local unclear = value and printed_later(extractor, name, gathered)
  if unclear then return nil, unclear end
  local lost = value and lost_later(extractor, name, gathered)
  if lost then return nil, lost end
  if value then return value end
  if not_finite then
    return nil, ("the last line METRIC %s (%s, line %d) is not finite, so there is no measurement"):format(name,
      not_finite.command, not_finite.line)
  end
  local line = extractor.json and only_not_finite(name, gathered.near_misses)
  if line then
    return nil, ("METRIC %s (line %d) is not finite, so there is no measurement"):format(name, line)
  end
  local reads = extractor.json and not gathered.private
  local text, several, object = reads and fs.read(gathered.stdout_path) or "", nil, nil
  if reads then value, several, object = printed.number(text, extractor.json) end
  if value then return value end
  local why = value == false and is_null(text, extractor.json) and rejection(gathered, extractor.json, object)
  if why then return nil, why end
  if several then
    return nil, ('the JSON in %s has "%s" in several places, and nowhere at its top: print it there, or a line '
      .. 'METRIC %s=NUMBER'):format(output_of(gathered), extractor.json, name)
  end
  return nil, no_such_line(name, extractor.json, gathered, text:sub(1, HINT_BYTES))
end

-- ---- files and streams ----

function extract.json_file(extractor, _, gathered)
  local text, message = fs.read(gathered.json_path, LARGEST_JSON + 1)
  if not text then return nil, ("%s: %s"):format(extractor.path, message) end
  return number_at(text, extractor.json_pointer, extractor.path, gathered)
end

function extract.stdout_json(extractor, _, gathered)
  return number_at(fs.read(gathered.stdout_path) or "", extractor.json_pointer, "stdout", gathered)
end

function extract.stdout_regex(extractor, _, gathered)
  return by_regex(fs.read(gathered.stdout_path) or "", extractor.regex, "stdout")
end

function extract.stderr_regex(extractor, _, gathered)
  return by_regex(fs.read(gathered.stderr_path) or "", extractor.regex, "stderr")
end

-- value | nil, why, and the names that have no value. Of spec.names, metrics that make up a value: nil, and why one of
-- them is missing, if one is.
function extract.primary(spec, gathered)
  local read, value, why, lacking = extract[spec.extractor.type], nil, nil, {}
  for _, name in ipairs(spec.names or { spec.name }) do
    local number, missing = read(spec.extractor, name, gathered)
    value, why = number, why or missing
    if not number then lacking[#lacking + 1] = name end
  end
  return not spec.names and value or nil, why, lacking
end

return extract
