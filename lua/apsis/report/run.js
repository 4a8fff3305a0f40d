// run: the page of one run: what was measured, experiment by experiment; who came from whom; the grid; outcomes, spend, the best.

const later = []; // what needs the page's measures before it can be drawn

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

function duration(minutes) {
  if (minutes < 2) return short(Number((60 * minutes).toPrecision(3))) + " s";
  return minutes < 120 ? short(Number(minutes.toPrecision(3))) + " min" : short(Number((minutes / 60).toPrecision(3))) + " h";
}

function header(page, data) {
  const best = data.best, lead = data.description;
  document.title = clean(data.project || "apsis") + " \u2013 apsis report";
  page.append(el("header", {}, el("p", { class: "eyebrow" }, "apsis report"), el("h1", {}, data.project || "a run"),
    lead ? el("p", { class: "lead" }, lead) : null,
    el("p", { class: "status" }, el("strong", {}, data.metric), ", " + data.words + ". ",
      "Run: " + data.status + (data.reason && data.reason !== data.status ? ": " + data.reason: "") +
        (data.strategy ? ". Strategy: " + data.strategy: "") + ".")));
  if (!data.columns.number || list(data.columns.number).length === 0) return false;
  page.append(facts([
    [ "best", best ? number(best.value) : NO_VALUE, best ? best.id : "no candidate has a value yet" ],
    known(data.gained) && best.id !== data.baseline.id ?
      [ "against the baseline", delta(data.gained), "from " + number(data.baseline.value) ] :
      null,
    known(data.target) ? [ "target", number(data.target) ] : null,
    [ "experiments", number(data.experiments), number(data.kept) + " kept" ],
    known(data.totals.tokens) && data.totals.tokens > 0 ? [ "tokens", number(data.totals.tokens) ] : null,
    known(data.totals.usd) && data.totals.usd > 0 ? [ "US dollars", number(Number(data.totals.usd.toFixed(2))) ] : null,
    [ "experiment time", duration(data.totals.minutes), "all workers together" ],
  ]));
  return true;
}

// The points of each state; those beyond the axis stand at its edge.
function scatter(data) {
  const groups = { kept: [], rejected: [], beyond: [], failed: [], again: [] };
  const axis = data.axis;
  const room = axis ? (axis.high - axis.low) * 0.04 || Math.abs(axis.high) * 0.04 || 1 : 0;
  const low = axis ? axis.low - room : 0, high = axis ? axis.high + room : 1;
  list(data.columns.number).forEach((x, index) => {
    const state = stateOf(data, index), value = data.columns.value[index];
    if (state === "again") return;
    if (!known(value)) groups.failed.push({ x, y: low, index });
    else if (value > high || value < low) groups.beyond.push({ x, y: Math.min(high, Math.max(low, value)), index });
    else groups[state].push({ x, y: value, index });
  });
  return { groups, low, high };
}

// Lines stand in the order in which experiments ended, so that their numbers may go back: the line of the best does not.
function bestLine(data) {
  const points = [], numbers = list(data.columns.number);
  let last, x = 0;
  numbers.forEach((number_, index) => {
    const y = data.columns.best[index];
    x = Math.max(x, number_);
    if (known(y) && (y !== last || index === numbers.length - 1)) points.push({ x, y });
    if (known(y)) last = y;
  });
  return points;
}

const lastNumber = data => list(data.columns.number).reduce((most, one) => Math.max(most, one), 0);

function progressDatasets(data, sets, best) {
  const numbers = list(data.columns.number), last = lastNumber(data);
  return colours => {
    const many = numbers.length > 1500;
    const dots = (label, points, more) => ({ label, data: points, showLine: false, pointRadius: many ? 1.5 : 2.5, pointHoverRadius: 5,
      pointBorderWidth: 1, ...more });
    const found = [
      line("best so far", 0, colours, best, { borderWidth: 2, order: 2, silent: true }),
      dots("kept", sets.groups.kept,
        { pointRadius: many ? 2.5 : 4, pointBackgroundColor: colour(colours, 0), pointBorderColor: colours.page, order: 1 }),
      dots("rejected", sets.groups.rejected, {
        pointBackgroundColor: faded(colour(colours, 1), 0.35),
        pointBorderColor: faded(colour(colours, 1), many ? 0.25 : 0.6),
        order: 3
      }),
      dots("beyond the axis", sets.groups.beyond, {
        pointStyle: "triangle",
        pointBackgroundColor: faded(colour(colours, 1), 0.35),
        pointBorderColor: faded(colour(colours, 1), 0.6),
        order: 4
      }),
      dots("no value", sets.groups.failed,
        { pointStyle: "crossRot", pointRadius: many ? 2 : 3, pointBorderColor: colours.muted, order: 5 }),
    ];
    if (known(data.target) && data.target >= sets.low && data.target <= sets.high) {
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
  const groups = sets.groups, count = name => ` (${number(groups[name].length)})`;
  const entries = [
    { name: "best so far", className: "stroke0" }, { name: "baseline and kept" + count("kept"), shape: "dot", className: "fill0" },
    { name: "rejected" + count("rejected"), shape: "dot", className: "fill1 pale" }
  ];
  if (groups.beyond.length) entries.push({ name: "rejected, beyond the axis" + count("beyond"), shape: "dot", className: "stroke1" });
  if (groups.failed.length) entries.push({ name: "no value" + count("failed"), shape: "cross", className: "stroke-muted" });
  if (known(data.target) && data.target >= sets.low && data.target <= sets.high)
    entries.push({ name: "target", className: "stroke2", dash: [6, 4] });
  return legend(entries);
}

function progress(data) {
  const sets = scatter(data), best = bestLine(data);
  const log = data.axis && data.axis.low > 0 && data.axis.high / data.axis.low >= 1000;
  if (log) sets.low = data.axis.low / 1.2;
  const describe = index => {
    const operator = data.operators[data.columns.operator[index]];
    return `${words(data.outcomes[data.columns.outcome[index]].name)}${operator ? ", " + clean(operator.name) : ""}`;
  };
  const label = `${data.metric} over ${plural(data.columns.number.length, "line")} of the journal, ${data.words}: ` +
    (data.best ? `the best is ${number(data.best.value)} (${data.best.id})` : "there is no best yet") +
    `; ${number(sets.groups.kept.length)} kept, ${number(sets.groups.rejected.length + sets.groups.beyond.length)} rejected, ${
      number(sets.groups.failed.length)} without a value.`;
  return figure(`${data.metric} over experiments`, `Each mark is a candidate; ${data.words}.`, progressLegend(data, sets), chart({
    label,
    tall: true,
    scatter: true,
    x: { label: "Experiment", min: 0 },
    datasets: progressDatasets(data, sets, best),
    y: { label: `${clean(data.metric)} (${data.words})`, log, min: sets.low, max: sets.high, format: edgeless(sets, log) },
    tip: item => (item.raw.index === undefined ?
        "" :
        ` ${idOf(data.columns.number[item.raw.index])}: ${number(data.columns.value[item.raw.index])}, ${describe(item.raw.index)}`),
  }));
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
  const head = [{ text: down ? `${clean(down.name)} \u2191  ${clean(across.name)} \u2192` : `${clean(across.name)} \u2192` }];
  for (let x = 1; x <= across.bins; x++) head.push({ text: binText(across, x) });
  const more = list(picture.other).length ? ` Other features are not shown: ${picture.other.map(clean).join(", ")}.` : "";
  return figure("MAP-Elites grid", `${number(list(picture.cells).length)} of ${number(picture.of)} cells occupied. Each shows its best `
    + `${clean(data.metric)} and candidate, on all islands together; the stronger the colour, the better its rank.${more}`,
    table("MAP-Elites grid", head, rows, { className: "heat" }));
}

// A bin by the value at its lower edge, or by its name.
function binText(axis, bin) {
  if (axis.values) return clean(axis.values[bin - 1]);
  return known(axis.low) ? short(axis.low + (axis.high - axis.low) * (bin - 1) / axis.bins) : NO_VALUE;
}

function heat(cell) {
  if (!cell) return "";
  const node = el("span", { class: "cell", title: `${cell.id}: ${number(cell.value)}; ${plural(cell.count, "candidate")}` },
    el("b", {}, short(cell.value)), el("small", {}, cell.id));
  node.style.setProperty("--shade", (12 + 68 * cell.shade).toFixed(0) + "%");
  return { node, className: cell.shade > 0.55 ? "filled strong" : "filled" };
}

function outcomes(data) {
  const rows = list(data.outcomes).slice().sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
  const most = Math.max(...rows.map(row => row.count), 1);
  const tone = name => (name === "kept" || name === "baseline" ? "fill0" : name.startsWith("reverted") ? "fill1" : "neutral");
  return figure("Outcomes", "How the experiments ended.",
    bars("Outcomes",
      rows.map(
        row =>
          ({ name: words(row.name), text: number(row.count), parts: [ { share: row.count / most, className: tone(row.name) } ] }))));
}

function operators(data) {
  const rows = list(data.operators).filter(row => row.count > 0);
  if (rows.length === 0) return null;
  return figure("Operators", "The share of each operator's experiments that was kept.", bars("Operators", rows.map(row => ({
    name: row.name,
    text: `${number(row.kept)} of ${number(row.count)}, ${percent(row.kept / row.count)}`,
    parts: [ { share: row.kept / row.count, className: "fill0" } ]
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
    return figure(title, null, chart({
      label: `${title} spent over experiments: ${number(last.y)} ${unit} by experiment ${number(last.x)}.`,
      small: true,
      x: { label: "Experiment", min: 0 },
      y: { label: unit, min: 0 },
      datasets: colours => [line(
        title, 0, colours, points, { stepped: false, fill: "origin", backgroundColor: faded(colour(colours, 0), 0.12) })]
    }));
  });
}

function topTable(data) {
  const rows = list(data.top);
  if (rows.length === 0) return null;
  const head = [{ text: "candidate" }, { text: data.metric, right: true }, { text: "against baseline", right: true }, { text: "outcome" },
    { text: "operator" }, { text: "parents" }, { text: "lines", right: true }, { text: "what" }];
  return figure("The best", `Of the candidates that were fully measured; ${data.words}.`, table("The best candidates", head, rows.map(row => [row.id,
    number(row.value), delta(row.gained), words(row.outcome), row.operator || NO_VALUE, list(row.parents).join(" ") || NO_VALUE,
    number(row.lines), { text: row.title || "", className: "what" }])));
}

function section(page, id, title, ...content) {
  const shown = content.filter(one => one);
  if (shown.length) page.append(el("section", { id }, el("h2", {}, title), ...shown));
}

function build(page, data) {
  if (!header(page, data)) {
    page.append(el("p", { class: "empty" }, "No experiments yet. apsis baseline measures the project as it stands, apsis run begins."));
    return;
  }
  section(page, "progress", "Progress", progress(data));
  section(page, "best", "Candidates", topTable(data), lineageFigure(data));
  section(page, "grid", "Diversity", grid(data));
  section(page, "outcomes", "Experiments", el("div", { class: "pair" }, outcomes(data), operators(data)));
  const spent = spend(data);
  section(page, "spend", "Spend", spent.length > 0 && el("div", { class: "trio" }, ...spent));
}
