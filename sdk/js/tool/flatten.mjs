// The build tool wraps the component of the runtime together with one that answers what it imports while it is built.
// Hosts run files that are one component: this takes the inner one out and closes those imports in it.
//
// Nothing is renumbered: each part that goes gives way to one that defines as many entries of the same kind. The imported
// instance becomes an instance without exports, an alias of its function an alias of another function, and a lowered
// function the entry of the runtime's own table of calls that stands for it, which has its type. A call of it would never
// end, and traps; it could come only of an `import()` at run time, and a bundle has none.

import { Reader, number, sections, text, write } from "./binary.mjs";

const LOADER = "local:init/module-loader";
const FUNCTIONS = ["resolve", "load"];
const SECTION = { coreInstance: 2, component: 4, instance: 5, alias: 6, canon: 8, import: 10 };
const SORT_CORE = 0x00;
const SORT_FUNCTION = 0x01;
const OF_INSTANCE = 0x00;
const OF_CORE_INSTANCE = 0x01;
const OF_OUTER = 0x02;
const LOWER = 0x01;

/** The one component that the output of the build tool is about. */
export function flatten(composed) {
  const inner = sections(composed).find((section) => section.id === SECTION.component);
  if (!inner) throw unknown("it holds no component");
  const component = composed.subarray(inner.start, inner.end);
  const closing = new Closing();
  const parts = sections(component).map((section) => closing.replaced(component, section));
  if (closing.closed !== FUNCTIONS.length) throw unknown(`\`${LOADER}\` is not used as it was`);
  return write(component.subarray(0, 8), parts);
}

const unknown = (what) => new Error(`the component that the build tool made is not of the known shape: ${what}`);

/** Walks the sections of the component in their order. */
class Closing {
  closed = 0;
  #instances = 0;
  #coreFunctions = 0;
  #loader = -1;
  /** Core functions that are entries of core instances, by number. */
  #entries = new Map();
  /** The entry of the table of calls for each function of the loader. */
  #table = new Map();
  /** A function of another instance. */
  #other = null;
  /** The function of the loader that the next lowering is of. */
  #lowered = null;

  replaced(component, section) {
    const reader = new Reader(component.subarray(section.start, section.end));
    const bytes = this.#step(section.id, reader, reader.number());
    return bytes ?? component.subarray(section.head, section.end);
  }

  #step(id, reader, count) {
    switch (id) {
      case SECTION.import:
        return this.#import(reader);
      case SECTION.instance:
        this.#instances += count;
        return undefined;
      case SECTION.coreInstance:
        return this.#coreInstance(reader, count);
      case SECTION.alias:
        return this.#aliases(reader, count);
      case SECTION.canon:
        return this.#canon(reader, count);
      default:
        return undefined;
    }
  }

  #import(reader) {
    reader.byte();
    const name = reader.text();
    if (reader.byte() !== 0x05) return undefined;
    this.#instances += 1;
    if (name !== LOADER) return undefined;
    this.#loader = this.#instances - 1;
    return section(SECTION.instance, [1, 0x01, 0]);
  }

  /** The instance that gives the loader's functions to the runtime consists of entries of the table of calls. */
  #coreInstance(reader, count) {
    if (count !== 1 || reader.byte() !== 0x01) return;
    const exports = Array.from({ length: reader.number() }, () => [reader.text(), reader.byte(), reader.number()]);
    if (exports.map(([name]) => name).join() !== FUNCTIONS.join()) return;
    for (const [name, , index] of exports) this.#table.set(name, this.#entries.get(index));
  }

  #aliases(reader, count) {
    let replacement;
    for (let i = 0; i < count; i += 1) replacement = this.#alias(reader, count) ?? replacement;
    return replacement;
  }

  #alias(reader, count) {
    const sort = reader.byte();
    const coreSort = sort === SORT_CORE ? reader.byte() : null;
    const target = reader.byte();
    if (target === OF_OUTER) return void [reader.number(), reader.number()];
    const entry = { instance: reader.number(), name: reader.text() };
    if (target === OF_CORE_INSTANCE && coreSort === 0) this.#entries.set(this.#coreFunctions++, entry);
    if (target !== OF_INSTANCE || sort !== SORT_FUNCTION) return undefined;
    if (entry.instance !== this.#loader) {
      this.#other ??= entry;
      return undefined;
    }
    if (count !== 1 || !this.#other) throw unknown(`\`${entry.name}\` of \`${LOADER}\` does not stand alone`);
    this.#lowered = entry.name;
    return aliased([SORT_FUNCTION, OF_INSTANCE], this.#other);
  }

  #canon(reader, count) {
    const kind = reader.byte();
    if (kind !== 0x00) this.#coreFunctions += count;
    if (this.#lowered === null) return undefined;
    const entry = this.#table.get(this.#lowered);
    if (kind !== LOWER || count !== 1 || !entry) throw unknown(`\`${this.#lowered}\` of \`${LOADER}\` is not lowered`);
    this.#lowered = null;
    this.closed += 1;
    return aliased([SORT_CORE, 0x00, OF_CORE_INSTANCE], entry);
  }
}

const section = (id, bytes) => Uint8Array.from([id, ...number(bytes.length), ...bytes]);
const aliased = (what, { instance, name }) => section(SECTION.alias, [1, ...what, ...number(instance), ...text(name)]);
