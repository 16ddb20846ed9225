// The progress of the engine's download, as a bar with megabytes.

const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

export class Loading {
  constructor() {
    this.bar = document.createElement("progress");
    this.bar.setAttribute("aria-label", "Loading the engine");
    this.text = document.createElement("span");
    this.text.setAttribute("aria-hidden", "true");
    this.place = document.createElement("div");
    this.place.className = "loading";
    this.place.id = "loading";
    this.place.hidden = true;
    this.place.append(this.bar, this.text);
    document.getElementById("alert").after(this.place);
  }

  /** Shows the bytes that have arrived. */
  show({ loaded, total }) {
    this.place.hidden = false;
    this.bar.max = total;
    this.bar.value = loaded;
    this.text.textContent = loaded < total ? `Loading the engine: ${megabytes(loaded)} of ${megabytes(total)} MB`
      : `Starting the engine (${megabytes(total)} MB)`;
  }

  hide() { this.place.hidden = true; }
}
