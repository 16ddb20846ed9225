// The choice of a clock: a listed one, or minutes and seconds of one's own.

const $ = (id) => document.getElementById(id);

const within = (input, value) => Math.min(Math.max(Number.isFinite(value) ? value : Number(input.min), Number(input.min)), Number(input.max));

/** The chosen clock as "minutes+seconds", or "" for none. */
export function chosenTime() {
  if ($("time").value !== "custom") return $("time").value;
  const [minutes, increment] = ["minutes", "increment"].map((id) => within($(id), $(id).valueAsNumber));
  return `${minutes}+${increment}`;
}

/** Shows a clock in the form. */
export function showTime(control) {
  const isListed = [...$("time").options].some(({ value }) => value === control);
  $("time").value = isListed ? control : "custom";
  const [minutes, increment] = (control || "10+5").split("+");
  $("minutes").value = minutes;
  $("increment").value = increment;
  $("custom-time").hidden = isListed;
}

/** Shows the fields of a custom clock when it is chosen. */
export function bindTime() {
  $("time").addEventListener("change", () => { $("custom-time").hidden = $("time").value !== "custom"; });
  for (const id of ["minutes", "increment"]) {
    $(id).addEventListener("change", ({ target }) => { target.value = within(target, target.valueAsNumber); });
  }
}
