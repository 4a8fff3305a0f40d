-- eval: the options of `apsis eval` that choose the domain and how much of it to score.
local environment = require "apsis.live.cage.environment"
local session = require "apsis.live.session"
local show = require "apsis.cli.table"
local suggest = require "apsis.suggest"

local eval = {}

function eval.options(parser)
  parser:option("--domain",
    "with the manifest's fitness: only this domain or component, and what it was made of"):argname "NAME"
  parser:option("--samples",
    "with fitness: this many items of each component, instead of the manifest's; -1 is all"):argname "N"
  parser:option("--workers", "with fitness: this many items at a time, instead of the manifest's"):argname "N"
end

-- Reduces a composite to the component that --domain names, by its name or else its domain. true | nil, message, 2.
local function choose_domain(self, name)
  local spec, names, chosen = self.manifest.fitness, {}, nil
  if not name or name == spec.domain or name == spec.name then return true end
  for _, key in ipairs { "name", "domain" } do
    for _, component in ipairs(spec.components or {}) do chosen = chosen or component[key] == name and component end
  end
  if chosen then
    chosen.samples, chosen.workers, chosen.staged, chosen.weight = spec.samples, spec.workers, spec.staged
      and chosen.tasks ~= nil, nil
    chosen.staged_threshold = chosen.staged and spec.staged_threshold or nil
    self.manifest.fitness, self.manifest.metric.name = chosen, chosen.name
    return true
  end
  for index, component in ipairs(spec.components or {}) do names[index] = component.name end
  table.insert(names, 1, spec.name)
  return nil, ("--domain: %s is none of the manifest's (%s: %s)%s"):format(show.line(name),
    self.manifest.where "fitness",
    table.concat(names, ", "), suggest.sentence(name, names)), 2
end

-- The session with the options applied; false, message, code; nil if there are no options.
function eval.session(self, args)
  if not (args.domain or args.samples or args.workers) then return nil end
  if not self.manifest.fitness then
    local option = args.domain and "--domain" or args.samples and "--samples" or "--workers"
    return false, ("%s: the manifest has no fitness; add for instance fitness: {domain: tests, run: "
      .. "make test}"):format(option), 2
  end
  local message, code
  self, message, code = session.configure(args.dir, { ["fitness.samples"] = args.samples,
    ["fitness.workers"] = args.workers })
  if not self then return false, message, code end
  environment.withhold_all(self.manifest) -- also for the components that are left out
  local ok
  ok, message, code = choose_domain(self, args.domain)
  if not ok then return false, message, code end
  return self
end

return eval
