// path: the kept steps from the baseline to the best, one below the other, each where the one before it ends.

function pathFigure(data) {
  const steps = data.path ? list(data.path.steps) : [];
  if (steps.length === 0) return null;
  const inside = share => Math.min(Math.max(share, 0), 1);
  const rows = steps.map(step => {
    const start = inside(step.start), end = inside(step.start + step.share);
    const part = { share: Math.max(end - start, 0), className: "fill0" };
    const gained = known(step.gained) ? `${delta(step.gained)}, ` : "";
    return {
      name: `${step.id}  ${clean(step.title || "")}`,
      text: `${gained}${percent(step.share)} of the gain, to ${number(step.value)}`,
      parts: [ { share: start, className: "before" }, part ]
    };
  });
  const left = data.path.left_out > 0 ? ` ${plural(data.path.left_out, "smaller step")} are left out.` : "";
  const note = "The kept steps that gained something, from the baseline on. " +
    "apsis explain measures which hunks of them matter.";
  return figure("The way to the best", note + left, bars("The way to the best", rows));
}
