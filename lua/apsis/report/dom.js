// dom: elements, and how text and numbers are shown. Whatever comes from the data goes in as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";
const NO_VALUE = "\u2013";

const list = value => (Array.isArray(value) ? value : []);
const known = value => typeof value === "number" && Number.isFinite(value);

// What moves a terminal's cursor or turns the direction of writing.
const TURNING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

// A name or a title as one line, with a mark for each such character, and for what is piled up on one character.
function clean(text) {
  return String(text).replace(TURNING, "\ufffd").replace(/(\p{M}{4})\p{M}+/gu, "$1\ufffd");
}

function fill(node, attributes, children) {
  for (const name of Object.keys(attributes || {})) node.setAttribute(name, attributes[name]);
  for (const child of children) {
    if (child == null || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(clean(child)));
  }
  return node;
}

function el(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function svg(name, attributes, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function signed(text) {
  return text.replace(/-/g, "\u2212");
}

function number(value) {
  if (!known(value)) return NO_VALUE;
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e9) return signed(value.toLocaleString("en-US"));
  if (size >= 1e6 || size < 1e-4) return signed(Number(value.toPrecision(4)).toExponential().replace("e+", "e"));
  return signed(String(Number(value.toPrecision(6))));
}

// A number in a column.
function short(value) {
  if (!known(value) || Number.isInteger(value)) return number(value);
  return number(Number(value.toPrecision(4)));
}

function percent(share) {
  if (!known(share)) return NO_VALUE;
  const value = 100 * share;
  return (value > 0 && value < 1 ? "<1" : value < 100 && value > 99 ? ">99" : value.toFixed(0)) + "\u00a0%";
}

function delta(value) {
  if (!known(value)) return NO_VALUE;
  return (value > 0 ? "+" : "") + number(value);
}

function plural(count, one, many) {
  return number(count) + " " + (count === 1 ? one : many || one + "s");
}

function duration(minutes) {
  const rounded = value => short(Number(value.toPrecision(3)));
  if (minutes < 2) return rounded(60 * minutes) + " s";
  return minutes < 120 ? rounded(minutes) + " min" : rounded(minutes / 60) + " h";
}

// The digits of a column, six to fifteen: enough that different numbers look different.
function numbers(values) {
  const distinct = [...new Set(values.filter(known))];
  const text = (value, digits) => {
    if (!known(value) || Number.isInteger(value) || digits === 6) return number(value);
    return signed(String(Number(value.toPrecision(digits))));
  };
  let digits = 6;
  while (digits < 15 && new Set(distinct.map(value => text(value, digits))).size < distinct.length) digits++;
  return value => text(value, digits);
}

// Cells: a text, or { text, node, className }. A table scrolls in its box; on a phone, with `cards`, each row is a card
// whose cells carry the column's `label` or text. Cards are blocks: only their roles keep them a table.
function table(label, head, rows, { cards, className = "" } = {}) {
  const role = name => (cards ? { role: name } : {});
  const cell = (content, index) => {
    const column = head[index], first = index === 0, attributes = role(first ? "rowheader" : "cell");
    const plain = content === null || typeof content !== "object" || content instanceof Node;
    const given = plain ? { text: content } : content;
    if (column.right) attributes.class = "right";
    if (cards && !first) attributes["data-label"] = clean(column.label === undefined ? column.text : column.label);
    if (given.className) attributes.class = (attributes.class || "") + " " + given.className;
    if (first) attributes.scope = "row";
    return el(first ? "th" : "td", attributes, given.node || given.text);
  };
  const names = head.map(column =>
    el("th", { scope: "col", class: column.right ? "right" : "", ...role("columnheader") }, column.text));
  const body = rows.map(row => el("tr", role("row"), ...row.map(cell)));
  const attributes = { "aria-label": clean(label), class: className + (cards ? " cards" : ""), ...role("table") };
  const built = el("table", attributes,
    el("thead", role("rowgroup"), el("tr", role("row"), ...names)),
    el("tbody", role("rowgroup"), ...body));
  return el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": clean(label) }, built);
}

function facts(pairs) {
  const shown = pairs.filter(pair => pair);
  return el("dl", { class: "facts" }, ...shown.map(pair => el("div", {}, el("dt", {}, pair[0]), el("dd", {}, pair[1]),
    pair[2] ? el("dd", { class: "aside" }, pair[2]) : null)));
}

// A bar per row, { name, of, parts: [{ share, className }], text }: elements, so that names wrap on a phone and numbers
// can be read aloud.
function bars(label, rows) {
  return el("ul", { class: "bars", "aria-label": clean(label) }, ...rows.map(row => {
    const track = el("span", { class: "track", "aria-hidden": "true" }, ...row.parts.map(part => {
      const bar = el("span", { class: "part " + part.className });
      bar.style.width = (100 * part.share).toFixed(2) + "%";
      return bar;
    }));
    return el("li", {}, el("span", { class: "name" }, row.name), track, el("span", { class: "amount" }, row.text));
  }));
}

function figure(title, note, ...children) {
  return el("figure", {}, el("figcaption", {}, el("h3", {}, title), note ? el("p", {}, note) : null), ...children);
}
