// index: keeps the page of all projects up to date: its server sends the rows again when one has changed. The focus
// stays.

function takeRows(event) {
  const focus = document.activeElement.dataset.key;
  shown.data = JSON.parse(event.data);
  shown.page.replaceChildren();
  build(shown.page, shown.data);
  const again = focus && document.querySelector(`[data-key="${focus}"]`);
  if (again) again.focus({ preventScroll: true });
}

const stream = new EventSource("events");
stream.addEventListener("index", takeRows);
stream.addEventListener("error", () => {
  document.getElementById("state").textContent = stream.readyState === EventSource.CLOSED ?
    "The server has ended, or has another address now." : "The connection is lost: trying again.";
});
