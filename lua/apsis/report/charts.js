// charts: line charts in the page's colours, redrawn when these change. Each canvas has a label that describes it.

const SERIES = 7;
const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
const drawn = [];

function theme() {
  const style = getComputedStyle(document.documentElement);
  const of = name => style.getPropertyValue(name).trim();
  const series = [];
  for (let index = 0; index < SERIES; index++) series.push(of("--s" + index));
  return { ink: of("--ink"), muted: of("--muted"), rule: of("--rule"), page: of("--page"), series };
}

const colour = (colours, index) => colours.series[index % SERIES];
const dash = index => DASHES[Math.floor(index / SERIES) % DASHES.length];

function faded(hex, alpha) {
  const value = parseInt(hex.slice(1), 16);
  return `rgba(${value >> 16}, ${(value >> 8) & 255}, ${value & 255}, ${alpha})`;
}

const MARKS = {
  dot: ["circle", { cx: 12, cy: 6, r: 4 }],
  triangle: ["path", { d: "M12 2l5 8h-10z" }],
  cross: ["path", { d: "M9 3l6 6m0-6l-6 6" }],
  area: ["rect", { x: 4, y: 0, width: 16, height: 12 }]
};

// An entry without one of these shapes is a line.
function legend(entries) {
  return el("ul", { class: "legend" }, ...entries.map(entry => {
    const dashes = (entry.dash || []).join(" ");
    const [name, shape] = MARKS[entry.shape] || ["path", { d: "M1 6h22", "stroke-dasharray": dashes }];
    const mark = svg(name, { ...shape, class: entry.className });
    return el("li", {}, svg("svg", { viewBox: "0 0 24 12", "aria-hidden": "true" }, mark), el("span", {}, entry.name));
  }));
}

// The legend of lines, by their places in the palette.
function lineLegend(series, area) {
  return legend(series.map(one => ({
    name: one.name,
    className: (area ? "area fill" : "stroke") + (one.colour % SERIES) + (area && one.colour >= SERIES ? " pale" : ""),
    dash: area ? [] : dash(one.colour),
    shape: area ? "area" : "line"
  })));
}

function tickText(log) {
  return value => {
    if (!log) return number(value);
    const digit = value / Math.pow(10, Math.floor(Math.log10(value) + 1e-9));
    return Math.abs(digit - 1) < 1e-6 ? number(value) : "";
  };
}

function axisTitle(axis) {
  if (!axis.log) return axis.label;
  return axis.label.endsWith(")") ? axis.label.slice(0, -1) + ", log scale)" : axis.label + " (log scale)";
}

function scale(colours, axis) {
  const made = {
    type: axis.log ? "logarithmic" : "linear",
    title: { display: true, text: axisTitle(axis), color: colours.muted },
    grid: { color: colours.rule, drawTicks: false, drawOnChartArea: axis.side !== "x", borderColor: colours.rule },
    ticks: {
      color: colours.muted,
      padding: 6,
      maxRotation: 0,
      autoSkipPadding: 16,
      maxTicksLimit: axis.side === "x" ? 8 : 6,
      callback: axis.format || tickText(axis.log)
    },
  };
  if (axis.log) delete made.ticks.maxTicksLimit;
  for (const key of ["min", "max", "stacked", "grace"]) if (axis[key] !== undefined) made[key] = axis[key];
  return made;
}

function options(colours, spec) {
  const title = items => (items.length ? spec.x.label + " " + number(items[0].parsed.x) : "");
  return {
    animation: false, responsive: true, maintainAspectRatio: false, parsing: false, normalized: !spec.scatter,
    interaction: { mode: "nearest", axis: spec.scatter ? "xy" : "x", intersect: false },
    layout: { padding: { top: 6, right: 12 } },
    scales: { x: scale(colours, { ...spec.x, side: "x" }), y: scale(colours, { ...spec.y, side: "y" }) },
    plugins: {
      legend: { display: false },
      tooltip: {
        filter: item => !item.dataset.silent,
        callbacks: { title, label: spec.tip || tip },
      },
    },
  };
}

const tip = item => ` ${item.dataset.label}: ${number(item.parsed.y)}`;

// A chart in its box. spec: { label, x, y, scatter, tall, datasets(colours) }; changes show at the next redraw.
function chart(spec) {
  const points = spec.datasets(theme()).reduce((sum, one) => sum + one.data.length, 0);
  const canvas = el("canvas", { role: "img", "aria-label": clean(spec.label), "data-points": String(points) });
  const box = el("div", { class: spec.tall ? "chart tall" : spec.small ? "chart small" : "chart" }, canvas);
  drawn.push({ canvas, spec, chart: null });
  return box;
}

function drawAll() {
  const colours = theme();
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.font.size = 12;
  for (const one of drawn) {
    const datasets = one.spec.datasets(colours), given = options(colours, one.spec);
    if (one.chart) {
      one.chart.data.datasets = datasets;
      one.chart.options = given;
      one.chart.update("none");
    } else {
      one.chart = new Chart(one.canvas, { type: "line", data: { datasets }, options: given });
    }
  }
}

// The points of two columns, where both have a value.
function paired(x, y) {
  const points = list(x).map((at, index) => ({ x: at, y: list(y)[index] }));
  return points.filter(point => known(point.x) && known(point.y));
}

function line(name, index, colours, data, more) {
  const look = { borderColor: colour(colours, index), borderDash: dash(index), borderWidth: 2, stepped: "before" };
  return { label: clean(name), data, pointRadius: 0, pointHitRadius: 8, ...look, ...more };
}

// A layer of a stack; where colours come again they are paler.
function layer(name, index, colours, data) {
  const backgroundColor = faded(colour(colours, index), index < SERIES ? 0.6 : 0.25);
  const filled = { fill: index === 0 ? "origin" : "-1", backgroundColor };
  return line(name, index, colours, data, { stepped: false, borderWidth: 1, borderDash: [], ...filled });
}

// The two edges of a band; the second is filled down to the first.
function band(index, colours, low, high) {
  const edge = { borderWidth: 0, pointRadius: 0, stepped: "before", silent: true, order: 10 };
  return [{ ...edge, data: low, fill: false },
    { ...edge, data: high, fill: "-1", backgroundColor: faded(colour(colours, index), 0.16) }];
}

// Whether an axis of these values is better read by their logarithms.
function spansDecades(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (!known(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low > 0 && high / low >= 1000;
}
