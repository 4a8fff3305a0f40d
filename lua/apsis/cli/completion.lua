-- completion: completion of the command line in bash, zsh and fish, made from the commands' own tables. Run by make:
-- apsis exec lua/apsis/cli/completion.lua bash|zsh|fish > FILE
local contract = require "apsis.core.strategy"
local declared = require "apsis.cli.declared"

local property, value_name, words = declared.property, declared.value_name, declared.words

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
# made by lua/apsis/cli/completion.lua
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
  local lines = { "# fish completion for apsis; made by lua/apsis/cli/completion.lua" }
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

local form = ({ bash = bash, zsh = zsh, fish = fish })[...]
if not form then
  io.stderr:write("usage: apsis exec lua/apsis/cli/completion.lua bash|zsh|fish > FILE\n")
  return 2
end
io.stdout:write(form(declared.commands()))
