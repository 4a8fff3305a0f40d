// projects: the page of a repository: a row for each project, with the figures of its own page's header.

const chosen = new Set(); // numbers of the projects to be shown side by side

const word = row => (row.now.running ? (row.now.paused ? "paused" : "running") : row.status);

// A text with smaller ones below it, those that there are.
const lines = (text, ...small) =>
  el("span", {}, text, ...small.filter(one => one).map(one => el("small", {}, one)));

function stateCell(row) {
  const waits = list(row.now.waiting).length, flying = row.now.of;
  return { className: "what", node: lines(word(row),
    flying > 0 && `${number(flying)} in flight`, !row.now.running && row.reason !== row.status && row.reason,
    waits > 0 && `${plural(waits, "candidate")} ${waits === 1 ? "waits" : "wait"} for approval`, row.now.problem) };
}

// The gain as measured again at the end, or the difference to the baseline and what it leaves in doubt.
function gainCell(row) {
  const gain = row.gain;
  if (gain) {
    return { node: lines(delta(gain.gain),
      (gain.exact ? "" : `[${short(gain.low)}..${short(gain.high)}], `) + "measured again") };
  }
  if (!known(row.gained) || row.best.id === row.baseline) return NO_VALUE;
  return { node: lines(delta(row.gained), row.share, row.doubt) };
}

function besideLinks() {
  const numbers = [...chosen].sort((a, b) => a - b).join(",");
  const link = (by, text) => el("a", { href: `beside/${by}/${numbers}`, "data-key": by }, text);
  return el("p", { id: "beside" }, ...(chosen.size === 0 ? [ "Tick projects to see their runs side by side." ] :
    [ `Show the ${chosen.size === 1 ? "run" : "runs"} of ${plural(chosen.size, "project")} side by side: `,
      link("strategies", "by strategy"), " or ", link("runs", "each by itself"), "." ]));
}

function box(row) {
  const input = el("input", { type: "checkbox", "data-key": "box" + row.number,
    "aria-label": "side by side: " + clean(row.name) });
  input.checked = chosen.has(row.number);
  input.addEventListener("change", () => {
    chosen[input.checked ? "add" : "delete"](row.number);
    document.getElementById("beside").replaceWith(besideLinks());
  });
  return input;
}

function projectRow(row, beside) {
  const last = beside ? [ row.measured ? { node: box(row) } : "" ] : [];
  if (row.problem) return [ row.file, { text: row.problem, className: "what" }, NO_VALUE, NO_VALUE, NO_VALUE, ...last ];
  const link = el("a", { href: row.number + "/", "data-key": "page" + row.number }, row.name);
  return [ { node: lines(link, row.file + (row.goal ? ", a standing goal" : "")) }, stateCell(row),
    { node: lines(row.best ? number(row.best.value) : NO_VALUE, row.best && row.best.id,
      `${row.metric}, ${row.words}`) }, gainCell(row),
    { node: lines(number(row.experiments), number(row.kept) + " kept") }, ...last ];
}

function build(page, data) {
  const rows = list(data.rows), beside = data.beside && rows.some(row => row.measured);
  document.title = clean(data.repository) + " \u2013 apsis report";
  const head = [ { text: "project" }, { text: "state" }, { text: "best", right: true },
    { text: "against the baseline", right: true }, { text: "experiments", right: true },
    ...(beside ? [ { text: "side by side" } ] : []) ];
  page.append(el("header", {}, el("p", { class: "eyebrow" }, "apsis report"), el("h1", {}, data.repository),
    el("p", { class: "lead" }, "The projects and standing goals of this repository."),
    el("p", { class: "status", role: "status", id: "state" })));
  page.append(el("section", { id: "projects" }, el("h2", {}, plural(rows.length, "project")),
    beside ? besideLinks() : null,
    table("Projects", head, rows.map(row => projectRow(row, beside)), { cards: true }),
    data.left_out > 0 ? el("p", {}, `${plural(data.left_out, "more")} not shown.`) : null));
}
