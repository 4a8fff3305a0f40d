// front: pictures of candidates by two of their metrics.

const FAR = 30;

// An axis for these values: by their logarithms if they reach far, else from 0 if that is near.
function axisFor(label, values) {
  const low = Math.min(...values), high = Math.max(...values);
  if (low > 0 && high / low >= FAR) return { label, log: true };
  return low >= 0 && low < high / 3 ? { label, min: 0 } : { label, grace: "5%" };
}

// One picture; spec.steps: whether a line goes from member to member of the front.
function metricsFigure(spec) {
  const at = point => ` ${clean(point.id)}: ${number(point.x)}, ${number(point.y)}`;
  const front = list(spec.front), left = list(spec.left), rejected = list(spec.rejected);
  const all = [...front, ...left, ...rejected];
  const edge = colours => line("front", 0, colours, front, { silent: true, order: 1 });
  const datasets = colours => [
    ...(spec.steps ? [edge(colours)] : []),
    dots("on the front", front, colour(colours, 0),
      { pointRadius: 5, pointBackgroundColor: colour(colours, 0), order: 0 }),
    dots("left the front", left, colour(colours, 0), { order: 2 }),
    dots("rejected", rejected, colour(colours, 1), { order: 3 })
  ];
  const key = legend([
    { name: `on the front (${number(front.length)})`, shape: "dot", className: "fill0" },
    { name: `left the front (${number(left.length)})`, shape: "dot", className: "fill0 pale" },
    { name: `rejected (${number(rejected.length)})`, shape: "dot", className: "fill1 pale" }
  ]);
  const members = front.map(point => at(point).trim()).join("; ");
  const drawing = chart({
    label: `${spec.title}, ${spec.x} against ${spec.y}. On the front: ${members}.`,
    tall: true,
    scatter: true,
    x: axisFor(clean(spec.x), all.map(point => point.x)),
    y: axisFor(clean(spec.y), all.map(point => point.y)),
    datasets,
    tip: item => (item.raw.id ? at(item.raw) : ""),
  });
  return figure(spec.title, "Each mark is a candidate. No kept candidate beats a member of the front in every metric.",
    key, drawing);
}
