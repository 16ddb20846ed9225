// Short messages that disappear, and questions.

const toast = document.getElementById("toast");
let timer;

/** Shows a message for two seconds, a long one for longer. */
export function showToast(text) {
  clearTimeout(timer);
  toast.textContent = text;
  toast.hidden = false;
  timer = setTimeout(() => { toast.hidden = true; }, Math.max(2000, 70 * text.length));
}

const dialog = document.getElementById("confirm");
let answer = () => {};

/**
 * Asks a question. Resolves with whether the button `yes` was chosen. A question that is still open, or whose answer has
 * not arrived yet, is answered with no.
 */
export function confirmed(question, yes) {
  answer(false);
  document.getElementById("confirm-text").textContent = question;
  document.getElementById("confirm-yes").textContent = yes;
  dialog.returnValue = "";
  if (!dialog.open) dialog.showModal();
  return new Promise((resolve) => { answer = resolve; });
}
// The event arrives after the dialog was closed, when the next question may already be shown.
dialog.addEventListener("close", () => { if (!dialog.open) answer(dialog.returnValue === "yes"); });
dialog.addEventListener("click", ({ target }) => { if (target === dialog) dialog.close(""); });
