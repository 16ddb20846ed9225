// The package's interface, described in index.d.ts.

export { Zoothera, Zoothera as default } from "./engine.js";
