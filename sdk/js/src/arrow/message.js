// The envelope of a message: where its rows, nodes and buffers are said, and where its body starts.

const CONTINUATION = 0xffffffff;
const RECORD_BATCH = 3;
const V5 = 4;
const PREFIX = 8;
/** Bytes of the header before its nodes. */
const HEADER = 72;

/** Reads the envelope: `rows`, the `nodes` and `buffers` in their order, as [length, nulls] and [start, end] in `bytes`. */
export function openMessage(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength < PREFIX || view.getUint32(0, true) !== CONTINUATION) {
    throw new Error("the message does not start with the continuation marker");
  }
  const root = PREFIX + view.getUint32(PREFIX, true);
  if (view.getUint8(field(view, root, 1)) !== RECORD_BATCH) throw new Error("the message is no record batch");
  const batch = follow(view, field(view, root, 2));
  const body = PREFIX + view.getInt32(4, true);
  const length = field(view, batch, 0);
  return {
    rows: length === 0 ? 0 : long(view, length),
    nodes: pairs(view, field(view, batch, 1), (count, nulls) => [count, nulls]),
    buffers: pairs(view, field(view, batch, 2), (offset, size) => [body + offset, body + offset + size]),
  };
}

/** Where a field of a table stands; 0 when it is not there. */
function field(view, table, number) {
  const vtable = table - view.getInt32(table, true);
  const at = 4 + 2 * number;
  if (at >= view.getUint16(vtable, true)) return 0;
  const offset = view.getUint16(vtable + at, true);
  return offset === 0 ? 0 : table + offset;
}

const follow = (view, at) => at + view.getUint32(at, true);
/** Lengths and places in a message fit a float: a message is smaller than 4 GiB. */
const long = (view, at) => view.getUint32(at, true) + view.getInt32(at + 4, true) * 2 ** 32;

function pairs(view, at, make) {
  if (at === 0) return [];
  const start = follow(view, at);
  return Array.from({ length: view.getUint32(start, true) }, (_, i) => {
    const pair = start + 4 + 16 * i;
    return make(long(view, pair), long(view, pair + 8));
  });
}

/** A message of so many rows, with these nodes, [length, nulls], and buffers, each a typed array. */
export function writeMessage(rows, nodes, buffers) {
  const metadata = HEADER + 8 + 16 * (nodes.length + buffers.length);
  const sizes = buffers.map((buffer) => padded(buffer.byteLength));
  const body = sizes.reduce((sum, size) => sum + size, 0);
  const bytes = new Uint8Array(PREFIX + metadata + body);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, CONTINUATION, true);
  view.setInt32(4, metadata, true);
  writeHeader(new DataView(bytes.buffer, PREFIX), rows, body, nodes, buffers);
  let at = PREFIX + metadata;
  buffers.forEach((buffer, i) => {
    bytes.set(new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength), at);
    at += sizes[i];
  });
  return bytes;
}

const padded = (size) => Math.ceil(size / 8) * 8;

/** The tables `Message` and `RecordBatch` of Arrow's format, always laid out in the same way. */
function writeHeader(view, rows, body, nodes, buffers) {
  const table = (at, vtable) => vtable.forEach((value, i) => view.setUint16(at + 2 * i, value, true));
  view.setUint32(0, 16, true);
  table(4, [12, 20, 16, 18, 4, 8]);
  view.setInt32(16, 12, true);
  view.setUint32(20, 28, true);
  writeLong(view, 24, body);
  view.setInt16(32, V5, true);
  view.setUint8(34, RECORD_BATCH);
  table(36, [10, 20, 8, 4, 16]);
  view.setInt32(48, 12, true);
  view.setUint32(52, HEADER - 4 - 52, true);
  writeLong(view, 56, rows);
  const after = HEADER + 16 * nodes.length + 4;
  view.setUint32(64, after - 64, true);
  view.setUint32(HEADER - 4, nodes.length, true);
  nodes.forEach(([length, nulls], i) => writePair(view, HEADER + 16 * i, length, nulls));
  view.setUint32(after, buffers.length, true);
  let offset = 0;
  buffers.forEach((buffer, i) => {
    writePair(view, after + 4 + 16 * i, offset, buffer.byteLength);
    offset += padded(buffer.byteLength);
  });
}

function writePair(view, at, first, second) {
  writeLong(view, at, first);
  writeLong(view, at + 8, second);
}

function writeLong(view, at, value) {
  view.setUint32(at, value % 2 ** 32, true);
  view.setUint32(at + 4, Math.floor(value / 2 ** 32), true);
}
