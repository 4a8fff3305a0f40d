-- acceptance: is a candidate better where the metric is noisy? A cheap screen that can only reject, then a confirmation
-- by blinded labels whose error is bounded whatever the noise, over all of a run together. Says what is to be measured
-- next, and is told what it was; measures nothing, reads no clock and draws only from the stream it is handed. For
-- strategies, the engine and the lab.
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
