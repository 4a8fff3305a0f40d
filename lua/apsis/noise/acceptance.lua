-- acceptance: is a candidate better if the metric is noisy? A cheap screen that can only reject, then a confirmation
-- by blinded labels that bounds the error of the whole run, whatever the noise. Requests measurements and takes their
-- values; draws only from the stream passed in. For strategies, the engine and the lab.
local gain = require "apsis.noise.gain"
local hooks = require "apsis.noise.hooks"
local power = require "apsis.noise.power"
local settings = require "apsis.noise.settings"
local state = require "apsis.noise.state"

return {
  presets = settings.presets, settings = settings.of, new = state.new, restore = state.restore,
  gain = gain.of, order = gain.order, power = power.of,
  init = hooks.init, learn = hooks.learn, accept = hooks.accept,
}
