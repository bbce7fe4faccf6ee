// Why a row does not go on, and why a stage cannot go on.

/** A row that does not go on: made by `reject` and `filter`, given back or thrown. */
export class Rejection {
  constructor(code, text, filtered) {
    this.code = code;
    this.text = text;
    this.filtered = filtered;
  }

  toString() {
    return `${this.code}: ${this.text}`;
  }
}

/** To quarantine. The code is short and stable, people count by it; the text is for people. */
export const reject = (code, text = "") => new Rejection(code, text, false);

/** Dropped on purpose, and counted. */
export const filter = (code, text = "") => new Rejection(code, text, true);

/** A null where there may be none. */
export const notNull = (column, text) => reject(`not_null: ${column}`, `\`${column}\`: ${text}`);

/** A stage cannot do its work: it stops the stream. A bad row is no failure; reject it. */
export class Failure extends Error {
  /** `code` is short and stable: `options`, `input`, `bug`, or a word of the component's own. */
  constructor(code, text, attributes = {}) {
    super(text);
    this.name = "Failure";
    this.code = code;
    this.attributes = attributes;
  }
}
