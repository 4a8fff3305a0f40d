// health: how the search went: who proposed what was kept, over the run; how experiments failed; where the time went.

const PHASES = { PLAN: "planning", APPLY_CHANGE: "proposing", COMMIT: "committing", VERIFY: "measuring",
  GATE: "at the gate", DECIDE: "deciding" };

// The share that was kept in each part of the run, as small bars with the same in words.
function overTime(parts) {
  const share = part => (part[0] > 0 ? part[1] / part[0] : null);
  const said = parts.map(part => (part[0] > 0 ? `${part[1]} of ${part[0]}` : "none"));
  const wide = 8, high = 20;
  const bars_ = parts.map((part, index) => {
    const tall = part[0] > 0 ? Math.max(2, share(part) * high) : 0;
    return svg("rect", { x: index * wide, y: high - tall, width: wide - 2, height: tall, class: "fill0" });
  });
  return svg("svg", { viewBox: `0 0 ${parts.length * wide} ${high}`, width: parts.length * wide, height: high,
    role: "img", "aria-label": "kept of proposed, from the first part of the run to the last: " + said.join(", ") },
  ...bars_);
}

function sharesTable(one) {
  if (list(one.names).length === 0) return null;
  const head = [ { text: one.kind }, { text: "kept", right: true }, { text: "of", right: true },
    { text: "share", right: true }, { text: "over the run" } ];
  const rows = one.names.map(row => [ row.name, number(row.kept), number(row.count), percent(row.kept / row.count),
    { node: overTime(list(row.parts)) } ]);
  const more = one.left_out > 0 ? ` ${plural(one.left_out, `other ${one.kind}`)} made fewer proposals.` : "";
  return figure(`What was kept, by ${one.kind}`, "Each bar is a part of the run, from its beginning to its end; a tall "
    + `bar means that most were kept.${more}`, table(`Kept by ${one.kind}`, head, rows));
}

function crashTable(health) {
  const crashes = list(health.crashes);
  if (crashes.length === 0) return null;
  const head = [ { text: "how it failed" }, { text: "times", right: true }, { text: "outcome" },
    { text: "first", right: true }, { text: "last", right: true } ];
  const rows = crashes.map(one => [ one.signature, number(one.count), words(one.outcome), number(one.first),
    number(one.last) ]);
  const more = health.crashes_left_out > 0 ? ` ${plural(health.crashes_left_out, "other kind")} are left out.` : "";
  return figure("Failures", `${plural(health.failed, "experiment")} failed, by the first line of the reason.${more}`,
    table("Failures", head, rows, { cards: true }));
}

function phaseBars(health) {
  const times = health.phases || {};
  const shown = Object.keys(PHASES).filter(name => known(times[name]));
  const all = shown.reduce((sum, name) => sum + times[name], 0);
  if (!(all > 0)) return null;
  return figure("Time by phase", "All workers together.", bars("Time by phase", shown.map(name => ({
    name: PHASES[name],
    text: `${duration(times[name] / 60)}, ${percent(times[name] / all)}`,
    parts: [ { share: times[name] / all, className: "fill0" } ]
  }))));
}

function healthFigures(data) {
  const health = data.health;
  if (!health || !(health.candidates > 0 || health.failed > 0)) return [];
  const again = health.candidates > 0 ? el("p", {}, `${plural(health.duplicates, "duplicate")} of what was tried `
    + `before (${percent(health.duplicates / health.candidates)} of ${plural(health.candidates, "candidate")}), `
    + `${number(health.unchanged)} without a change.`) : null;
  return [ again, ...list(health.shares).map(sharesTable), crashTable(health), phaseBars(health) ];
}

// What to know before believing the figures.
function trustFigure(data) {
  const shown = list(data.trust);
  if (shown.length === 0) return null;
  return figure("Trust", "What to know before you believe the figures.", el("dl", { class: "trust" },
    ...shown.map(one => el("div", {}, el("dt", {}, one.label), el("dd", one.doubt ? { class: "doubt" } : {},
      (one.doubt ? "doubtful: " : "") + one.text)))));
}
