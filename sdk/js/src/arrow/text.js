// UTF-8. The runtime of components has no TextDecoder; what it has natively is used instead, since a loop over bytes is dear.

const native = typeof globalThis.TextDecoder === "function";
const decoder = native ? new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }) : null;
const encoder = native ? new TextEncoder() : null;

/** Whether each character is one byte. */
export function isAscii(bytes) {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  const words = new Uint32Array(aligned.buffer, aligned.byteOffset, bytes.length >> 2);
  const rounds = words.length & ~7;
  let seen = 0;
  // Eight at once: a turn of a loop costs more than what is done in it.
  for (let i = 0; i < rounds; i += 8) {
    seen |= words[i] | words[i + 1] | words[i + 2] | words[i + 3] | words[i + 4] | words[i + 5] | words[i + 6] | words[i + 7];
  }
  for (let i = rounds; i < words.length; i += 1) seen |= words[i];
  for (let i = bytes.length & ~3; i < bytes.length; i += 1) seen |= bytes[i];
  return (seen & 0x80808080) === 0;
}

/** The text of bytes of which each is a character. */
export const decodeAscii = native ? (bytes) => decoder.decode(bytes) : (bytes) => atob(bytes.toBase64());

/** The text of bytes; throws when they are no UTF-8. */
export const decodeUtf8 = native
  ? (bytes) => decoder.decode(bytes)
  : (bytes) => (isAscii(bytes) ? decodeAscii(bytes) : decodeURIComponent(escape(decodeAscii(bytes))));

/** The bytes of a text. What is half of a pair of surrogates becomes U+FFFD. */
export const encodeUtf8 = native ? (text) => encoder.encode(text) : (text) => asciiOf(text) ?? narrow(narrowed(text));

/** A text with a character for each byte of its UTF-8. */
const narrowed = (text) => unescape(encodeURIComponent(text.toWellFormed()));
/** The bytes of such a text. */
const narrow = (text) => Uint8Array.fromBase64(btoa(text));

/** The bytes of a text of which each character is one; `undefined` when it has others. */
function asciiOf(text) {
  if (native) {
    const bytes = encoder.encode(text);
    return bytes.length === text.length ? bytes : undefined;
  }
  try {
    const bytes = narrow(text);
    return isAscii(bytes) ? bytes : undefined;
  } catch {
    return undefined;
  }
}

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
  let at = 0;
  const whole = asciiOf(texts.join(""));
  if (whole !== undefined) {
    for (let i = 0; i < texts.length; i += 1) ends[i] = at += texts[i].length;
    return whole;
  }
  const parts = texts.map(encodeUtf8);
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  parts.forEach((part, i) => {
    bytes.set(part, at);
    ends[i] = at += part.length;
  });
  return bytes;
}
