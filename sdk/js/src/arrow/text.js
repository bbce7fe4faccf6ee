// UTF-8. The runtime of components has no TextDecoder; what it has natively is used instead, since a loop over bytes is dear.

const NOT_ASCII = /[^\0-\x7f]/;
const native = typeof globalThis.TextDecoder === "function";
const decoder = native ? new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }) : null;
const encoder = native ? new TextEncoder() : null;

/** Whether each character is one byte. */
export const isAscii = (text) => !NOT_ASCII.test(text);

/** Bytes as characters 0 to 255. */
const latin = (bytes) => atob(bytes.toBase64());

/** The text of bytes; throws when they are no UTF-8. */
export function decodeUtf8(bytes) {
  if (native) return decoder.decode(bytes);
  const text = latin(bytes);
  return isAscii(text) ? text : decodeURIComponent(escape(text));
}

/** The bytes of a text. What is half of a pair of surrogates becomes U+FFFD. */
export function encodeUtf8(text) {
  if (native) return encoder.encode(text);
  return Uint8Array.fromBase64(btoa(isAscii(text) ? text : narrowed(text)));
}

/** A text with a character for each byte of its UTF-8. */
const narrowed = (text) => unescape(encodeURIComponent(text.toWellFormed()));

/** Where bytes stop to be UTF-8, counted from 0; their length when they are. */
export function validUpTo(bytes) {
  let at = 0;
  while (at < bytes.length) {
    const length = sequence(bytes, at);
    if (length === 0) return at;
    at += length;
  }
  return at;
}

/** The bytes of the character at a place, 0 when there is none. */
function sequence(bytes, at) {
  const first = bytes[at];
  if (first < 0x80) return 1;
  const length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  for (let i = 1; i < length; i += 1) {
    const byte = bytes[at + i];
    if (!(byte >= (i === 1 ? low : 0x80) && byte <= (i === 1 ? high : 0xbf))) return 0;
  }
  return length;
}

/** The texts of a column, encoded together: their bytes, and where each ends. */
export function encodeAll(texts, ends) {
  const whole = texts.join("");
  let at = 0;
  if (isAscii(whole)) {
    texts.forEach((text, i) => (ends[i] = at += text.length));
    return encodeUtf8(whole);
  }
  if (native) return encodeEach(texts, ends);
  const parts = texts.map((text) => (isAscii(text) ? text : narrowed(text)));
  parts.forEach((part, i) => (ends[i] = at += part.length));
  return Uint8Array.fromBase64(btoa(parts.join("")));
}

function encodeEach(texts, ends) {
  const bytes = texts.map((text) => encoder.encode(text));
  const whole = new Uint8Array(bytes.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  bytes.forEach((part, i) => {
    whole.set(part, at);
    ends[i] = at += part.length;
  });
  return whole;
}
