// lab: the page of a campaign, or of recorded runs: for each world a table, the best so far, runtimes, operators,
// occupancy, comparisons.

const WORDS = { higher: "higher is better", lower: "lower is better" };

// The names of strategies and worlds: in the order that the data say, or else of the results.
function named(data, key) {
  const said = key === "strategy" ? list(data.strategies) : [];
  return [...new Set([...said, ...list(data.results).map(row => row[key])])];
}

// What became of the seeds, where fewer are whole than were asked for.
function shortfall(phase) {
  if (!known(phase.wanted)) return null;
  return `${clean(phase.stopped || "interrupted")}: ${number(phase.seeds)} of ${plural(phase.wanted, "seed")}`;
}

// A command that breaks between its words.
function commandLine(text) {
  const words = clean(text).split(" ").map(word => el("span", { class: "word" }, word));
  return el("code", {}, ...words.flatMap(word => [word, " "]).slice(0, -1));
}

function header(page, data, strategies, worlds) {
  document.title = clean(data.title || "apsis lab");
  page.append(el("header", {}, el("p", { class: "eyebrow" }, data.runs ? "apsis report" : "apsis lab"),
    el("h1", {},
      data.title && data.title !== "apsis lab" ?
        data.title :
        `${plural(strategies.length, "strategy", "strategies")} on ${plural(worlds.length, "world")}`),
    data.command ? el("p", { class: "command" }, commandLine(data.command)) : null,
    shortfall(data) && el("p", { class: "status" }, el("strong", {}, shortfall(data)), ". All results are of these.")));
  const first = known(data.first_seed) ? "from " + number(data.first_seed) : null;
  const early = list(data.ended).length ? "; some ended early" : "";
  page.append(facts(data.runs ? [
    ["runs", number(data.runs.length)],
    strategies.length < data.runs.length ? ["strategies", number(strategies.length)] : null,
    worlds.length > 1 ? ["metrics", number(worlds.length)] : null,
    ["evaluations", number(data.evaluations), "of the longest run"],
  ] : [
    ["strategies", number(strategies.length)], ["worlds", number(worlds.length)],
    known(data.seeds) ? ["seeds", number(data.seeds), shortfall(data) || first] : null,
    known(data.evaluations) ? ["evaluations", number(data.evaluations), "at most, each run" + early] : null,
  ]));
}

function tableHead(row, noisy) {
  const names = [`${clean(row.metric || "best")}, median`, "quartiles", "solved", "ERT", "AOCC", "kept"];
  if (noisy) names.push("false bests, mean");
  return [{ text: "strategy" }, ...names.map(text => ({ text, right: true }))];
}

const endedText = one => `ended early, ${percent(one.unspent)} unspent`;

function endedOf(phase, world, strategy) {
  return of(phase.ended, world).find(one => one.strategy === strategy);
}

const earlyNames = (phase, world) => new Set(of(phase.ended, world).map(one => one.strategy));

function tableRow(row, noisy, ended) {
  const range = known(row.q1) && known(row.q3) ? `${short(row.q1)} to ${short(row.q3)}` : NO_VALUE;
  const successes = `(${number(row.successes)} of ${number(row.runs)})`;
  const solved = known(row.success_rate) ? `${percent(row.success_rate)} ${successes}` : NO_VALUE;
  const ert = known(row.ert) ? number(Math.round(row.ert)) : NO_VALUE;
  const name = ended ? { node: el("span", {}, row.strategy, el("small", {}, endedText(ended))) } : row.strategy;
  const cells = [name, short(row.median), range, solved, ert, short(row.aocc), percent(row.kept_ratio)];
  if (noisy) cells.push(short(row.false_keeps));
  return cells;
}

// Under a world's table: whose runs ended before their evaluations were spent, and why.
function endings(phase, world, rows) {
  const shown = rows.map(row => endedOf(phase, world, row.strategy)).filter(one => one);
  if (shown.length === 0) return null;
  return el("ul", { class: "endings" }, ...shown.map(one => {
    const early = `${number(one.count)} of ${plural(one.runs, "run")} ended early`;
    const unspent = `${percent(one.unspent)} of their evaluations unspent`;
    const reason = one.reason ? ` (${one.reason})` : "";
    return el("li", {}, el("strong", {}, one.strategy), `: ${early}, ${unspent}${reason}.`);
  }));
}

function resultTable(phase, world, label) {
  const rows = of(phase.results, world);
  const noisy = rows.some(row => known(row.false_keeps)), head = tableHead(rows[0], noisy);
  const body = rows.map(row => tableRow(row, noisy, endedOf(phase, world, row.strategy)));
  return [table(label, head, body, { cards: true }), endings(phase, world, rows)];
}

function of(all, world) {
  return list(all).filter(one => one.world === world);
}

// Lines of a world's strategies in the order of its table, each with its place in the palette.
function series(data, all, world, strategies) {
  const place = new Map(of(data.results, world).map((row, index) => [row.strategy, index]));
  return of(all, world).map(one => ({ name: one.strategy, colour: strategies.indexOf(one.strategy), ...one }))
    .sort((a, b) => place.get(a.name) - place.get(b.name));
}

const ends = (one, points) => known(one.spent) && points.length > 0 && points[points.length - 1].x > one.spent;

// A line up to where no run goes on, and paler what it is from there on.
function fading(one, colours, points) {
  if (!ends(one, points)) return [line(one.name, one.colour, colours, points)];
  const before = points.filter(point => point.x <= one.spent), after = points.filter(point => point.x > one.spent);
  const last = before.length ? [{ x: one.spent, y: before[before.length - 1].y }] : [];
  return [line(one.name, one.colour, colours, [...before, ...last]),
    line(clean(one.name) + " (ended)", one.colour, colours, [...last, ...after],
      { borderColor: faded(colour(colours, one.colour), 0.3), order: 5 })];
}

const until = (one, points) => (known(one.spent) ? points.filter(point => point.x <= one.spent) : points);

function paler(shown, points) {
  return shown.some(one => ends(one, points(one))) ? " Paler: no run goes on there." : "";
}

// Where each line ends, for a chart's label.
function lastOnes(shown, points, text) {
  const last = one => points(one).pop().y;
  return shown.map(one => `${clean(one.name)} ${text(last(one))}`).join(", ");
}

function curves(data, world, strategies, row) {
  const points = one => paired(one.x, one.median);
  const shown = series(data, data.curves, world, strategies).filter(one => points(one).length > 0);
  if (shown.length === 0) return null;
  const log = spansDecades(shown.flatMap(one => [...list(one.median), ...list(one.q1), ...list(one.q3)]));
  const words = WORDS[row.direction] || "";
  const datasets = colours => shown.flatMap(one => [...fading(one, colours, points(one)),
    ...band(one.colour, colours, until(one, paired(one.x, one.q1)), until(one, paired(one.x, one.q3)))]);
  const note = `The median over runs, and the middle half of them as a band; ${words}.${paler(shown, points)}`;
  return figure("Best so far", note, lineLegend(shown), chart({
    tall: true,
    label: `Best so far on ${world} over evaluations, ${words}. Medians at the end: ${lastOnes(shown, points, short)}.`,
    datasets,
    x: { label: "Evaluations", log: true, min: 1 },
    y: { label: `${clean(row.metric || "best")} (${words})`, log }
  }));
}

function ecdf(data, world, strategies, row) {
  const points = one => paired(one.x, one.y);
  const shown = series(data, data.ecdf, world, strategies).filter(one => points(one).length > 0);
  if (shown.length === 0) return null;
  const said = lastOnes(shown, points, percent), target = known(row.target) ? " " + number(row.target) : "";
  const note = `The share of runs that had reached the target${target} after that many evaluations.`;
  return figure("Runtimes", note + paler(shown, points), lineLegend(shown), chart({
    label: `Share of runs that reached the target on ${world}, over evaluations. At the end: ${said}.`,
    tall: true,
    x: { label: "Evaluations", log: true, min: 1 },
    y: { label: "share of runs solved", min: 0, max: 1, format: percent },
    tip: item => ` ${item.dataset.label}: ${percent(item.parsed.y)}`,
    datasets: colours => shown.flatMap(one => fading(one, colours, points(one)))
  }));
}

function operatorRows(one) {
  const used = Object.entries(one.operators || {}).filter(([, counts]) => counts.count > 0);
  used.sort((a, b) => b[1].count - a[1].count || (a[0] < b[0] ? -1 : 1));
  return used.map(([name, counts]) => {
    const share = count => count / counts.count;
    const kept = known(counts.kept) ? counts.kept : counts.improved || 0;
    const improved = Math.min(counts.improved || 0, kept);
    return {
      name,
      text: `${percent(share(improved))} improved, ${percent(share(kept))} kept, of ${number(counts.count)}`,
      parts: [
        { share: share(improved), className: "fill0" },
        { share: share(kept - improved), className: "fill0 pale" }
      ]
    };
  });
}

function operators(data, world) {
  const groups = of(data.operators, world).map(one => ({ name: one.strategy, rows: operatorRows(one) }));
  const shown = groups.filter(one => one.rows.length > 0);
  if (shown.length === 0) return null;
  const note = "The share of each operator's proposals that improved the best; paler: kept without improving the best.";
  return figure("Operators", note, ...shown.map(one =>
    el("div", { class: "group" }, el("h4", {}, one.name), bars("Operators of " + one.name, one.rows))));
}

// The sizes of a point by the island's name; a list has them in the order of `names`, or by number.
function sizesOf(point, names) {
  if (!Array.isArray(point[1])) return point[1] || {};
  return Object.fromEntries(point[1].map((size, index) => [String(list(names)[index] || index + 1), size]));
}

const inOrder = (a, b) => a.localeCompare(b, "en", { numeric: true });

// One strategy's islands: how many were put on each, stacked.
function islandChart(one, world) {
  const points = list(one.points), sizes = points.map(point => sizesOf(point, one.names));
  const names = [...new Set(sizes.flatMap(Object.keys))].sort(inOrder);
  const layers = names.map(name => points.map((point, index) => ({ x: point[0], y: sizes[index][name] || 0 })));
  const end = names.map((name, index) => `${clean(name)}: ${number(layers[index][points.length - 1].y)}`).join(", ");
  const entries = names.map((name, index) => ({ name: /^\d+$/.test(name) ? "island " + name : name, colour: index }));
  return el("div", { class: "group" }, el("h4", {}, one.strategy), lineLegend(entries, true), chart({
    label: `Candidates on each island of ${one.strategy} on ${world} over evaluations, stacked. At the end: ${end}.`,
    x: { label: "Evaluations", min: 0 }, y: { label: "candidates", min: 0, stacked: true },
    datasets: colours => layers.map((data, index) => layer(entries[index].name, index, colours, data)) }));
}

function islands(data, world) {
  const shown = of(data.islands, world).filter(one => list(one.points).length > 0);
  if (shown.length === 0) return null;
  const note = "How many candidates each was given, in the first seed.";
  return figure("Islands", note, ...shown.map(one => islandChart(one, world)));
}

function cells(data, world, strategies) {
  const shown = series(data, data.cells, world, strategies).filter(one => list(one.points).length > 0);
  if (shown.length === 0) return null;
  const points = one => list(one.points).map(point => ({ x: point[0], y: point[1] }));
  const note = "How many cells of the MAP-Elites grid were reached, in the first seed.";
  return figure("Grid", note, lineLegend(shown), chart({
    label: `Cells reached on ${world} over evaluations. At the end: ${lastOnes(shown, points, number)}.`,
    x: { label: "Evaluations", min: 0 }, y: { label: "cells", min: 0 },
    datasets: colours => shown.map(one => line(one.name, one.colour, colours, points(one))) }));
}

function worldSection(page, data, world, index, strategies) {
  const rows = of(data.results, world), row = rows[0];
  const found = list(data.best_found).includes(world) ? ", the best that any of them found" : "";
  const target = known(row.target) ? ` Target: ${number(row.target)}${found}.` : "";
  const words = `, ${WORDS[row.direction] || ""}.${target}`;
  page.append(el("section", { id: "world-" + index },
    el("h2", {}, world),
    el("p", { class: "direction" }, el("strong", {}, row.metric || "value"), words),
    ...resultTable(data, world, "Results on " + world),
    el("div", { class: "pair" }, curves(data, world, strategies, row), ecdf(data, world, strategies, row)),
    comparisons(of(data.comparisons, world), "Comparisons", earlyNames(data, world)),
    el("div", { class: "pair" },
      operators(data, world),
      el("div", {}, islands(data, world), cells(data, world, strategies)))));
}

// How often a strategy was shown to be better or worse than another on a world, by their final best.
function standing(data, world, strategy) {
  const count = { better: 0, worse: 0 };
  for (const one of of(data.comparisons, world)) {
    if (one.measure !== "best" || !(one.verdict in count)) continue;
    if (one.a === strategy) count[one.verdict] += 1;
    if (one.b === strategy) count[one.verdict === "better" ? "worse" : "better"] += 1;
  }
  return count;
}

function overviewCell(data, world, strategy) {
  const row = of(data.results, world).find(one => one.strategy === strategy);
  if (!row) return "";
  const count = standing(data, world, strategy), said = [];
  if (count.better) said.push(`better than ${count.better}`);
  if (count.worse) said.push(`worse than ${count.worse}`);
  const ended = endedOf(data, world, strategy);
  const none = data.against && data.against !== strategy
    ? `no difference to ${clean(data.against)} shown` : "no difference shown";
  return { className: count.better && !count.worse ? "leads" : "", node: el("span", {}, short(row.median),
    el("small", {}, said.join(", ") || (strategies_(data) > 1 ? none : "")),
    ended ? el("small", { class: "early" }, endedText(ended)) : null) };
}

const strategies_ = data => named(data, "strategy").length;

function overview(page, data, strategies, worlds) {
  if (worlds.length < 2 && strategies.length < 3) return;
  const head = [{ text: "world" }, ...strategies.map(name => ({ text: clean(name), right: true }))];
  const rows = worlds.map((world, index) => {
    const row = of(data.results, world)[0];
    const link = el("a", { href: "#world-" + index }, world), words = el("small", {}, WORDS[row.direction] || "");
    return [{ node: el("span", {}, link, words) }, ...strategies.map(name => overviewCell(data, world, name))];
  });
  page.append(el("section", { id: "overview" }, el("h2", {}, "Overview"),
    el("p", {},
      "The median final best. Below it, how many of the others it was shown to be " +
        "better or worse than; bold: better than some, worse than none."),
    table("Overview", head, rows, { className: "overview", cards: true })));
}

function fresh(page, data) {
  const again = data.fresh;
  const show = (text, ...content) =>
    page.append(el("section", { id: "fresh" }, el("h2", {}, "On fresh seeds"), el("p", {}, text), ...content));
  if (data.no_fresh) show("No fresh seed is whole: what the sweep chose, chosen by luck too, was not run again.");
  if (!again || !list(again.results).length) return;
  const seeds = `${plural(again.seeds, "fresh seed")}, starting at ${number(again.first_seed)}`;
  const missing = shortfall(again) ? "; " + shortfall(again) : "";
  const tables = named(again, "world").flatMap(world => [
    el("h3", {}, world),
    ...resultTable(again, world, "Fresh results on " + world),
    comparisons(of(again.comparisons, world), "Comparisons on fresh seeds", earlyNames(again, world))
  ]);
  tables.push(overall(again, "overall-fresh", "h3"));
  show(`What a sweep chose, run again on ${seeds}${missing}.`, ...tables);
}

// Recorded runs, one by one.
function recorded(page, data, strategies) {
  if (!data.runs) return;
  const renamed = run => run.group !== run.strategies && run.group !== run.name;
  const digits = numbers(data.runs.map(run => run.best)), right = text => ({ text, right: true });
  const head = [ { text: "run" }, { text: "strategy" }, { text: "state" }, right("seed"), right("best"),
    right("baseline"), right("experiments"), right("evaluations"), right("time") ];
  const rows = data.runs.map(run => [
    { node: el("span", {}, run.name, el("small", {}, run.world)) },
    { node: el("span", {}, run.strategies, renamed(run) ? el("small", {}, "shown as " + run.group) : null) },
    { text: run.status, className: "what" },
    number(run.seed), { node: el("span", {}, digits(run.best), el("small", {}, run.id)) }, digits(run.baseline),
    { node: el("span", {}, number(run.experiments), el("small", {}, number(run.kept) + " kept")) },
    number(run.evaluations), duration(run.minutes) ]);
  page.append(el("section", { id: "runs" }, el("h2", {}, "Runs"),
    el("p", {}, (strategies.length < data.runs.length ? "Runs of one strategy are taken as repetitions of it. " : "")
      + "No difference is tested, because budgets, seeds and machines may differ: apsis lab compares strategies under "
      + "equal conditions."),
    table("Runs", head, rows, { cards: true })));
}

const LAB_ONLY = [ "solved", "false bests", "ended early", "better, worse" ];

const TERMS = [
  [ "solved", "runs that reached the target, truly: without the noise of their measurements." ],
  [
    "ERT",
    "expected running time: what all runs spent, the unsuccessful ones too, divided by the number of successful ones."
  ],
  [
    "AOCC",
    "the share of 51 targets that were reached, on average over the budget and all runs: 1 if all were at once. "
    + "Targets lie on the way from a seed's baseline to its target, evenly by the logarithm of what is left, "
    + "down to 1 %."
  ],
  [ "kept", "the share of experiments whose candidate the strategy kept." ],
  [ "false bests", "new bests that were truly no better than the one before, mean of the runs." ],
  [
    "ended early",
    "runs that the strategy's own halt, or a limit other than the evaluations, ended unsolved. "
    + "What was left unspent could have found more: compare such a strategy with one that goes on with care."
  ],
  [
    "better, worse",
    "said only where the interval, paired by seed, leaves out no difference and "
    + "the signed-rank test, corrected for all comparisons made here by Holm's method, agrees."
  ],
];

function build(page, data) {
  const strategies = named(data, "strategy"), worlds = named(data, "world");
  header(page, data, strategies, worlds);
  if (worlds.length === 0) {
    page.append(el("p", { class: "empty" }, "No results."));
    return;
  }
  unit = data.unit || unit;
  overview(page, data, strategies, worlds);
  page.append(overall(data, "overall", "h2") || "");
  recorded(page, data, strategies);
  worlds.forEach((world, index) => worldSection(page, data, world, index, strategies));
  fresh(page, data);
  page.append(el("section", { id: "words" }, el("h2", {}, "Words"), el("dl", { class: "terms" },
    ...TERMS.filter(([term]) => !(data.runs && LAB_ONLY.includes(term)))
      .flatMap(([term, meaning]) => [el("dt", {}, term), el("dd", {}, meaning)]))));
}
