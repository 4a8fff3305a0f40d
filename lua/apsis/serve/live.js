// live: keeps a served page up to date. Its server sends lines of the journal, the facts of the header, and word when
// the whole page is to be taken again. What changed is built as always and laid over what is shown: an element that is
// the same stays, with the focus, the selection and what a screen reader reads.

const SOON_MS = 50; // lines and facts come one after the other, and are drawn together
const LEAST_MS = 1000; // between two drawings; and so many times what the last one took:
const SHARE = 5;
const MOST_POINTS = 40000;
let stream = null, drawnAt = 0, drawingMs = 0, planned = false;

// ---- laying over ----

function copyAttributes(from, to) {
  for (const { name, value } of [...to.attributes]) if (name !== "style") from.setAttribute(name, value);
  if (to.style.cssText) from.style.cssText = to.style.cssText;
}

// before: what was drawn by canvas; a chart stays on its canvas and gets the new data.
function layOver(from, to, before) {
  if (from.nodeName !== to.nodeName || from.nodeType !== Node.ELEMENT_NODE) {
    if (from.nodeType === Node.TEXT_NODE && to.nodeType === Node.TEXT_NODE) {
      if (from.data !== to.data) from.data = to.data;
    } else from.replaceWith(to);
    return;
  }
  if (from.matches(".switch, .tree")) return from.replaceWith(to);
  if (from.nodeName === "CANVAS") {
    const now = drawn.find(one => one.canvas === to), old = before.find(one => one.canvas === from);
    now.canvas = from;
    now.chart = old.chart;
    for (const name of ["aria-label", "data-points"]) from.setAttribute(name, to.getAttribute(name));
    return;
  }
  copyAttributes(from, to);
  const old = [...from.childNodes], fresh = [...to.childNodes];
  old.slice(fresh.length).forEach(node => node.remove());
  fresh.forEach((node, index) => (old[index] ? layOver(old[index], node, before) : from.append(node)));
}

// Elements that can have the focus, in order: what is laid over may replace some.
const stops = () => [...shown.page.querySelectorAll("[tabindex], summary, input")];

function draw() {
  const began = performance.now(), before = drawn.splice(0), next = el("main");
  const focus = stops().indexOf(document.activeElement);
  const all = Boolean(document.querySelector(".switch input:checked"));
  later.length = 0;
  build(next, shown.data);
  layOver(shown.page, fill(next, { id: "page", "data-kind": "run" }, []), before);
  for (const one of before) if (one.chart && !drawn.some(other => other.chart === one.chart)) one.chart.destroy();
  paint();
  const box = document.querySelector(".switch input");
  if (all && box) box.click();
  if (focus >= 0 && stops()[focus] !== document.activeElement) stops()[focus].focus({ preventScroll: true });
  drawnAt = performance.now();
  drawingMs = drawnAt - began;
  document.documentElement.dataset.lines = String(lineCount());
}

function drawSoon() {
  if (planned) return;
  planned = true;
  const wait = Math.max(SOON_MS, drawnAt + Math.max(LEAST_MS, SHARE * drawingMs) - performance.now());
  setTimeout(() => {
    planned = false;
    draw();
  }, wait);
}

// ---- taking in ----

const generation = () => shown.data.live.at.split("-")[0];
const lineCount = () => Number(shown.data.live.at.split("-")[1]);

// The place of a name in a list of counts.
function placeOf(names, name) {
  let index = names.findIndex(one => one.name === name);
  if (index < 0) index = names.push({ name, count: 0, kept: 0, improved: 0 }) - 1;
  return index;
}

function count(data, line) {
  const kept = line.outcome === "kept";
  data.outcomes[placeOf(data.outcomes, line.outcome)].count++;
  if (line.operator !== undefined) {
    const operator = data.operators[placeOf(data.operators, line.operator)];
    operator.count++;
    if (kept) operator.kept++;
  }
  data.totals.tokens += line.tokens || 0;
  data.totals.usd += line.usd || 0;
  data.totals.minutes += (line.seconds || 0) / 60;
}

// Of a long run one of so many lines is drawn; kept ones are counted apart.
function isDrawn(data, line) {
  const thinned = data.thinned;
  if (!thinned) return true;
  const every = Math.max(1, Math.round(thinned.of / thinned.shown)), kind = line.outcome === "kept" ? "kept" : "other";
  thinned.of++;
  thinned[kind] = (thinned[kind] || 0) + 1;
  if (thinned[kind] % every !== 0) return false;
  thinned.shown++;
  return true;
}

function addSpend(data, line) {
  const spend = data.spend;
  spend.x.push(Math.max(line.number, spend.x[spend.x.length - 1] || 0));
  for (const name of ["tokens", "usd", "minutes"]) spend[name].push(data.totals[name]);
}

// The axis reaches the best; other values beyond it are marked at its edge.
function widen(data, value) {
  if (!known(value)) return;
  data.axis = data.axis || { low: value, high: value };
  for (const range of [data.axis, data.axis.focus].filter(one => one)) {
    range.low = Math.min(range.low, value);
    range.high = Math.max(range.high, value);
  }
}

function addLine(data, line) {
  const columns = data.columns;
  count(data, line);
  widen(data, line.best);
  if (!isDrawn(data, line)) return;
  columns.number.push(line.number);
  columns.value.push(known(line.value) ? line.value : null);
  columns.best.push(known(line.best) ? line.best : null);
  columns.outcome.push(placeOf(data.outcomes, line.outcome));
  columns.operator.push(line.operator === undefined ? -1 : placeOf(data.operators, line.operator));
  columns.parents.push(list(line.parents));
  if (line.title) data.titles[String(line.number)] = line.title;
  addSpend(data, line);
}

// Lines after the first `from`. Those that are there already are passed over; if some are missing, the page is taken
// again.
function takeLines(event) {
  const { from, lines } = JSON.parse(event.data), data = shown.data, have = lineCount();
  const [of, to] = event.lastEventId.split("-");
  if (of !== generation() || from > have || !data.columns.number || data.columns.number.length > MOST_POINTS)
    return takeAll();
  if (Number(to) <= have) return;
  for (const line of lines.slice(have - from)) addLine(data, line);
  data.live.at = event.lastEventId;
  drawSoon();
}

function takeFacts(event) {
  const facts = JSON.parse(event.data), before = shown.data.best && shown.data.best.id;
  for (const key of Object.keys(facts)) if (key !== "now") shown.data[key] = facts[key];
  showNow(facts.now, facts.best && facts.best.id !== before
    ? `new best ${amount(shown.data, facts.best.value)}, ${facts.best.id}` : "");
  drawSoon();
}

// Takes the whole page's data, and goes on from there.
async function takeAll() {
  stream.close();
  try {
    const answer = await fetch("data", { cache: "no-store" });
    if (!answer.ok) throw new Error(await answer.text());
    const data = await answer.json();
    for (const key of Object.keys(shown.data)) delete shown.data[key];
    Object.assign(shown.data, data);
    drawSoon();
    listen();
  } catch (problem) {
    showLost(problem.message);
    setTimeout(takeAll, 3 * LEAST_MS);
  }
}

function listen() {
  stream = new EventSource("events/" + shown.data.live.at);
  stream.addEventListener("lines", takeLines);
  stream.addEventListener("facts", takeFacts);
  stream.addEventListener("whole", takeAll);
  stream.addEventListener("error", () =>
    showLost(stream.readyState === EventSource.CLOSED ?
      "the server has ended, or has another address now" : "the connection is lost: trying again"));
}

// ---- the bar ----

const state = el("p", { class: "state", role: "status" }), flight = el("p", { class: "flight" });
const bar = el("aside", { class: "now", "aria-label": "The run now" }, el("a", { href: "../" }, "all projects"), state,
  flight);
let now = { slots: [] };

// A text that changed; news: what a screen reader is to read before it.
function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function showFlight() {
  const slots = list(now.slots), slot = slots[0];
  if (!slot) return setText(flight, "");
  const seconds = slot.started ? Math.max(0, Math.round(Date.now() / 1000 - slot.started)) : null;
  const more = now.of > 1 ? `; and ${number(now.of - 1)} more` : "";
  setText(flight, clean(`experiment ${slot.experiment} ${slot.doing || ""}` +
    (seconds === null ? "" : ` for ${duration(seconds / 60)}`) + (slot.operator ? `, ${slot.operator}` : "") +
    (slot.parents ? ` of ${slot.parents}` : "") + (slot.about ? `: ${slot.about}` : "") + more));
}

function showNow(given, news) {
  now = given;
  const word = given.problem || shown.data.status;
  bar.dataset.state = given.problem ? "lost" : given.running ? (given.paused ? "paused" : "running") : "ended";
  setText(state, clean(word + (news ? "; " + news : "")));
  if (control) control(given);
  showFlight();
}

function showLost(text) {
  bar.dataset.state = "lost";
  setText(state, clean(text));
}

// ---- actions ----

async function act(name, body) {
  const answer = await fetch("do/" + name, { method: "POST", body: JSON.stringify(body) }).catch(problem => problem);
  const text = answer.text ? await answer.text() : String(answer.message);
  setText(state, clean(text.trim()));
  return Boolean(answer.ok);
}

// The buttons of a page that may act; what shows the pause.
function actions() {
  const pause = el("button", { type: "button" }, "pause");
  const note = el("input", { "aria-label": "note for the next prompts", placeholder: "note for the next prompts",
    size: "28", maxlength: "4000" });
  const form = el("form", {}, pause, note, el("button", {}, "direct")), asks = el("div", { class: "waiting" });
  const asked = one => el("p", { class: "asks" },
    clean(`${one.id} = ${amount(shown.data, one.value)}` + (one.gain ? ` (${one.gain})` : "") + " waits for approval" +
      (one.title ? `: ${one.title} ` : " ")),
    ...[ [ "approve", false ], [ "reject", true ] ].map(([word, reject]) => {
      const button = el("button", { type: "button", "aria-label": `${word} ${one.id}` }, word);
      button.addEventListener("click", () => act("approve", { id: one.id, reject }));
      return button;
    }));
  pause.addEventListener("click", () => act(pause.textContent, {}));
  form.addEventListener("submit", async event => {
    event.preventDefault();
    if (note.value.trim() && await act("direct", { message: note.value })) note.value = "";
  });
  bar.append(asks, form);
  let before;
  return given => {
    const waiting = JSON.stringify(given.waiting);
    setText(pause, given.paused ? "resume" : "pause");
    if (waiting !== before) asks.replaceChildren(...list(given.waiting).map(asked));
    before = waiting;
  };
}

const control = shown.data.live.control ? actions() : null;
document.body.prepend(bar);
document.documentElement.dataset.lines = String(lineCount());
setInterval(showFlight, LEAST_MS);
listen();
