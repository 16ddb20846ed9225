// Reviews games with the engine's `review` command and shows the resulting page.

import { readState, writeState } from "./store.js";

const $ = (id) => document.getElementById(id);

export class Review {
  constructor(app) {
    this.app = app;
    this.urls = [];
    $("effort").value = app.settings.get("effort");
    $("review-form").addEventListener("submit", (event) => { event.preventDefault(); this.run(); });
    $("pgn-file").addEventListener("change", async ({ target }) => {
      if (target.files[0]) this.load(await target.files[0].text());
      target.value = "";
    });
    $("pgn").addEventListener("input", () => this.keep());
    $("panel-review").addEventListener("click", ({ target }) => {
      const what = target.closest("[data-do]")?.dataset.do;
      if (what === "cancel") this.abort.abort();
      if (what === "other") this.phase("form");
    });
  }

  /** Puts games into the form and reviews them. */
  load(text) {
    $("pgn").value = text;
    this.run();
  }

  /** Stores the text and the last result. */
  keep(result = this.result) {
    this.result = result;
    return writeState("review", { text: $("pgn").value, result });
  }

  /** Shows the stored text and result, unless something was pasted in the meantime. */
  async restore() {
    const stored = await readState("review");
    if (!stored || $("pgn").value || this.abort) return;
    $("pgn").value = stored.text;
    this.result = stored.result;
    if (stored.result) this.show(stored.result.written, stored.result.json);
  }

  phase(name) {
    $("review-form").hidden = name !== "form";
    $("review-busy").hidden = name !== "busy";
    $("review-result").hidden = name !== "result";
    if (name === "form") $("pgn").focus({ preventScroll: true });
  }

  async run() {
    const games = $("pgn").value;
    if (!games.trim()) return this.app.alert("Paste a game first, or choose a file.");
    this.abort?.abort();
    const abort = new AbortController();
    this.abort = abort;
    const nodes = $("effort").value;
    this.app.settings.put({ effort: Number(nodes) });
    this.keep(null);
    this.phase("busy");
    this.app.alert("");
    this.app.pause();
    const begin = performance.now();
    const tell = () => {
      const seconds = Math.round((performance.now() - begin) / 1000);
      $("review-status").textContent = seconds < 3 ? "Reviewing…" : `Reviewing… ${5 * Math.round(seconds / 5)} seconds`;
    };
    tell();
    const timer = setInterval(tell, 5000);
    try {
      const outputs = ["--json", "--html", "review.html", "--pgn", "annotated.pgn"];
      const args = ["review", "games.pgn", "--nodes", nodes, "--detail", "full", ...outputs];
      const files = { "games.pgn": games };
      if ($("side").value) args.push("--side", $("side").value);
      const net = this.app.settings.netBytes;
      if (net) { files["net.nnue"] = net; args.push("--net", "net.nnue"); }
      const session = await this.app.session();
      const { code, stdout, stderr, files: written } = await session.run(args, files, { signal: abort.signal });
      if (!written["review.html"]) throw new Error(stderr.trim() || `The review ended with code ${code}.`);
      if (code !== 0) this.app.alert(stderr.trim());
      this.show(written, stdout);
      this.keep({ written, json: stdout });
    } catch (error) {
      if (this.abort !== abort) return;
      this.phase("form");
      if (!abort.signal.aborted) this.app.alert(error);
    } finally {
      clearInterval(timer);
    }
  }

  show(written, json) {
    this.urls.forEach((url) => URL.revokeObjectURL(url));
    const url = (content, type) => {
      const made = URL.createObjectURL(new Blob([content], { type }));
      this.urls.push(made);
      return made;
    };
    this.urls = [];
    $("save-page").href = url(written["review.html"], "text/html;charset=utf-8");
    $("save-pgn").href = url(written["annotated.pgn"], "application/x-chess-pgn;charset=utf-8");
    $("save-json").href = url(json, "application/json;charset=utf-8");
    this.phase("result");
    const frame = $("review-frame");
    frame.src = $("save-page").href;
    this.app.say("The review is ready.");
    $("review-result").scrollIntoView({ block: "start" });
  }

  restarted() { if (!$("review-busy").hidden) this.run(); }
  move() {}
  go() {}
  enter() { $("typed").hidden = true; }
  leave() {}
}
