-- manual: the man page, made from the commands' own tables. Run by make: apsis exec lua/apsis/cli/manual.lua > FILE
local contract = require "apsis.core.strategy"
local declared = require "apsis.cli.declared"
local host = require "apsis.host"
local schema = require "apsis.project.schema"

local property, value_name, words = declared.property, declared.value_name, declared.words

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
  { "refs/heads/apsis/NAME", "the branch with the kept changes" },
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

io.stdout:write(man(declared.commands()))
