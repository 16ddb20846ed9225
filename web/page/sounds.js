// Short sounds, made by oscillators: no files. Browsers allow sound after the first click or key.

let context = null;
let isOn = true;

/** Each sound as tones: start in seconds, frequency in Hz, length in seconds, and loudness. */
const SOUNDS = {
  move: [[0, 190, 0.06, 0.5]],
  capture: [[0, 140, 0.07, 0.6], [0.015, 320, 0.05, 0.35]],
  check: [[0, 420, 0.07, 0.3], [0.08, 560, 0.09, 0.3]],
  end: [[0, 330, 0.16, 0.25], [0.14, 440, 0.16, 0.25], [0.28, 550, 0.3, 0.25]],
};

function tone([start, frequency, length, loudness]) {
  const at = context.currentTime + start;
  const oscillator = new OscillatorNode(context, { type: "triangle", frequency });
  const gain = new GainNode(context, { gain: 0 });
  gain.gain.setValueAtTime(0, at);
  gain.gain.linearRampToValueAtTime(loudness * 0.4, at + 0.005);
  gain.gain.exponentialRampToValueAtTime(0.001, at + length);
  oscillator.connect(gain).connect(context.destination);
  oscillator.start(at);
  oscillator.stop(at + length);
}

/** Plays a sound. Without a click or key before, nothing sounds. */
export function playSound(name) {
  if (!isOn || !navigator.userActivation?.hasBeenActive || typeof AudioContext === "undefined") return;
  context ??= new AudioContext();
  if (context.state === "suspended") context.resume();
  SOUNDS[name].forEach(tone);
}

/** Plays the sound of a move, given in SAN. */
export function moveSound(san) {
  playSound(/[+#]$/.test(san) ? "check" : san.includes("x") ? "capture" : "move");
}

export function switchSounds(on) { isOn = on; }
