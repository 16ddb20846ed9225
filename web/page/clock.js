// A chess clock with an increment for each move.

const text = (ms) => {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 10) return `0:0${seconds.toFixed(1)}`;
  const whole = Math.ceil(seconds);
  const minutes = Math.floor(whole / 60);
  return `${minutes}:${String(whole % 60).padStart(2, "0")}`;
};

export class Clock {
  /** `control` is "minutes+seconds", or "" for no clock. `onFlag` is called with the side whose time is over. `left`
   * contains the remaining milliseconds of each side; if absent, each side has its initial time. */
  constructor(control, onFlag, left) {
    this.control = control;
    const [minutes, seconds] = control.split("+").map(Number);
    this.isOn = control !== "";
    this.increment = (seconds || 0) * 1000;
    this.left = left ?? { white: (minutes || 0) * 60000, black: (minutes || 0) * 60000 };
    this.running = null;
    this.onFlag = onFlag;
  }

  /** Remaining time of a side in milliseconds. */
  of(side) {
    return this.left[side] - (this.running === side ? performance.now() - this.since : 0);
  }

  /** Remaining times of both sides in milliseconds. */
  now() { return { white: this.of("white"), black: this.of("black") }; }

  text(side) { return text(this.of(side)); }

  /** Starts the clock of a side. */
  start(side) {
    if (!this.isOn) return;
    this.stop();
    this.running = side;
    this.since = performance.now();
    this.timer = setTimeout(() => this.onFlag(side), Math.max(0, this.left[side]));
  }

  stop() {
    clearTimeout(this.timer);
    if (this.running) this.left[this.running] = this.of(this.running);
    this.running = null;
  }

  /** Stops the running clock and adds the increment. */
  press() {
    const side = this.running;
    this.stop();
    if (side) this.left[side] += this.increment;
  }

  /** The arguments of the UCI command `go` for this clock. */
  limits() {
    const time = (side) => Math.max(1, Math.round(this.of(side)));
    return `wtime ${time("white")} btime ${time("black")} winc ${this.increment} binc ${this.increment}`;
  }
}
