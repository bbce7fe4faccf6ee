// What authors and their packages expect of a JavaScript runtime, and the runtime of components has not.

import { decodeUtf8, encodeUtf8 } from "../arrow/text.js";

class TextDecoder {
  encoding = "utf-8";

  decode(bytes = new Uint8Array(0)) {
    const view = ArrayBuffer.isView(bytes) ? bytes : new Uint8Array(bytes);
    return decodeUtf8(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
  }
}

class TextEncoder {
  encoding = "utf-8";

  encode(text = "") {
    return encodeUtf8(String(text));
  }
}

/** Text for a line of the log. */
function shown(value) {
  if (typeof value === "string") return value;
  if (value instanceof Error) return `${value}\n${value.stack ?? ""}`.trimEnd();
  try {
    return JSON.stringify(value, (_, inner) => plain(inner)) ?? String(value);
  } catch {
    return String(value);
  }
}

/** What JSON has in the place of values that it has not. */
function plain(value) {
  if (typeof value === "bigint") return `${value}n`;
  return value instanceof Map || value instanceof Set ? [...value] : value;
}

/** `console`, whose lines go to a log. */
export function install(log) {
  const line = (level) => (...values) => level(values.map(shown).join(" "));
  const [debug, info, warn, error] = [log.debug, log.info, log.warn, log.error].map(line);
  globalThis.console = { log: info, info, debug, trace: debug, warn, error };
  globalThis.TextDecoder ??= TextDecoder;
  globalThis.TextEncoder ??= TextEncoder;
}
