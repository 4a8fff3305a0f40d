// lab: the page of a campaign: for each world a table, the best so far, the runtimes, operators, occupancy, comparisons.

const later = [];

const WORDS = { higher: "higher is better", lower: "lower is better" };

// The names of strategies and worlds: in the order that the data say, or else of the results.
function named(data, key) {
  return [...new Set([...(key === "strategy" ? list(data.strategies) : []), ...list(data.results).map(row => row[key])])];
}

// What became of the seeds, where fewer are whole than were asked for.
function shortfall(phase) {
  if (!known(phase.wanted)) return null;
  return `${clean(phase.stopped || "interrupted")}: ${number(phase.seeds)} of ${plural(phase.wanted, "seed")}`;
}

// A command that breaks between its words.
function commandLine(text) {
  return el("code", {}, ...clean(text).split(" ").flatMap(word => [el("span", { class: "word" }, word), " "]).slice(0, -1));
}

function header(page, data, strategies, worlds) {
  document.title = clean(data.title || "apsis lab");
  page.append(el("header", {}, el("p", { class: "eyebrow" }, "apsis lab"),
    el("h1", {},
      data.title && data.title !== "apsis lab" ?
        data.title :
        `${plural(strategies.length, "strategy", "strategies")} on ${plural(worlds.length, "world")}`),
    data.command ? el("p", { class: "command" }, commandLine(data.command)) : null,
    shortfall(data) && el("p", { class: "status" }, el("strong", {}, shortfall(data)), ". All results are of these.")));
  const first = known(data.first_seed) ? "from " + number(data.first_seed) : null;
  page.append(facts([
    ["strategies", number(strategies.length)], ["worlds", number(worlds.length)],
    known(data.seeds) ? ["seeds", number(data.seeds), shortfall(data) || first] : null,
    known(data.evaluations) ? ["evaluations", number(data.evaluations), list(data.ended).length ? "at most, each run; some ended early" :
      "at most, each run"] : null,
  ]));
}

const tableHead =
  row => [{ text: "strategy" }, { text: `${clean(row.metric || "best")}, median`, right: true }, { text: "quartiles", right: true },
    { text: "solved", right: true }, { text: "ERT", right: true }, { text: "AUC, median", right: true }, { text: "kept", right: true }];

const endedText = one => `ended early, ${percent(one.unspent)} unspent`;

function endedOf(phase, world, strategy) {
  return of(phase.ended, world).find(one => one.strategy === strategy);
}

const earlyNames = (phase, world) => new Set(of(phase.ended, world).map(one => one.strategy));

function tableRow(row, noisy, ended) {
  const range = known(row.q1) && known(row.q3) ? `${short(row.q1)} to ${short(row.q3)}` : NO_VALUE;
  const solved = known(row.success_rate) ? `${percent(row.success_rate)} (${number(row.successes)} of ${number(row.runs)})` : NO_VALUE;
  const name = ended ? { node: el("span", {}, row.strategy, el("small", {}, endedText(ended))) } : row.strategy;
  const cells = [name, short(row.median), range, solved, known(row.ert) ? number(Math.round(row.ert)) : NO_VALUE, short(row.auc),
    percent(row.kept_ratio)];
  if (noisy) cells.push(known(row.false_keeps) ? short(row.false_keeps) : NO_VALUE);
  return cells;
}

// Under a world's table: whose runs ended before their evaluations were spent, and why.
function endings(phase, world, rows) {
  const shown = rows.map(row => endedOf(phase, world, row.strategy)).filter(one => one);
  if (shown.length === 0) return null;
  return el("ul", { class: "endings" }, ...shown.map(one => el("li", {}, el("strong", {}, one.strategy),
    `: ${number(one.count)} of ${plural(one.runs, "run")} ended early, ${percent(one.unspent)} of their evaluations unspent`
    + (one.reason ? ` (${clean(one.reason)}).` : "."))));
}

function resultTable(phase, world, label) {
  const rows = of(phase.results, world);
  const noisy = rows.some(row => known(row.false_keeps)), head = tableHead(rows[0]);
  if (noisy) head.push({ text: "false bests, mean", right: true });
  return [table(label, head, rows.map(row => tableRow(row, noisy, endedOf(phase, world, row.strategy))), { cards: true }),
    endings(phase, world, rows)];
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

const paler = shown => (shown.some(one => ends(one, paired(one.x, one.median || one.y))) ? " Paler: no run goes on there." : "");

function curves(data, world, strategies, row) {
  const shown = series(data, data.curves, world, strategies).filter(one => paired(one.x, one.median).length > 0);
  if (shown.length === 0) return null;
  const log = spansDecades(shown.flatMap(one => [...list(one.median), ...list(one.q1), ...list(one.q3)]));
  const words = WORDS[row.direction] || "";
  const said = shown.map(one => {
    const points = paired(one.x, one.median);
    return `${clean(one.name)} ${short(points[points.length - 1].y)}`;
  });
  const datasets = colours => shown.flatMap(one => [...fading(one, colours, paired(one.x, one.median)),
    ...band(one.colour, colours, until(one, paired(one.x, one.q1)), until(one, paired(one.x, one.q3)))]);
  const note = `The median over seeds, and the middle half of them as a band; ${words}.${paler(shown)}`;
  return figure("Best so far", note, lineLegend(shown), chart({
    tall: true,
    label: `Best so far on ${world} over evaluations, ${words}. Medians at the end: ${said.join(", ")}.`,
    datasets,
    x: { label: "Evaluations", log: true, min: 1 },
    y: { label: `${clean(row.metric || "best")} (${words})`, log }
  }));
}

function ecdf(data, world, strategies, row) {
  const shown = series(data, data.ecdf, world, strategies).filter(one => paired(one.x, one.y).length > 0);
  if (shown.length === 0) return null;
  const said = shown.map(one => {
    const points = paired(one.x, one.y);
    return `${clean(one.name)} ${percent(points[points.length - 1].y)}`;
  });
  return figure("Runtimes",
    "The share of runs that had reached the target" + (known(row.target) ? ` ${number(row.target)}` : "") + " after that many evaluations."
      + paler(shown),
    lineLegend(shown), chart({
      label: `Share of runs that reached the target on ${world}, over evaluations. At the end: ${said.join(", ")}.`,
      tall: true,
      x: { label: "Evaluations", log: true, min: 1 },
      y: { label: "share of runs solved", min: 0, max: 1, format: percent },
      tip: item => ` ${item.dataset.label}: ${percent(item.parsed.y)}`,
      datasets: colours => shown.flatMap(one => fading(one, colours, paired(one.x, one.y)))
    }));
}

function operatorRows(one) {
  return Object.entries(one.operators || {}).sort((a, b) => b[1].count - a[1].count || (a[0] < b[0] ? -1 : 1))
    .filter(([, counts]) => counts.count > 0).map(([name, counts]) => {
      const kept = known(counts.kept) ? counts.kept : counts.improved || 0, improved = Math.min(counts.improved || 0, kept);
      return {
        name,
        text: `${percent(improved / counts.count)} improved, ${percent(kept / counts.count)} kept, of ${number(counts.count)}`,
        parts: [
          { share: improved / counts.count, className: "fill0" }, { share: (kept - improved) / counts.count, className: "fill0 pale" }
        ]
      };
    });
}

function operators(data, world) {
  const groups = of(data.operators, world).map(one => ({ name: one.strategy, rows: operatorRows(one) })).filter(one => one.rows.length);
  if (groups.length === 0) return null;
  return figure("Operators", "The share of each operator's proposals that improved the best; paler, those kept without that.",
    ...groups.map(one => el("div", { class: "group" }, el("h4", {}, one.name), bars(`Operators of ${clean(one.name)}`, one.rows))));
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
  return figure("Islands", "How many candidates each was given, in the first seed.", ...shown.map(one => islandChart(one, world)));
}

function cells(data, world, strategies) {
  const shown = series(data, data.cells, world, strategies).filter(one => list(one.points).length > 0);
  if (shown.length === 0) return null;
  const points = one => list(one.points).map(point => ({ x: point[0], y: point[1] }));
  const said = shown.map(one => { const all = points(one); return `${clean(one.name)} ${number(all[all.length - 1].y)}`; });
  return figure("Grid", "How many cells of the MAP-Elites grid were reached, in the first seed.", lineLegend(shown), chart({
    label: `Cells reached on ${world} over evaluations. At the end: ${said.join(", ")}.`,
    x: { label: "Evaluations", min: 0 }, y: { label: "cells", min: 0 },
    datasets: colours => shown.map(one => line(one.name, one.colour, colours, points(one))) }));
}

function worldSection(page, data, world, index, strategies) {
  const rows = of(data.results, world), row = rows[0];
  const target = known(row.target) ? ` Target: ${number(row.target)}.` : "";
  const content = [
    ...resultTable(data, world, "Results on " + world),
    el("div", { class: "pair" }, curves(data, world, strategies, row), ecdf(data, world, strategies, row)),
    comparisons(of(data.comparisons, world), "Comparisons", earlyNames(data, world)),
    el("div", { class: "pair" }, operators(data, world), el("div", {}, islands(data, world), cells(data, world, strategies)))
  ];
  page.append(el("section", { id: "world-" + index }, el("h2", {}, world),
    el("p", { class: "direction" }, el("strong", {}, row.metric || "value"), `, ${WORDS[row.direction] || ""}.${target}`), ...content));
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
  return { className: count.better && !count.worse ? "leads" : "", node: el("span", {}, short(row.median),
    el("small", {}, said.join(", ") || (strategies_(data) > 1 ? "no difference shown" : "")),
    ended ? el("small", { class: "early" }, endedText(ended)) : null) };
}

const strategies_ = data => named(data, "strategy").length;

function overview(page, data, strategies, worlds) {
  if (worlds.length < 2 && strategies.length < 3) return;
  const head = [{ text: "world" }, ...strategies.map(name => ({ text: clean(name), right: true }))];
  const rows = worlds.map((world, index) => {
    const row = of(data.results, world)[0];
    return [{ node: el("span", {}, el("a", { href: "#world-" + index }, world), el("small", {}, WORDS[row.direction] || "")) },
      ...strategies.map(strategy => overviewCell(data, world, strategy))];
  });
  page.append(el("section", { id: "overview" }, el("h2", {}, "Overview"),
    el("p", {},
      "The median final best. Below it, how many of the others it was shown to be " +
        "better or worse than; bold: better than some, worse than none."),
    table("Overview", head, rows, { className: "overview", cards: true })));
}

function fresh(page, data) {
  const again = data.fresh;
  if (data.no_fresh) {
    page.append(el("section", { id: "fresh" }, el("h2", {}, "On fresh seeds"),
      el("p", {}, "No fresh seed is whole: what the sweep chose, chosen by luck too, was not run again.")));
  }
  if (!again || !list(again.results).length) return;
  const worlds = named(again, "world");
  page.append(el("section", { id: "fresh" }, el("h2", {}, "On fresh seeds"),
    el("p", {},
      `What a sweep chose, run again on ${plural(again.seeds, "seed")} ` +
        `from ${number(again.first_seed)} that it was not chosen by` + (shortfall(again) ? `; ${shortfall(again)}.` : ".")),
    ...worlds.flatMap(world => [el("h3", {}, world), ...resultTable(again, world, "Fresh results on " + world),
      comparisons(of(again.comparisons, world), "Comparisons on fresh seeds", earlyNames(again, world))].filter(one => one))));
}

const TERMS = [
  [ "solved", "runs that reached the target, truly: without the noise of their measurements." ],
  [ "ERT", "expected running time: the evaluations of all runs, the unsuccessful ones too, divided by the number of successful ones." ],
  [
    "AUC",
    "area under the best-so-far curve, by evaluation: what the best was on average over the run. In the tables the median "
    + "over the seeds; comparisons are means of differences, seed by seed, so that the two can order strategies otherwise."
  ],
  [ "kept", "the share of experiments whose candidate the strategy kept." ],
  [ "false bests", "new bests that were truly no better than the one before, mean of the runs." ],
  [
    "ended early",
    "runs that the strategy's own halt, or a limit other than the evaluations, ended unsolved. What was left unspent could "
    + "have found more: compare such a strategy with one that goes on with care."
  ],
  [
    "better, worse",
    "said only where the interval of the mean difference, paired by seed, leaves out 0 and "
    + "the signed-rank test, corrected for all comparisons by Holm's method, agrees."
  ],
];

function build(page, data) {
  const strategies = named(data, "strategy"), worlds = named(data, "world");
  header(page, data, strategies, worlds);
  if (worlds.length === 0) {
    page.append(el("p", { class: "empty" }, "No results."));
    return;
  }
  overview(page, data, strategies, worlds);
  worlds.forEach((world, index) => worldSection(page, data, world, index, strategies));
  fresh(page, data);
  page.append(el("section", { id: "words" }, el("h2", {}, "Words"), el("dl", { class: "terms" },
    ...TERMS.flatMap(([term, meaning]) => [el("dt", {}, term), el("dd", {}, meaning)]))));
}
