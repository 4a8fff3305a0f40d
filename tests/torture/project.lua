-- project: what is tortured: a small repository whose number is to become lower, with a Lua function or a shell script as its
-- provider. Some answers fail, change nothing, leave the scope; some candidates crash, kill themselves, leave daemons. Makes it,
-- starts apsis on it, says what an answer and a measurement must have been. Called by torture, session and checks.
local fs = require "apsis.fs"
local process = require "apsis.process"
local victims = require "victims"

local project = {}

local Project = {}
Project.__index = Project

local manifest = [[
version: 1
project: {name: torture}
seed: %d
files: [{path: "value*.txt", mode: writable}, {path: measure.sh, mode: hidden}]
verification: {commands: [{name: measure, run: 'exec sh measure.sh "$APSIS_EXPERIMENT" %s'}]}
metric: {name: score, direction: lower}
strategy: {use: hillclimb, options: {patience: 1000000}}
provider: %s
budget: {iterations: %d}
execution: {workers: %d}
]]

local providers = {
  lua = "{kind: lua, use: provider.lua}",
  command = [[{kind: command, run: 'exec sh agent.sh "$APSIS_EXPERIMENT" %s "%a"', retries: 0, allow: ['%a:rw']}]],
}

local files = {
  ["provider.lua"] = [[
return function(_, workspace)
  local rng, text = workspace.rng, workspace:read "value.txt"
  local what = rng:random()
  if what < 0.05 then return nil, "no idea" end
  if what < 0.1 then return { ["value.txt"] = text } end
  if what < 0.15 then return { ["elsewhere.txt"] = "out of scope\n" } end
  local edits = { ["value.txt"] = ("%d\n"):format(tonumber(text) + rng:integer(-50, 60)) }
  if what < 0.3 then edits["value_" .. rng:integer(1, 9) .. ".txt"] = ("more\n"):rep(rng:integer(1, 9)) end
  return edits, { hypothesis = "another number" }
end
]],
  -- project.answer says the same in Lua
  ["agent.sh"] = [[
echo $1 >> "$3/askings"
trap '[ $? != 0 ] || echo $1 >> "$3/ends"' EXIT
read -r seed < seed.txt
read -r value < value.txt
roll=$((((value * 104729 + $1 * 7919 + seed) % 1000 + 1000) % 1000))
sleep 0.00$((roll % 7))
[ $((roll % 10)) != 4 ] || setsid sleep 100.$2 > /dev/null 2>&1 &
if [ $roll -lt 50 ]; then
    echo "no idea" >&2
    exit 1
elif [ $roll -lt 100 ]; then
    exit 0
elif [ $roll -lt 150 ]; then
    echo "out of scope" > elsewhere.txt
    exit 0
fi
echo torn > value.txt
sleep 0.00$((roll % 4))
echo $((value + roll % 111 - 50)) > value.txt
echo $roll > "$APSIS_RUN_DIR/roll.txt"
]],
  ["measure.sh"] = [[
read -r value < value.txt
case $value in
*3) setsid sleep 100.$2 > /dev/null 2>&1 & ;;
*7) echo "this one crashes" >&2; sleep 0.003; exit 3 ;;
*9) echo "by its own hand" >&2; kill -9 $$ ;;
esac
sleep 0.00$((value * value % 9))
echo "METRIC score=$value"
]],
  ["value.txt"] = "1000\n",
  [".gitignore"] = "/logs/\n/runs/\n/.apsis/\n",
}

-- What agent.sh makes of a number: another one, "fails", "same" or "outside".
function project.answer(seed, experiment, value)
  local roll = (value * 104729 + experiment * 7919 + seed) % 1000
  if roll < 50 then return "fails" end
  if roll < 100 then return "same" end
  if roll < 150 then return "outside" end
  local answer = value + roll % 111 - 50
  return answer == value and "same" or answer
end

-- What measure.sh makes of a number where nobody disturbs it: the number itself, or nil and what stands in the reason.
function project.measured(value)
  if value % 10 == 7 then return nil, "exit 3: this one crashes" end
  if value % 10 == 9 then return nil, "killed by SIGKILL: by its own hand" end
  return value
end

-- The place of all projects: { apsis (the program), root (their folder), tag (digits, which every process of theirs carries),
-- seed }.
function project.place(place)
  place.environment = { HOME = place.root .. "/home", XDG_CACHE_HOME = place.root .. "/cache", XDG_CONFIG_HOME = place.root .. "/config",
    APSIS_HOME = false, APSIS_CAGE = false, APSIS_TORTURE = place.tag, GIT_CONFIG_NOSYSTEM = "1", GIT_AUTHOR_NAME = "torture",
    GIT_AUTHOR_EMAIL = "torture@localhost", GIT_COMMITTER_NAME = "torture", GIT_COMMITTER_EMAIL = "torture@localhost" }
  project.at = place
end

-- Ends the torture: what differed, and where to look.
function Project:fail(text, ...)
  io.stdout:flush()
  if self.apsis then victims.signal(self.apsis, "KILL") end
  io.stderr:write(("torture: seed %d, project %s (%s) after %d kills: %s\n"):format(project.at.seed, self.dir, self.title, self.kills,
    text:format(...)))
  io.stderr:write((fs.read(self.dir .. ".log") or ""):sub(-2000), "\n")
  os.exit(1)
end

-- What a command says, run in the project; one that fails ends the torture.
function Project:output(argv)
  local result = assert(process.run { argv = argv, env = project.at.environment, cwd = self.dir, head_bytes = 1 << 26 })
  if result.code ~= 0 then
    self:fail("%s: exit %s: %s%s", table.concat(argv, " "), result.code, result.stdout.head, result.stderr.head)
  end
  return result.stdout.head
end

-- A new project, with its baseline. what: { name, number (its seed), workers, provider, victims ("apsis", or "all" kinds), cage
-- ("subreaper", or nil), experiments }.
function project.make(what)
  local at = project.at
  local self = setmetatable({ dir = at.root .. "/" .. what.name, asked = ("%s/%d.asked"):format(at.root, what.number),
    kills = 0, seen = "", answered = {} }, Project) -- asked: a path of the manifest, the same for one that is left alone
  for key, value in pairs(what) do self[key] = value end
  self.title = ("%d worker%s, %s provider%s"):format(self.workers, self.workers == 1 and "" or "s", self.provider,
    self.cage and ", " .. self.cage or "")
  assert(fs.mkdir(self.dir))
  assert(fs.mkdir(at.environment.HOME))
  assert(fs.mkdir(self.asked))
  local provider = providers[self.provider]:gsub("%%s", at.tag):gsub("%%a", self.asked)
  for path, text in pairs(files) do assert(fs.write(self.dir .. "/" .. path, text)) end
  assert(fs.write(self.dir .. "/seed.txt", self.number .. "\n"))
  assert(fs.write(self.dir .. "/manifest.yaml", manifest:format(self.number, at.tag, provider, self.experiments, self.workers)))
  self:output { "git", "init", "-q" }
  self:output { "git", "add", "-A" }
  self:output { "git", "commit", "-q", "-m", "start" }
  self:output { at.apsis, "baseline", "-q" }
  return self
end

local function quote(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

-- Starts apsis with these words, or a run. { pid, ended() -> its exit code }.
function Project:start(given)
  local command = {}
  for index, word in ipairs(given or { "run", "-q", self.dir }) do command[index] = quote(word) end
  local words = { "env -u APSIS_HOME", self.cage and "APSIS_CAGE=" .. self.cage or "-u APSIS_CAGE" }
  for name, value in pairs(project.at.environment) do
    if value then words[#words + 1] = quote(name .. "=" .. value) end
  end
  local pipe = assert(io.popen(("%s %s %s >> %s 2>&1 & echo $!; wait $! 2> /dev/null; echo $?"):format(table.concat(words, " "),
    quote(project.at.apsis), table.concat(command, " "), quote(self.dir .. ".log"))))
  self.apsis = assert(math.tointeger(tonumber(pipe:read "l")))
  return { pid = self.apsis, ended = function()
    local code = tonumber(pipe:read "l")
    pipe:close()
    self.apsis = nil
    return code
  end }
end

-- How often each experiment was asked for, or (file: "ends") its command came to its last step; and in all.
function Project:askings(file)
  local counts, sum = {}, 0
  for number in (fs.read(self.asked .. "/" .. (file or "askings")) or ""):gmatch "(%d+)\n" do
    number, sum = math.tointeger(tonumber(number)), sum + 1
    counts[number] = (counts[number] or 0) + 1
  end
  return counts, sum
end

function Project:remove()
  fs.remove_tree(self.asked)
  fs.remove_tree(self.dir)
end

return project
