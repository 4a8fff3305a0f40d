// lineage: the tree of candidates over experiments: a row per line of descent. One path per kind of mark, so that ten
// thousand candidates are a few elements; the candidate under the pointer is named below.

const TREE = { left: 14, right: 70, top: 18, bottom: 30, mark: 4 };

function treeScale(data, box) {
  const plot = data.lineage, last = Math.max(lastNumber(data), 1);
  const width = Math.max(box.clientWidth || 320, Math.min(3000, 5 * plot.total));
  const row = plot.rows > 80 ? 9 : plot.rows > 30 ? 13 : 20;
  const height = TREE.top + Math.max(plot.rows, 2) * row + TREE.bottom;
  const x = number => TREE.left + number / last * (width - TREE.left - TREE.right);
  const y = place => TREE.top + place * row;
  return { width, height, row, last, x, y };
}

function treePoints(data, scale) {
  const plot = data.lineage;
  const of = (index, row) => ({ index, x: scale.x(data.columns.number[index]), y: scale.y(row) });
  const points = list(plot.point).map((index, place) => of(index, plot.row[place]));
  const marks = list(plot.mark).map((index, place) => of(index, plot.row[plot.mark_of[place]]));
  return { points, marks };
}

const at = value => value.toFixed(1);
const spot = (x, y) => at(x) + " " + at(y);

// From a parent down (or up) to the child's row, then along it.
function branch(from, to) {
  const start = "M" + spot(from.x, from.y), end = "H" + at(to.x);
  if (from.y === to.y) return start + end;
  const turn = Math.min(5, to.x - from.x, Math.abs(to.y - from.y)), way = to.y > from.y ? 1 : -1;
  return `${start}V${at(to.y - way * turn)}Q${spot(from.x, to.y)} ${spot(from.x + turn, to.y)}${end}`;
}

function treePaths(data, place) {
  const plot = data.lineage, paths = { branch: "", line: "", more: "", tail: "", mark: "", kept: "", other: "" };
  place.points.forEach((point, index) => {
    const parent = place.points[plot.parent[index]];
    if (parent) paths[plot.line[index] ? "line" : "branch"] += branch(parent, point);
    paths[stateOf(data, point.index) === "kept" ? "kept" : "other"] += `M${spot(point.x, point.y)}h0`;
  });
  for (const [child, other] of list(plot.more)) {
    const from = place.points[other], to = place.points[child], middle = (from.x + to.x) / 2;
    paths.more += `M${spot(from.x, from.y)}C${spot(middle, from.y)} ${spot(middle, to.y)} ${spot(to.x, to.y)}`;
  }
  const ends = new Map();
  place.marks.forEach((mark, index) => {
    paths.mark += `M${spot(mark.x, mark.y + 3)}v${TREE.mark}`;
    ends.set(plot.mark_of[index], mark);
  });
  for (const [index, mark] of ends) paths.tail += `M${spot(place.points[index].x, mark.y)}H${at(mark.x)}`;
  return paths;
}

function treeAxis(scale) {
  const step = Math.pow(10, Math.floor(Math.log10(Math.max(scale.last, 1))));
  const every = scale.last / step < 3 ? Math.max(1, step / 5) : step, group = svg("g", { class: "axis" });
  for (let number = 0; number <= scale.last; number += every) {
    const x = at(scale.x(number));
    group.append(svg("line", { x1: x, x2: x, y1: 6, y2: scale.height - 24 }),
      svg("text", { x, y: scale.height - 8, "text-anchor": "middle" }, String(Math.round(number))));
  }
  return group;
}

function drawTree(data, holder, readout) {
  const scale = treeScale(data, holder), place = treePoints(data, scale), paths = treePaths(data, place);
  const { width, height } = scale, points = place.points.length + place.marks.length;
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
    "aria-label": treeLabel(data), "data-points": points }, treeAxis(scale));
  for (const name of ["tail", "branch", "more", "mark", "line", "other", "kept"]) {
    if (paths[name]) picture.append(svg("path", { d: paths[name], class: "tree-" + name }));
  }
  const best = data.best && place.points.find(point => idOf(data.columns.number[point.index]) === data.best.id);
  if (best) {
    picture.append(svg("circle", { cx: at(best.x), cy: at(best.y), r: 6.5, class: "tree-best" }),
      svg("text", { x: at(best.x + 11), y: at(best.y + 4), class: "tree-name" }, data.best.id));
  }
  holder.replaceChildren(picture);
  picture.addEventListener("pointermove", event => tellNearest(data, picture, place, event, readout));
}

function tellNearest(data, picture, place, event, readout) {
  const box = picture.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
  let nearest = null, least = 400;
  for (const group of [place.points, place.marks]) {
    for (const point of group) {
      const distance = (point.x - x) ** 2 + (point.y + (group === place.marks ? 5 : 0) - y) ** 2;
      if (distance < least) [nearest, least] = [point, distance];
    }
  }
  if (nearest) readout.textContent = clean(told(data, nearest.index));
}

function told(data, index) {
  const parents = list(data.columns.parents[index]).filter(one => one >= 0).map(idOf).join(" and ");
  const title = data.titles && data.titles[String(data.columns.number[index])];
  return lineOf(data, index) + (parents ? ` of ${parents}` : "") + (title ? `: ${title}` : "");
}

// The best one's ancestors, oldest first.
function descent(data) {
  const plot = data.lineage, names = [];
  list(plot.line).forEach((on, index) => {
    if (on) names.push(idOf(data.columns.number[plot.point[index]]));
  });
  return names;
}

const steps = names => plural(names.length - 1, "step");

function treeLabel(data) {
  const names = descent(data), best = names[names.length - 1];
  const said = best ? `The best, ${best}, descends from ${names[0]} in ${steps(names)}.` : "There is no best yet.";
  return clean(`Lineage of ${plural(data.lineage.total, "candidate")} over experiments. ${said}`);
}

function treeNote(data) {
  const plot = data.lineage, crossings = list(plot.more).length;
  const lacking = plot.least > 1 ? `${plot.least} descendants` : "descendants";
  const which = lacking + (plot.kept_too ? " that were not kept" : "");
  const ticks = list(plot.mark).length ? `Those without ${which} are ticks under the row they came from. ` : "";
  const crossed = crossings ? `${plural(crossings, "crossover")} of two parents. ` : "";
  return `${thinWords(data)}A row is a line of descent; the best candidate's row comes first. ${ticks}${crossed}`
    + "Point at one to read about it.";
}

function lineageFigure(data) {
  if (!data.lineage || !data.lineage.total) return null;
  const holder = el("div", { class: "tree scroll", tabindex: "0", role: "group", "aria-label": "Lineage" });
  const readout = el("p", { class: "readout" }, data.best ? "the best: " + data.best.id : NO_VALUE);
  later.push(() => drawTree(data, holder, readout));
  const entries = [
    { name: "kept", shape: "dot", className: "fill0" },
    { name: "not kept, with descendants", shape: "dot", className: "fill-muted" },
    { name: "descent of the best", className: "stroke0" }
  ];
  if (list(data.lineage.more).length) entries.push({ name: "second parent", className: "stroke3", dash: [3, 3] });
  const names = descent(data);
  return figure("Lineage", treeNote(data), legend(entries), holder, readout, names.length > 1 && el("details", {},
    el("summary", {}, `Descent of the best: ${steps(names)}`),
    el("p", { class: "descent" }, names.join(" \u2192 "))));
}
