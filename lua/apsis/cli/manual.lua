-- manual: the man page and the shells' completions, made from the commands' own tables. Run by make:
-- apsis exec lua/apsis/cli/manual.lua man|bash|zsh|fish > FILE
local contract = require "apsis.core.strategy"
local host = require "apsis.host"
local main = require "apsis.cli.main"
local schema = require "apsis.project.schema"

-- A parser that only records what a command declares.
local function recorder(name)
  local self = { name = name, arguments = {}, options = {} }
  local function element(list, kind)
    return function(_, names, doc)
      local made = { kind = kind, names = names, doc = doc or "" }
      list[#list + 1] = made
      return setmetatable(made, { __index = function(_, property)
        return function(_, value)
          rawset(made, "_" .. property, value == nil and true or value)
          return made
        end
      end })
    end
  end
  self.argument = element(self.arguments, "argument")
  self.option = element(self.options, "option")
  self.flag = element(self.options, "flag")
  function self.mutex(_, ...) return ... end
  return self
end

-- Every command with its summary, example, arguments and options.
local function gather()
  local commands = {}
  for _, entry in ipairs(main.commands()) do
    local command = entry[2]
    local parser = recorder(entry[1])
    if command.options then command.options(parser) end
    commands[#commands + 1] = { name = entry[1], summary = command.summary, example = command.example,
      raw = command.raw,
      arguments = parser.arguments, options = parser.options }
    table.insert(parser.options, { kind = "flag", names = "-h --help", doc = "help with an example" })
  end
  return commands
end

local function words(option)
  local list = {}
  for word in option.names:gmatch("%S+") do list[#list + 1] = word end
  return list
end

local function property(made, name)
  return rawget(made, "_" .. name)
end

local function value_name(option)
  if option.kind == "flag" then return nil end
  local choices = property(option, "choices")
  return property(option, "argname") or choices and table.concat(choices, "|") or "VALUE"
end

local function argument_text(argument)
  local name = argument.names:upper()
  local args = property(argument, "args")
  return args == "?" and "[" .. name .. "]" or args == "*" and "[" .. name .. "...]" or name
end

local function roff(text)
  text = text:gsub("\\", "\\e"):gsub("-", "\\-")
  return (text:gsub("^([.'])", "\\&%1"))
end

local function man_command(lines, command)
  local usage = { command.name }
  for _, argument in ipairs(command.arguments) do usage[#usage + 1] = argument_text(argument) end
  lines[#lines + 1] = ".SS " .. roff(table.concat(usage, " "))
  lines[#lines + 1] = roff(command.summary:sub(1, 1):upper() .. command.summary:sub(2) .. ".")
  for _, option in ipairs(command.options) do
    local value = value_name(option)
    lines[#lines + 1] = ".TP"
    lines[#lines + 1] = ("\\fB%s\\fR%s"):format(roff(table.concat(words(option), ", ")), value and " \\fI"
      .. roff(value) .. "\\fR" or "")
    lines[#lines + 1] = roff(option.doc)
  end
  lines[#lines + 1] = ".PP"
  lines[#lines + 1] = "Example: \\fB" .. roff(command.example or "apsis " .. command.name) .. "\\fR"
end

local exits = { "0: done", "2: usage or manifest", "3: git or the lock", "4: the provider",
  "5: the verification or the metric",
  "130: interrupted, with the state saved" }

-- The hooks of a strategy, one line each.
local hooks = {
  { "init(run)", "once, and whenever the journal is folded again: sets up run.memory" },
  { "plan(run)", "when a worker is free: the next proposal {parents, operator}, a list of them, or nil to wait" },
  { "prompt(run, proposal)", "the text, or messages, that a provider gets" },
  { "select(run, proposal, answers)", "which answer to verify" },
  { "stage(run, candidate, stage)", "after each stage of the verification: whether to go on" },
  { "accept(run, candidate)", "whether to keep it, and why; or \"measure\" and what to measure again" },
  { "learn(run, line)", "for every line of the journal: may write run.memory" },
  { "halt(run)", "before every plan: nil, or the reason to stop" },
}

local function add_terms(lines, pairs_of)
  for _, term in ipairs(pairs_of) do
    table.move({ ".TP", "\\fB" .. roff(term[1]) .. "\\fR", roff(term[2]) }, 1, 3, #lines + 1, lines)
  end
end

local function man_strategies(lines)
  table.move({ ".SH STRATEGIES",
    "A strategy is a Lua file that returns a table of hooks and options; hooks that it leaves out hill\\-climb.",
    "Its name or path is in the manifest, or after \\fB\\-\\-strategy\\fR. Shipped ones:",
    roff(table.concat(contract.shipped(), ", ") .. "."),
    "\\fBapsis strategies\\fR describes them, \\fBapsis init \\-\\-strategy mine.lua\\fR begins one with a test." },
    1, 5, #lines + 1, lines)
  add_terms(lines, hooks)
  table.move({ ".PP",
    "The reference of every hook, field and library function is in PREFIX/share/apsis/meta, beginning with run.lua, as",
    "annotations of the Lua language server. For completion and checks in an editor, point that server's setting",
    "workspace.library there; in .luarc.json of the project:", ".PP",
    "    {\"workspace.library\": [\"/usr/local/share/apsis/meta\"]}" }, 1, 6, #lines + 1, lines)
end

local function default_text(node)
  if node.default == nil or type(node.default) == "table" or node.default == "" then return "" end
  return (" (default %s)"):format(tostring(node.default))
end

-- Each key with its meaning, and the keys below it.
local function schema_terms(terms, fields, prefix)
  for _, field in ipairs(fields) do
    local name, node = prefix .. field[1], field[2]
    local allowed = node.allowed and " (one of " .. table.concat(node.allowed, ", ") .. ")" or ""
    terms[#terms + 1] = { name, node.doc .. allowed .. default_text(node) .. (node.required and "; required" or "") }
    local below = node.fields and node or node.item
    if below and below.fields then schema_terms(terms, below.fields, name .. (below ~= node and "[]." or ".")) end
  end
  return terms
end

local function man_manifest(lines)
  table.move({ ".SH MANIFEST", "The keys of manifest.yaml; name[] is each element of a list or mapping." }, 1, 2,
    #lines + 1, lines)
  add_terms(lines, schema_terms({}, schema.manifest.fields, ""))
end

local files = {
  { "manifest.yaml", "the project: what may change, how it is measured, who proposes" },
  { "program.md", "the instructions in prose, for providers that are asked with a prompt" },
  { "logs/", "results.jsonl is the journal, one line per experiment, from which all else follows; state.json is where "
    .. "the loop stands; directions.jsonl are the user's notes; apsis.log" },
  { "runs/NNNN/", "what one experiment left: proposal, prompt, plan, verifier's log, artifacts" },
  { ".apsis/", "the lock and the mark of a pause" },
  { "refs/apsis/NAME/", "in the repository: the newest candidates, the best and the baseline, as commits cNNNN" },
  { "refs/apsis-anchors/NAME/", "commits whose parents are the older candidates, 256 each" },
  { "refs/heads/apsis/NAME", "the branch that holds what was kept" },
  { ".autoloop/programs/NAME.md, .autoloop/programs/NAME/program.md", "a standing goal; its logs/ and runs/ are in "
    .. ".autoloop/programs/NAME/" },
  { ".autoloop/config.yaml", "what all standing goals of the repository share: keys of the manifest" },
  { "refs/heads/autoloop/NAME, refs/heads/memory/autoloop",
    "what was kept for a standing goal, and the state files of them all" },
  { ".apsis/autoloop.json", "what the newest `apsis tick` chose, and why not the others" },
}

local function man(commands)
  local lines = {
    '.\\" Made by lua/apsis/cli/manual.lua from the commands\' own tables.',
    (".TH APSIS 1 \"\" \"apsis %s\""):format(host.version), ".SH NAME",
      "apsis \\- measured improvement loops in a git repository",
    ".SH SYNOPSIS", ".B apsis", ".I COMMAND", ".RI [ OPTIONS ]", ".SH DESCRIPTION",
    "Proposes a change, measures it, keeps it or not, remembers, stops. A project is a directory with a manifest.yaml",
    "inside a git repository; what to try and what to keep is decided by a strategy, a small Lua file. Candidates are",
    "commits under refs/apsis and refs/apsis-anchors; the user's own files and branch are never touched.",
    ".SH COMMANDS",
  }
  for _, command in ipairs(commands) do man_command(lines, command) end
  man_strategies(lines)
  man_manifest(lines)
  lines[#lines + 1] = ".SH FILES"
  add_terms(lines, files)
  lines[#lines + 1] = "logs/, runs/ and .apsis/ are not to be committed."
  lines[#lines + 1] = ".SH EXIT STATUS"
  for _, text in ipairs(exits) do
    lines[#lines + 1] = ".TP"
    lines[#lines + 1] = (text:gsub(": .*", ""))
    lines[#lines + 1] = roff((text:gsub("^%d+: ", "")))
  end
  lines[#lines + 1] = ".SH ENVIRONMENT"
  lines[#lines + 1] = "XDG_CONFIG_HOME (apsis/config.yaml there is the user's file), XDG_CACHE_HOME (workspaces),"
  lines[#lines + 1] = "APSIS_HOME (read the Lua files from this tree), APSIS_NOW (the time of day, for schedules and "
    .. "timestamps: an ISO"
  lines[#lines + 1] = "time or seconds since 1970)"
  return table.concat(lines, "\n") .. "\n"
end

local function all_words(command)
  local list = {}
  for _, option in ipairs(command.options) do table.move(words(option), 1, #words(option), #list + 1, list) end
  return table.concat(list, " ")
end

-- Whether an option takes a shipped strategy's name, or a .lua file.
local function takes_strategy(option)
  return option.names == "--strategy" and property(option, "argname") == "NAME"
end

-- The words that can follow an option, if known.
local function choices_of(option)
  local choices = takes_strategy(option) and contract.shipped() or property(option, "choices")
  return type(choices) == "table" and table.concat(choices, " ") or nil
end

local function bash(commands)
  local names, cases, values = {}, {}, {}
  for index, command in ipairs(commands) do
    names[index] = command.name
    cases[#cases + 1] = ("    %s) words='%s' ;;"):format(command.name, all_words(command))
    for _, option in ipairs(command.options) do
      local choices = choices_of(option)
      if choices then
        values[#values + 1] = ("    %s\\ %s) words='%s' %s;;"):format(command.name, words(option)[#words(option)],
          choices, takes_strategy(option) and "suffix=lua " or "")
      end
    end
  end
  return ([[
# bash completion for apsis; made by lua/apsis/cli/manual.lua
_apsis() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words= suffix=
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '%s --help --version' -- "$word"))
    return
  fi
  case "${COMP_WORDS[1]} $before" in
    strategies\ strategies) case $word in -*) ;; *) words='%s' suffix=lua ;; esac ;;
%s
  esac
  if [ -n "$words" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    [ -z "$suffix" ] || COMPREPLY+=($(compgen -f -X "!*.$suffix" -- "$word") $(compgen -d -- "$word"))
    return
  fi
  case "${COMP_WORDS[1]}" in
%s
  esac
  if [ "${word#-}" != "$word" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}
complete -o filenames -F _apsis apsis
]]):format(table.concat(names, " "), table.concat(contract.shipped(), " "), table.concat(values, "\n"),
    table.concat(cases, "\n"))
end

local function quoted(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

local function zsh_option(option)
  local parts, list = {}, words(option)
  local doc = option.doc:gsub("[%[%]:\\]", "\\%0")
  for _, word in ipairs(list) do
    local value = value_name(option)
    local choices = choices_of(option)
    local action = takes_strategy(option) and "{compadd " .. choices .. "; _files}"
      or choices and "(" .. choices .. ")" or "_files"
    local after = value and (":%s:%s"):format((value:gsub("[:|]", " ")), action) or ""
    parts[#parts + 1] = quoted(("%s[%s]%s"):format(word, doc, after))
  end
  return table.concat(parts, " ")
end

local function zsh(commands)
  local described, cases = {}, {}
  for index, command in ipairs(commands) do
    described[index] = "    " .. quoted(command.name .. ":" .. command.summary:gsub(":", "\\:"))
    local options = {}
    for place, option in ipairs(command.options) do options[place] = zsh_option(option) end
    cases[#cases + 1] = ("    %s) _arguments -s %s '*:file:_files' ;;"):format(command.name, table.concat(options, " "))
  end
  return ([[
#compdef apsis
# made by lua/apsis/cli/manual.lua
_apsis() {
  local -a commands
  commands=(
%s
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
%s
  esac
}
_apsis "$@"
]]):format(table.concat(described, "\n"), table.concat(cases, "\n"))
end

local function fish(commands)
  local lines = { "# fish completion for apsis; made by lua/apsis/cli/manual.lua" }
  for _, command in ipairs(commands) do
    lines[#lines + 1] = ("complete -c apsis -n __fish_use_subcommand -a %s -d %s"):format(command.name,
      quoted(command.summary))
    for _, option in ipairs(command.options) do
      local flags = {}
      for _, word in ipairs(words(option)) do
        flags[#flags + 1] = word:find("^%-%-") and "-l " .. word:sub(3) or "-s " .. word:sub(2)
      end
      local choices = choices_of(option)
      local after = choices and (takes_strategy(option) and " -ra " or " -xa ") .. quoted(choices) or " -r"
      if option.kind == "flag" then after = "" end
      lines[#lines + 1] = ("complete -c apsis -n '__fish_seen_subcommand_from %s' %s%s -d %s"):format(command.name,
        table.concat(flags, " "), after, quoted(option.doc))
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

local forms = { man = man, bash = bash, zsh = zsh, fish = fish }
local form = forms[...]
if not form then
  io.stderr:write("usage: apsis exec lua/apsis/cli/manual.lua man|bash|zsh|fish > FILE\n")
  return 2
end
io.stdout:write(form(gather()))
return 0
