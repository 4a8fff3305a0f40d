// run: the page of one run: values by experiment, lineage, grid, outcomes, spending, the best.

const idOf = number => "c" + String(number).padStart(4, "0");

const STATES = { kept: "kept", baseline: "kept", measured: "again", asked: "again" };

// The outcome of each experiment as one of kept, again, rejected, failed (which has no value).
function stateOf(data, index) {
  const state = STATES[data.outcomes[data.columns.outcome[index]].name];
  return state || (known(data.columns.value[index]) ? "rejected" : "failed");
}

function words(name) {
  return clean(name).replace(/_/g, " ");
}

// The gain as measured again at the end of a run: of the best, or of an earlier best.
const interval = gain => `[${short(gain.low)}..${short(gain.high)}]`;

function gainFact(data) {
  const gain = data.gain;
  const shown = gain.exact ? [ number(gain.gain) ] : [ short(gain.gain) + " ", el("small", {}, interval(gain)) ];
  const share = known(gain.relative) ? short(Number((100 * gain.relative).toPrecision(3))) + "\u00a0%, " : "";
  return [ "gained, measured again", el("span", {}, ...shown), `${share}${gain.candidate} against ${gain.original}` ];
}

// A value of the metric, with its unit.
const amount = (data, value) => number(value) + (data.unit ? "\u00a0" + clean(data.unit) : "");

function deltaFact(data) {
  if (!known(data.gained) || isBaseline(data)) return null;
  return [ "against the baseline", delta(data.gained), "from " + amount(data, data.baseline.value) +
    (data.share ? ` (${data.share})` : "") + (data.doubt ? ", " + data.doubt : "") ];
}

const isBaseline = data => Boolean(data.best && data.baseline && data.best.id === data.baseline.id);

const isOfBest = data => Boolean(data.gain && data.best && data.gain.candidate === data.best.id);

// What the interval says, in words.
function gainWords(gain) {
  if (gain.exact) return "Both were the same when they were measured again.";
  const said = gain.low > 0 ? "" : gain.high < 0 ? " It is below 0: a loss." : " 0 is within it: no gain is shown.";
  return `Each was measured ${plural(gain.pairs, "time")} more, in random order, after everything was chosen; ` +
    `a gain above 0 is better, and in brackets is its confidence interval.${said}`;
}

function gainNote(data) {
  const gain = data.gain;
  if (isOfBest(data)) return gainWords(gain);
  if (!data.best || isBaseline(data) || !(data.judged || gain)) return null;
  const note = "The gain of the best has not been measured again: the measurements that chose it favour it.";
  if (!gain) return note;
  const gained = gain.exact ? number(gain.gain) : short(gain.gain) + " " + interval(gain);
  return `${note} ${gain.candidate}, the best before, had gained ${gained} against ${gain.original}, ` +
    `measured again; ${data.best.id} was kept since.`;
}

function strategyWords(data) {
  const names = list(data.strategies);
  if (names.length > 1) return ". Strategies: " + names.join(", ");
  return data.strategy ? ". Strategy: " + data.strategy : "";
}

function header(page, data) {
  const best = data.best, lead = data.description, note = gainNote(data);
  document.title = clean(data.project || "apsis") + " \u2013 apsis report";
  page.append(el("header", {}, el("p", { class: "eyebrow" }, "apsis report"), el("h1", {}, data.project || "a run"),
    lead ? el("p", { class: "lead" }, lead) : null,
    data.headline ? el("p", { class: "headline" }, data.headline) : null,
    el("p", { class: "status" }, el("strong", {}, data.metric), ", " + data.words + ". ",
      "Run: " + data.status + (data.reason && data.reason !== data.status ? ": " + data.reason: "") +
        strategyWords(data) + "."),
    data.altered ? el("p", { class: "status" }, el("strong", {}, "Altered"), ": " + data.altered) : null));
  if (!data.columns.number || list(data.columns.number).length === 0) return false;
  page.append(facts([
    [ "best", best ? amount(data, best.value) : NO_VALUE, best ? best.id : "no candidate has a value yet" ],
    isOfBest(data) ? gainFact(data) : deltaFact(data),
    ...list(data.more).map(one => [ one.label, one.value, one.detail ]),
    known(data.target) ? [ "target", amount(data, data.target) ] : null,
    [ "experiments", number(data.experiments), number(data.kept) + " kept" ],
    known(data.totals.tokens) && data.totals.tokens > 0 ? [ "tokens", number(data.totals.tokens) ] : null,
    known(data.totals.usd) && data.totals.usd > 0 ? [ "US dollars", number(Number(data.totals.usd.toFixed(2))) ] : null,
    [ "experiment time", duration(data.totals.minutes), "all workers together" ],
    known(data.totals.measured) && data.totals.measured > 0 ? [ "on other machines", duration(data.totals.measured),
      "and " + duration(data.totals.queued) + " in the queue" ] : null,
  ]));
  if (note) page.append(el("p", { class: "gain" }, note));
  return true;
}

// The value at a share of the axis above another.
function along(range, log, share) {
  if (log) return range.low * Math.pow(range.high / range.low, share);
  return range.low + ((range.high - range.low) || Math.abs(range.high) || 1) * share;
}

// The marks of each state on an axis of range; those beyond it or without a value are drawn inside its frame.
function scatter(data, range, log) {
  const groups = { kept: [], rejected: [], beyond: [], keptBeyond: [], failed: [], again: [] };
  const low = range ? along(range, log, -0.08) : 0, high = range ? along(range, log, 1.08) : 1;
  const under = range ? along(range, log, -0.05) : 0.02, over = range ? along(range, log, 1.05) : 1;
  list(data.columns.number).forEach((x, index) => {
    const state = stateOf(data, index), value = data.columns.value[index];
    if (state === "again" || index < data.earlier) return;
    const beyond = state === "kept" ? groups.keptBeyond : groups.beyond;
    if (!known(value)) groups.failed.push({ x, y: under, index });
    else if (value > range.high) beyond.push({ x, y: over, index });
    else if (value < range.low) beyond.push({ x, y: under, index, below: true });
    else groups[state].push({ x, y: value, index });
  });
  return { groups, low, high };
}

// Experiment numbers may go back, because lines are in the order of their end; the line of the best does not.
function bestLine(data) {
  const points = [], numbers = list(data.columns.number);
  let last, x = 0;
  numbers.forEach((number_, index) => {
    const y = data.columns.best[index];
    x = Math.max(x, number_);
    if (index < data.earlier) return;
    if (known(y) && (y !== last || index === numbers.length - 1)) points.push({ x, y });
    if (known(y)) last = y;
  });
  return points;
}

const lastNumber = data => list(data.columns.number).reduce((most, one) => Math.max(most, one), 0);

const MANY = 100; // marks of a kind: more are smaller, without an edge and paler

function dots(label, points, tint, more) {
  const [pointRadius, alpha] = points.length > 1500 ? [1.5, 0.25] : points.length > MANY ? [2, 0.35] : [3, 0.5];
  const border = { pointBorderWidth: 1, pointBorderColor: "transparent" };
  const look = { pointRadius, pointHoverRadius: 5, pointBackgroundColor: faded(tint, alpha), ...border };
  return { label, data: points, showLine: false, clip: false, ...look, ...more };
}

// Triangles that point to where the values are.
function outside(label, points, tint, more) {
  const turn = context => (context.raw && context.raw.below ? 180 : 0);
  return dots(label, points, tint, { pointStyle: "triangle", pointRadius: 4, pointRotation: turn, ...more });
}

function progressDatasets(data, sets, best) {
  const last = lastNumber(data);
  return colours => {
    const { kept, keptBeyond, rejected, beyond, failed } = sets.now.groups, many = kept.length > MANY;
    const found = [
      line("best so far", 0, colours, best, { borderWidth: 2, order: 0, silent: true }),
      dots("kept", kept, colour(colours, 0),
        { pointRadius: many ? 2 : 4, pointBorderColor: many ? "transparent" : colours.page, order: 1,
          pointBackgroundColor: faded(colour(colours, 0), many ? 0.4 : 1) }),
      outside("kept, beyond the axis", keptBeyond, colour(colours, 0), { order: 2 }),
      dots("rejected", rejected, colour(colours, 1), { order: 3 }),
      outside("beyond the axis", beyond, colour(colours, 1), { order: 4 }),
      dots("no value", failed, colours.muted,
        { pointStyle: "crossRot", pointBorderColor: faded(colours.muted, failed.length > MANY ? 0.5 : 1), order: 5 })
    ];
    if (known(data.target) && data.target >= sets.now.low && data.target <= sets.now.high) {
      found.push({
        label: "target",
        data: [{ x: 0, y: data.target }, { x: last, y: data.target }],
        borderColor: colour(colours, 2),
        borderDash: [6, 4],
        borderWidth: 1.5,
        pointRadius: 0,
        silent: true,
        order: 6
      });
    }
    return found;
  };
}

function progressLegend(data, sets) {
  const { kept, keptBeyond, rejected, beyond, failed } = sets.groups;
  const entries = [{ name: "best so far", className: "stroke0" }];
  const add = (name, group, shape, className) =>
    entries.push({ name: `${name} (${number(group.length)})`, shape, className });
  add("baseline and kept", kept, "dot", "fill0");
  add("rejected", rejected, "dot", "fill1 pale");
  if (keptBeyond.length) add("kept, beyond the axis", keptBeyond, "triangle", "fill0 pale");
  if (beyond.length) add("rejected, beyond the axis", beyond, "triangle", "fill1 pale");
  if (failed.length) add("no value", failed, "cross", "stroke-muted");
  if (known(data.target) && data.target >= sets.low && data.target <= sets.high)
    entries.push({ name: "target", className: "stroke2", dash: [6, 4] });
  return legend(entries);
}

function progressLabel(data, groups) {
  const { kept, keptBeyond, rejected, beyond, failed } = groups;
  const best = data.best ? `the best is ${amount(data, data.best.value)} (${data.best.id})` : "there is no best yet";
  const of = (data.thinned ? data.thinned.of : data.columns.number.length) - data.began;
  const drawn = data.thinned ? `; drawn are ${number(data.thinned.shown)}: ` : "; ";
  return `${data.metric} over ${plural(of, "line")} of the journal, ${data.words}: ${best}${drawn}` +
    `${number(kept.length + keptBeyond.length)} kept, ${number(rejected.length + beyond.length)} rejected, ` +
    `${number(failed.length)} without a value.`;
}

// What is drawn of a long run; the counts beside the marks are of that.
function thinWords(data) {
  const thin = data.thinned;
  return thin ? `Drawn are ${number(thin.shown)} of ${number(thin.of)} experiments, taken evenly. ` : "";
}

// Between the middle of the values, at which the chart begins, and all that was kept.
function rangeSwitch(data, show) {
  if (!data.axis || !data.axis.focus) return null;
  const box = el("input", { type: "checkbox" });
  box.addEventListener("change", () => show(box.checked));
  return el("label", { class: "switch" }, box, "show all that was kept, from the first steps on");
}

// A candidate by its value, outcome and operator.
function lineOf(data, index) {
  const columns = data.columns, operator = data.operators[columns.operator[index]];
  const outcome = words(data.outcomes[columns.outcome[index]].name);
  return `${idOf(columns.number[index])}: ${number(columns.value[index])}, ${outcome}`
    + (operator ? ", " + operator.name : "");
}

function progress(data) {
  const whole = data.axis;
  const allLog = Boolean(whole && whole.low > 0 && whole.high / whole.low >= 1000), log = allLog && !whole.focus;
  const ranges = { middle: scatter(data, whole && (whole.focus || whole), log), all: scatter(data, whole, allLog) };
  const best = bestLine(data), sets = { now: ranges.middle };
  const label = `${clean(data.metric)} (${data.words})`;
  const axis = (found, byLog) =>
    ({ label, log: byLog, min: found.low, max: found.high, format: edgeless(found, byLog) });
  const spec = {
    label: progressLabel(data, ranges.all.groups),
    tall: true,
    scatter: true,
    x: { label: "Experiment", min: 0 },
    datasets: progressDatasets(data, sets, best),
    y: axis(sets.now, log),
    tip: item => (item.raw.index === undefined ? "" : " " + clean(lineOf(data, item.raw.index))),
  };
  const key = el("div", {}, progressLegend(data, sets.now));
  const show = all => {
    sets.now = all ? ranges.all : ranges.middle;
    spec.y = axis(sets.now, all ? allLog : log);
    key.replaceChildren(progressLegend(data, sets.now));
    drawAll();
  };
  const luck = data.judged ? " A rejected one beyond the line was not shown to be better: that may be luck.": "";
  const earlier = data.began > 0 ?
    ` The ${plural(data.began, "line")} before the newest baseline are left out: they were compared with another.` : "";
  const words = `${thinWords(data)}Each mark is a candidate; ${data.words}.${luck}${earlier}`;
  return figure(`${data.metric} over experiments`, words, key, chart(spec), rangeSwitch(data, show));
}

// The ends of this axis are no round numbers, and so are not labelled.
function edgeless(sets, log) {
  const text = tickText(log);
  return value => (value === sets.low || value === sets.high ? "" : text(value));
}

function grid(data) {
  const picture = data.grid;
  if (!picture) return null;
  const [across, down] = picture.axes;
  const cells = new Map(list(picture.cells).map(cell => [cell.x + "/" + cell.y, cell]));
  const rows = [];
  for (let y = down ? down.bins : 1; y >= 1; y--) {
    const row = [down ? binText(down, y) : "all"];
    for (let x = 1; x <= across.bins; x++) row.push(heat(cells.get(x + "/" + y)));
    rows.push(row);
  }
  const head = [{ text: (down ? `${clean(down.name)} \u2191  ` : "") + `${clean(across.name)} \u2192` }];
  for (let x = 1; x <= across.bins; x++) head.push({ text: binText(across, x) });
  const other = list(picture.other), judged = data.judged ? " Rejected candidates count too." : "";
  const more = other.length ? ` Other features are not shown: ${other.map(clean).join(", ")}.` : "";
  const note = `${number(list(picture.cells).length)} of ${number(picture.of)} cells occupied. `
    + `Each shows its best ${clean(data.metric)} and candidate, on all islands together; `
    + `the stronger the colour, the better its rank.${judged}${more}`;
  return figure("MAP-Elites grid", note, table("MAP-Elites grid", head, rows, { className: "heat" }));
}

// A bin by the value at its lower edge, or by its name.
function binText(axis, bin) {
  if (axis.values) return clean(axis.values[bin - 1]);
  return known(axis.low) ? short(axis.low + (axis.high - axis.low) * (bin - 1) / axis.bins) : NO_VALUE;
}

function heat(cell) {
  if (!cell) return "";
  const title = `${cell.id}: ${number(cell.value)}; ${plural(cell.count, "candidate")}`;
  const node = el("span", { class: "cell", title }, el("b", {}, short(cell.value)), el("small", {}, cell.id));
  node.style.setProperty("--shade", (12 + 68 * cell.shade).toFixed(0) + "%");
  return { node, className: cell.shade > 0.55 ? "filled strong" : "filled" };
}

// The colour of an outcome's bar.
function toneOf(name) {
  if (name === "kept" || name === "baseline") return "fill0";
  return name.startsWith("reverted") ? "fill1" : "neutral";
}

function outcomes(data) {
  const rows = list(data.outcomes).slice().sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
  const most = Math.max(...rows.map(row => row.count), 1);
  return figure("Outcomes", "How the experiments ended.", bars("Outcomes", rows.map(row => ({
    name: words(row.name),
    text: number(row.count),
    parts: [ { share: row.count / most, className: toneOf(row.name) } ]
  }))));
}

const SPENDS = [
  [ "tokens", "Tokens", "tokens" ], [ "usd", "US dollars", "US dollars" ],
  [ "minutes", "Experiment time, all workers together", "minutes" ]
];

function spend(data) {
  const shown = SPENDS.filter(([name]) => list(data.spend[name]).some(value => value > 0));
  return shown.map(([name, title, unit]) => {
    const points = paired(data.spend.x, data.spend[name]), last = points[points.length - 1];
    const area = colours => ({ stepped: false, fill: "origin", backgroundColor: faded(colour(colours, 0), 0.12) });
    return figure(title, null, chart({
      label: `${title} spent over experiments: ${number(last.y)} ${unit} by experiment ${number(last.x)}.`,
      small: true,
      x: { label: "Experiment", min: 0 },
      y: { label: unit, min: 0 },
      datasets: colours => [line(title, 0, colours, points, area(colours))]
    }));
  });
}

// A table of candidates: whether it has what they gained, or why they were rejected.
function candidates(data, rows, label, reasons) {
  const value = numbers(rows.map(row => row.value)), gained = numbers(rows.map(row => row.gained));
  const what = text => ({ text, className: "what" });
  const head = [
    { text: "candidate" }, { text: data.metric, right: true },
    ...(reasons ? [{ text: "rejected because" }] : [{ text: "against baseline", right: true }, { text: "outcome" }]),
    { text: "operator" }, { text: "parents" }, { text: "lines", right: true }, { text: "what" }
  ];
  const cells = rows.map(row => [
    row.id, value(row.value),
    ...(reasons ? [what(row.why || words(row.outcome))] :
      [(row.gained > 0 ? "+" : "") + gained(row.gained), words(row.outcome)]),
    row.operator || NO_VALUE, list(row.parents).join(" ") || NO_VALUE, number(row.lines), what(row.title || "")
  ]);
  return table(label, head, cells, { cards: true });
}

// What the evaluator drew. As an image: in it no script runs, and nothing is loaded.
function picture(data) {
  if (!data.picture) return null;
  return figure("Picture", `What its evaluator drew of the best, ${clean(data.picture.id)}.`,
    el("img", { class: "picture", src: data.picture.source, alt: `Picture of ${clean(data.picture.id)}` }));
}

function topTable(data) {
  const rows = list(data.top);
  if (rows.length === 0) return null;
  const chosen = data.judged ? " Values are by the measurements that chose them." : "";
  const note = `Of the candidates that were ${data.judged ? "kept" : "fully measured"}; ${data.words}.${chosen}`;
  return figure("The best", note, candidates(data, rows, "The best candidates", false));
}

function rejectedTable(data) {
  const rows = list(data.rejected);
  if (rows.length === 0) return null;
  const note = "Not shown to be better than the best of their time, whatever they were measured at; " +
    "the best values first. Where few measurements decide, the luckiest look best.";
  return figure("Rejected", note, candidates(data, rows, "Rejected candidates", true));
}

function section(page, id, title, ...content) {
  const shown = content.filter(one => one);
  if (shown.length) page.append(el("section", { id }, el("h2", {}, title), ...shown));
}

function build(page, data) {
  if (!header(page, data)) {
    page.append(el("p", { class: "empty" }, "No experiments yet: run apsis baseline, then apsis run."));
    return;
  }
  section(page, "progress", "Progress", progress(data));
  section(page, "front", "Front", ...list(data.figures).map(metricsFigure));
  section(page, "best", "Candidates", pathFigure(data), picture(data), topTable(data), lineageFigure(data),
    rejectedTable(data));
  section(page, "grid", "Diversity", grid(data));
  section(page, "outcomes", "Experiments", el("div", { class: "pair" }, outcomes(data), trustFigure(data)));
  section(page, "health", "Search health", ...healthFigures(data));
  const spent = spend(data);
  section(page, "spend", "Spend", spent.length > 0 && el("div", { class: "trio" }, ...spent));
}
