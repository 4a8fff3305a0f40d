-- completion: completion of the command line in bash, zsh and fish, made from the commands' own tables. Run by make:
-- apsis exec lua/apsis/cli/completion.lua bash|zsh|fish > FILE
local contract = require "apsis.core.strategy"
local declared = require "apsis.cli.declared"
local lines = require "apsis.core.line"
local rooms = require "apsis.core.rooms"
local suggest = require "apsis.suggest"

local property, value_name, words = declared.property, declared.value_name, declared.words

-- The options of the shipped strategies, as "patience=".
local function option_keys()
  local keys = {}
  for _, name in ipairs(contract.shipped()) do
    local strategy = assert(contract.load { use = name, options = {} })
    for key in pairs(strategy.own.options or {}) do keys[key .. "="] = true end
  end
  return suggest.names(keys)
end

-- The words of options that declare no choices, since they take more than one of them, or more than these.
local known = { ["--outcome"] = suggest.names(lines.status_of), ["--world"] = suggest.names(rooms.modules "worlds"),
  ["--set"] = option_keys(), ["--sweep"] = option_keys() }

-- Only names that are ids: bash evaluates the words of `compgen -W` again, and a ref may be named $(...).
local IDS = "best baseline current $(git for-each-ref --format='%(refname:lstrip=-1)' refs/apsis 2>/dev/null "
  .. "| grep -x 'c[0-9]*')"

-- Whether a command's arguments name candidates.
local function takes_id(command)
  for _, argument in ipairs(command.arguments) do
    if argument.names == "id" then return true end
  end
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
  local choices = takes_strategy(option) and contract.shipped() or property(option, "choices") or known[option.names]
  return type(choices) == "table" and table.concat(choices, " ") or nil
end

local function bash(commands)
  local names, cases, values, with_id = {}, {}, {}, {}
  for index, command in ipairs(commands) do
    names[index] = command.name
    if takes_id(command) then with_id[#with_id + 1] = command.name end
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
# bash completion for apsis; made by lua/apsis/cli/completion.lua
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
    case $words in *=*) compopt -o nospace ;; esac
    [ -z "$suffix" ] || COMPREPLY+=($(compgen -f -X "!*.$suffix" -- "$word") $(compgen -d -- "$word"))
    return
  fi
  case "${COMP_WORDS[1]}" in
%s
  esac
  if [ "${word#-}" != "$word" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  else
    case ${COMP_WORDS[1]} in
      %s) COMPREPLY=($(compgen -W "%s" -- "$word")) ;;
      *) COMPREPLY=($(compgen -f -- "$word")) ;;
    esac
  fi
}
complete -o filenames -F _apsis apsis
]]):format(table.concat(names, " "), table.concat(contract.shipped(), " "), table.concat(values, "\n"),
    table.concat(cases, "\n"), table.concat(with_id, "|"), IDS)
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
      or choices and choices:find("=", 1, true) and "{compadd -S '' " .. choices .. "}"
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
    local rest = takes_id(command) and "'*:candidate:_apsis_ids'" or "'*:file:_files'"
    cases[#cases + 1] = ("    %s) _arguments -s %s %s ;;"):format(command.name, table.concat(options, " "), rest)
  end
  return ([[
#compdef apsis
# made by lua/apsis/cli/completion.lua
_apsis_ids() {
  compadd %s
}
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
]]):format(IDS, table.concat(described, "\n"), table.concat(cases, "\n"))
end

local function fish(commands)
  local made = { "# fish completion for apsis; made by lua/apsis/cli/completion.lua" }
  for _, command in ipairs(commands) do
    made[#made + 1] = ("complete -c apsis -n __fish_use_subcommand -a %s -d %s"):format(command.name,
      quoted(command.summary))
    if takes_id(command) then
      made[#made + 1] = ("complete -c apsis -n '__fish_seen_subcommand_from %s' -f -a %s"):format(command.name,
        quoted((IDS:gsub("%$%(", "("))))
    end
    for _, option in ipairs(command.options) do
      local flags = {}
      for _, word in ipairs(words(option)) do
        flags[#flags + 1] = word:find("^%-%-") and "-l " .. word:sub(3) or "-s " .. word:sub(2)
      end
      local choices = choices_of(option)
      local after = choices and (takes_strategy(option) and " -ra " or " -xa ") .. quoted(choices) or " -r"
      if option.kind == "flag" then after = "" end
      made[#made + 1] = ("complete -c apsis -n '__fish_seen_subcommand_from %s' %s%s -d %s"):format(command.name,
        table.concat(flags, " "), after, quoted(option.doc))
    end
  end
  return table.concat(made, "\n") .. "\n"
end

local form = ({ bash = bash, zsh = zsh, fish = fish })[...]
if not form then
  io.stderr:write("usage: apsis exec lua/apsis/cli/completion.lua bash|zsh|fish > FILE\n")
  return 2
end
io.stdout:write(form(declared.commands()))
