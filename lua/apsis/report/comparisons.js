// comparisons: pairs of strategies as intervals: of the mean difference of their final best, positive if the first is
// better, or of the ratio of their evaluations, below 1 if the first is faster. The leader comes first.
// The word "better" only comes from the data's verdict.

const MEASURES = { best: "final best" };
const measureOf = one => one.measure === "time" ? `${unit} to ${percent(one.way)} of the way` : one.measure;
let unit = "evaluations"; // what running times are counted in
const estimate = one => known(one.ratio) ? one.ratio : one.difference;
const INTERVAL = { width: 180, height: 22, edge: 8 };

// One scale for the intervals of a measure, with its "no difference" in it.
function intervalScale(shown, none) {
  let low = none, high = none;
  for (const one of shown) {
    for (const value of [one.low, one.high, estimate(one)]) {
      if (known(value)) [low, high] = [Math.min(low, value), Math.max(high, value)];
    }
  }
  const span = high - low || 1, room = INTERVAL.width - 2 * INTERVAL.edge;
  return value => (INTERVAL.edge + (value - low) / span * room).toFixed(1);
}

const TONES = { better: "tone-better", worse: "tone-worse" };

function interval(one, x) {
  const middle = INTERVAL.height / 2, tone = TONES[one.verdict] || "tone-open";
  const picture = svg("svg", {
    viewBox: `0 0 ${INTERVAL.width} ${INTERVAL.height}`,
    width: INTERVAL.width,
    height: INTERVAL.height,
    class: "interval",
    "aria-hidden" : "true"
  },
    svg("path", { d: `M${x(known(one.ratio) ? 1 : 0)} 1v${INTERVAL.height - 2}`, class: "zero" }));
  if (known(one.low) && known(one.high)) {
    const end = value => `M${x(value)} ${middle - 4}v8`;
    const d = `M${x(one.low)} ${middle}H${x(one.high)}` + end(one.low) + end(one.high);
    picture.append(svg("path", { d, class: tone }));
  }
  if (known(estimate(one))) picture.append(svg("circle", { cx: x(estimate(one)), cy: middle, r: 4, class: tone }));
  return picture;
}

function chance(p) {
  if (!known(p)) return NO_VALUE;
  return p < 0.0001 ? "<0.0001" : String(Number(p.toPrecision(2)));
}

// A difference and its interval to the place that counts: three digits of the larger of it and the interval's width.
function gainText(one) {
  const { difference, low, high } = one;
  if (known(one.ratio)) {
    const text = value => known(value) ? value.toFixed(2) : NO_VALUE;
    return `×${text(one.ratio)} [${text(low)}, ${text(high)}]`;
  }
  if (!known(difference)) return NO_VALUE;
  if (!known(low) || !known(high)) return delta(Number(difference.toPrecision(3)));
  const size = Math.max(Math.abs(difference), high - low);
  if (size >= 1e9 || size < 1e-9) return `${delta(Number(difference.toPrecision(3)))} [${short(low)}, ${short(high)}]`;
  const places = Math.max(0, 2 - Math.floor(Math.log10(size)));
  const text = value => signed((Number(value.toFixed(places)) || 0).toFixed(places)); // no -0
  return `${difference > 0 ? "+" : ""}${text(difference)} [${text(low)}, ${text(high)}]`;
}

function comparisonRow(one, x, early) {
  const names = [one.a, one.b].filter(name => early.has(name)).map(clean);
  const who = el("span", {}, `${clean(one.a)} against ${clean(one.b)}`,
    names.length ? el("small", {}, `ended early: ${names.join(", ")}`) : null);
  const verdict = { text: one.verdict || NO_VALUE, className: "verdict" };
  if (TONES[one.verdict]) verdict.className += " " + TONES[one.verdict];
  return [{ node: who }, verdict, gainText(one), chance(one.p_holm), { node: interval(one, x) }];
}

// early: the names of those whose runs ended early.
function comparisons(all, title, early) {
  const groups = [...new Set(all.map(measureOf))];
  if (groups.length === 0) return null;
  const head = [
    { text: "first against second" }, { text: "shown", label: "" }, { text: "gain or ratio [95 %]", right: true },
    { text: "p, corrected", right: true }, { text: "interval", label: "" }
  ];
  const note = "The leader is listed first. Final best: the mean of the differences, seed by seed, positive if the "
    + "first is better. Running times: the ratio of the means, below 1 if the first is faster. The dotted line marks "
    + "no difference. The intervals are each pair's own; p is corrected for all of them, so that it can say less.";
  return figure(title, note, ...groups.map(measure => {
    const shown = all.filter(one => measureOf(one) === measure);
    const x = intervalScale(shown, shown.some(one => known(one.ratio)) ? 1 : 0);
    const rows = shown.map(one => comparisonRow(one, x, early)), name = MEASURES[measure] || measure;
    return el("div", { class: "group" }, el("h4", {}, name), table(`${title}: ${name}`, head, rows, { cards: true }));
  }));
}

// The verdicts over all worlds, with the ranks of Friedman's test if there are any.
function overall(data, id, heading) {
  const shown = list(data.overall), test = data.friedman;
  if (shown.length === 0 && !test) return null;
  const x = intervalScale(shown, 1);
  const head = [
    { text: "first against second" }, { text: "shown", label: "" }, { text: "ratio [95 %]", right: true },
    { text: "p, corrected", right: true }, { text: "faster on", right: true }, { text: "slower on", right: true },
    { text: "interval", label: "" }
  ];
  const rows = shown.map(one => {
    const [who, verdict, ratio, p, picture] = comparisonRow(one, x, new Set());
    return [who, verdict, ratio, p, `${number(one.faster)} of ${number(one.worlds)}`, number(one.slower), picture];
  });
  const note = `The ${unit} of the first over those of the second, to 50, 90 and 100 % of the way, the geometric mean `
    + "of all worlds; below 1 the first is faster. The interval speaks of other worlds like these. "
    + "Faster, slower: on how many worlds that is shown at some target. With fewer than 5 worlds there is no verdict.";
  return el("section", { id }, el(heading, {}, "Over all worlds"), el("p", {}, note),
    rows.length ? table("Over all worlds", head, rows, { cards: true }) : null, test ? friedman(test) : null);
}

function friedman(test) {
  const ranks = list(test.ranks).map(one => `${clean(one.strategy)} ${one.rank.toFixed(2)}`).join(", ");
  const head = [{ text: "first before second" }, { text: "p (Nemenyi)", right: true }];
  const rows = list(test.pairs).map(one => [`${clean(one.a)} before ${clean(one.b)}`, chance(one.p)]);
  return el("div", { class: "group" }, el("h4", {}, "Ranks"),
    el("p", {}, `Friedman's test over ${plural(test.worlds, "world")}: p = ${chance(test.p)}. Mean ranks: ${ranks}.`),
    table("Pairs by rank", head, rows, { cards: true }));
}
