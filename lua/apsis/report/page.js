// page: reads the data, puts the page together, and draws again when light becomes dark.

const later = []; // what needs the page's measures before it can be drawn

// Draws every chart and what needs the page's measures.
function paint() {
  drawAll();
  for (const again of later) again();
}

function start() {
  const data = JSON.parse(document.getElementById("data").textContent);
  const page = document.getElementById("page");
  const kind = page.dataset.kind;
  page.textContent = "";
  document.documentElement.dataset.kind = kind;
  build(page, data);
  paint();
  addEventListener("resize", () => later.forEach(again => again()));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  document.documentElement.dataset.drawn = "yes";
  return { page, data };
}

const shown = start();
