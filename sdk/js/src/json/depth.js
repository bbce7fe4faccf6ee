// How deep a message may be nested: parsers and writers call themselves, and the stack of a sandbox is small.

/** Arrays and objects within each other, in the object that a message is. */
const DEPTH_MAX = 200;

/** Whether an array or object is too deep, in so many others. */
export const isTooDeep = (around) => around > DEPTH_MAX;

/** Whether a text is nested deeper than it may, found without nested calls. Of one that is no JSON it may say so wrongly. */
export function isDeep(text) {
  if (text.length <= DEPTH_MAX || text.split("[").length + text.split("{").length <= DEPTH_MAX + 2) return false;
  const brackets = text.replace(/\\./gs, "").replace(/"[^"]*"/g, "").replace(/[^[\]{}]+/g, "");
  let around = 0;
  for (const bracket of brackets) {
    if (bracket === "]" || bracket === "}") around -= 1;
    else if (isTooDeep(around)) return true;
    else around += 1;
  }
  return false;
}
