// A chess clock with an increment for each move.

const text = (ms) => {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 10) return `0:0${seconds.toFixed(1)}`;
  const whole = Math.ceil(seconds);
  const minutes = Math.floor(whole / 60);
  return `${minutes}:${String(whole % 60).padStart(2, "0")}`;
};

/** A clock in a comment of a game; `null` without one. */
export const clockText = (seconds) => (seconds === undefined ? null : text(1000 * seconds));

export class Clock {
  /**
   * `control` is "minutes+seconds", or "" for no clock. `onFlag` is called with the side that ran out of time. `left`
   * has the remaining milliseconds of each side, if they differ from the initial time.
   */
  constructor(control, onFlag, left) {
    this.control = control;
    const [minutes, seconds] = control.split("+").map(Number);
    this.isOn = control !== "";
    this.minutes = minutes || 0;
    this.increment = (seconds || 0) * 1000;
    this.left = left ?? { white: this.minutes * 60000, black: this.minutes * 60000 };
    this.running = null;
    this.onFlag = onFlag;
  }

  /** Remaining milliseconds of a side. */
  of(side) {
    return this.left[side] - (this.running === side ? performance.now() - this.since : 0);
  }

  /** Remaining milliseconds of both sides. */
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

  /** Ends the move of the side whose clock is running. */
  press() {
    const side = this.running;
    this.stop();
    if (side) this.left[side] += this.increment;
  }

  /** The clock arguments of a UCI `go`. */
  limits() {
    const time = (side) => Math.max(1, Math.round(this.of(side)));
    return `wtime ${time("white")} btime ${time("black")} winc ${this.increment} binc ${this.increment}`;
  }
}
