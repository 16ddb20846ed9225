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

/** Asks a question. Resolves with whether the button `yes` was chosen. */
export function confirmed(question, yes) {
  document.getElementById("confirm-text").textContent = question;
  document.getElementById("confirm-yes").textContent = yes;
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}
dialog.addEventListener("click", ({ target }) => { if (target === dialog) dialog.close(""); });
