// Lines for the host's log, and where they go: to the host in a component, else to standard error.

const LEVELS = ["trace", "debug", "info", "warn", "error"];

let write = (level, text) => globalThis.console.error(`${LEVELS[level]}: ${text}`);

/** Where lines go from now on. */
export function connect(to) {
  write = to;
}

/** The host cuts long lines and drops floods. */
export const log = Object.freeze(
  Object.fromEntries(LEVELS.map((name, level) => [name, (text) => write(level, String(text))])),
);
