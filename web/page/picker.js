// The choice of one game of a PGN text that has many.

const made = (name, attributes, ...children) => {
  const element = Object.assign(document.createElement(name), attributes);
  element.append(...children);
  return element;
};

/** "Anna – Ben · 1–0 · 2026.11.28 · London" */
function label({ headers }, index) {
  const known = (name) => (headers.get(name) ?? "").replace(/^[?.*]*$/, "");
  const players = `${known("White") || "White"} – ${known("Black") || "Black"}`;
  const result = known("Result").replace("1/2-1/2", "½–½").replace("-", "–");
  return [`${index + 1}. ${players}`, result, known("Date"), known("Event")].filter(Boolean).join(" · ");
}

/** Shows the games of a text. Resolves with the chosen one, or with `null` if the dialog is closed. */
export function pickGame(games) {
  const list = made("ol", { className: "picker" }, ...games.map((game, index) =>
    made("li", {}, made("button", { type: "submit", value: String(index) }, label(game, index)))));
  const title = made("h2", { id: "picker-title", textContent: `This text has ${games.length} games` });
  const close = made("button", { type: "submit", value: "" , textContent: "Cancel" });
  const form = made("form", { method: "dialog" }, title, list, made("div", { className: "buttons" }, close));
  const dialog = made("dialog", { id: "picker" }, form);
  dialog.setAttribute("aria-labelledby", title.id);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(games[dialog.returnValue === "" ? -1 : Number(dialog.returnValue)] ?? null);
    }, { once: true });
  });
}
