-- cron: parses the five fields of a cron expression and finds the next matching minute, in UTC. Reads no clock.
local clock = require "apsis.core.clock"
local nearest = require "apsis.project.nearest"

local cron = {}

local DAY, MINUTE = 86400, 60
local LONGEST_DAYS = 41 * 366 -- 29 February on a given weekday may take forty years, around 2100
local THURSDAY = 4 -- the weekday of 1970-01-01

local months = { jan = 1, feb = 2, mar = 3, apr = 4, may = 5, jun = 6, jul = 7, aug = 8, sep = 9, oct = 10, nov = 11,
  dec = 12 }
local weekdays = { sun = 0, mon = 1, tue = 2, wed = 3, thu = 4, fri = 5, sat = 6 }

local fields = {
  { key = "minutes", word = "minute", low = 0, high = 59 },
  { key = "hours", word = "hour", low = 0, high = 23 },
  { key = "days", word = "day of the month", low = 1, high = 31 },
  { key = "months", word = "month", low = 1, high = 12, names = months },
  { key = "weekdays", word = "day of the week", low = 0, high = 7, most = 7, names = weekdays },
}

local function number_of(field, text)
  local number = text:find "^%d%d?$" and math.tointeger(text) or (field.names or {})[text]
  if number and number >= field.low and number <= field.high then return number end
end

-- The first and last value of "*", "5" or "1-5"; nil and why not.
local function range_of(field, text)
  if text == "*" then return field.low, field.high end
  local from, to = text:match "^([^-]+)%-([^-]+)$"
  local first, last = number_of(field, from or text), number_of(field, to or text)
  if to == "sun" then last = 7 end -- FRI-SUN
  if not first or not last then
    return nil, ("the %s is from %d to %d%s"):format(field.word, field.low, field.high, field.names
      and ", or a name's three letters" or "")
  end
  if first > last then
    return nil, ("the range runs backwards; write %s-%d,%d-%s"):format(from, field.high, field.low, to)
  end
  return first, last
end

-- Adds the values of one item of a field's list to a set. true; nil and why not.
local function add_item(field, set, text)
  local range, step = text, 1
  if text:find("/", 1, true) then
    local digits
    range, digits = text:match "^([^/]*)/(%d+)$"
    step = digits and #digits <= 3 and math.tointeger(digits)
    if not step or step == 0 then return nil, "a step is / and a number of 1 or more" end
    local most = field.most or field.high - field.low + 1
    if step > most then return nil, ("a step of the %s is %d at most"):format(field.word, most) end
    if number_of(field, range) then
      return nil, ("a step is taken through * or a range; write %s-%d/%d"):format(range, field.high, step)
    end
  end
  local first, last = range_of(field, range)
  if not first then return nil, last end
  for number = first, last, step do set[number] = true end
  return true
end

local function read_field(field, text)
  local set = {}
  for item in (text .. ","):gmatch "([^,]*)," do
    local ok, why = add_item(field, set, item)
    if not ok then return nil, ("%s %s: %s"):format(field.word, nearest.show(item), why) end
  end
  return set
end

-- The members of a set in order.
local function listed(set, field)
  local list = {}
  for number = field.low, field.high do
    if set[number] then list[#list + 1] = number end
  end
  return list
end

-- Whether any month has one of the days.
local function comes(spec)
  if spec.either then return true end
  for month in pairs(spec.months) do
    for day in pairs(spec.days) do
      if day <= clock.month_length(2000, month) then return true end -- a leap year
    end
  end
  return false
end

-- Parses five lower-case words; nil and why not.
function cron.parse(words)
  local spec = { kind = "cron" }
  for index, field in ipairs(fields) do
    local set, why = read_field(field, words[index])
    if not set then return nil, why end
    spec[field.key] = set
  end
  if spec.weekdays[7] then spec.weekdays[0] = true end
  spec.minutes, spec.hours = listed(spec.minutes, fields[1]), listed(spec.hours, fields[2])
  -- As in cron: one of the two day fields must match, or both if one of them begins with *.
  spec.either = words[3]:sub(1, 1) ~= "*" and words[5]:sub(1, 1) ~= "*"
  if not comes(spec) then return nil, "there is no such day in any year" end
  return spec
end

local function day_matches(spec, days, day)
  local of_month, of_week = spec.days[day], spec.weekdays[(days + THURSDAY) % 7]
  if spec.either then return of_month or of_week end
  return of_month and of_week
end

-- The first minute of a day at or after `from`, both in minutes.
local function minute_of(spec, from)
  for _, hour in ipairs(spec.hours) do
    for _, minute in ipairs(spec.minutes) do
      if hour * 60 + minute >= from then return hour * 60 + minute end
    end
  end
end

-- The first match strictly after `last`, in seconds since 1970.
function cron.next(spec, last)
  local minutes = math.floor(last) // MINUTE + 1
  local days, from = minutes // 1440, minutes % 1440
  local final = days + LONGEST_DAYS
  while days <= final do
    local year, month, day = clock.civil(days)
    if not spec.months[month] then
      days, from = days + clock.month_length(year, month) - day + 1, 0
    else
      local minute = day_matches(spec, days, day) and minute_of(spec, from)
      if minute then return days * DAY + minute * MINUTE end
      days, from = days + 1, 0
    end
  end
  error("a cron expression without a next time")
end

return cron
