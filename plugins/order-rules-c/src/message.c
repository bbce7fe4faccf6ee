#include "message.h"

#include <stdlib.h>
#include <string.h>

enum { CONTINUATION = -1, RECORD_BATCH = 3, V5 = 4, PREFIX = 8, ALIGNMENT = 8 };

#define LOADS(type, name)                     \
  static type name(const uint8_t *at) {       \
    type value;                               \
    memcpy(&value, at, sizeof value);         \
    return value;                             \
  }
LOADS(int16_t, load16)
LOADS(int32_t, load32)
LOADS(int64_t, load64)

// Where a field of a flatbuffer table stands; null when it is absent.
static const uint8_t *field(const uint8_t *table, int number) {
  const uint8_t *vtable = table - load32(table);
  int at = 4 + 2 * number;
  int offset = at < load16(vtable) ? load16(vtable + at) : 0;
  return offset ? table + offset : NULL;
}

static const uint8_t *follow(const uint8_t *at) {
  return at + load32(at);
}

bool message_open(struct message *message, const uint8_t *bytes, size_t length) {
  if (length < PREFIX || load32(bytes) != CONTINUATION) return false;
  const uint8_t *header = bytes + PREFIX;
  size_t header_length = (size_t)load32(bytes + 4);
  if (header_length > length - PREFIX) return false;
  const uint8_t *root = follow(header);
  const uint8_t *type = field(root, 1), *batch = field(root, 2);
  if (!type || *type != RECORD_BATCH || !batch) return false;
  batch = follow(batch);
  const uint8_t *rows = field(batch, 0), *nodes = field(batch, 1), *buffers = field(batch, 2);
  message->body = header + header_length;
  message->rows = rows ? load64(rows) : 0;
  message->next_node = nodes ? follow(nodes) + 4 : NULL;
  message->next_buffer = buffers ? follow(buffers) + 4 : NULL;
  return true;
}

// Null for a buffer without bytes.
static const uint8_t *buffer(struct message *message) {
  int64_t offset = load64(message->next_buffer), length = load64(message->next_buffer + 8);
  message->next_buffer += 16;
  return length ? message->body + offset : NULL;
}

struct column message_struct(struct message *message) {
  struct column column = {.rows = load64(message->next_node)};
  message->next_node += 16;
  column.valid = buffer(message);
  return column;
}

struct column message_fixed(struct message *message) {
  struct column column = message_struct(message);
  column.values = buffer(message);
  return column;
}

struct column message_list(struct message *message) {
  struct column column = message_struct(message);
  column.offsets = buffer(message);
  return column;
}

struct column message_texts(struct message *message) {
  struct column column = message_list(message);
  column.values = buffer(message);
  return column;
}

static bool bit(const uint8_t *bits, int64_t at) {
  return bits[at / 8] >> (at % 8) & 1;
}

bool column_is_null(const struct column *column, int64_t row) {
  return column->valid && !bit(column->valid, row);
}

bool column_bool(const struct column *column, int64_t row) {
  return bit(column->values, row);
}

int64_t column_int64(const struct column *column, int64_t row) {
  return load64(column->values + 8 * row);
}

int64_t column_decimal18(const struct column *column, int64_t row) {
  return load64(column->values + 16 * row);
}

int32_t column_offset(const struct column *column, int64_t row) {
  return load32(column->offsets + 4 * row);
}

struct text column_text(const struct column *column, int64_t row) {
  int32_t start = column_offset(column, row), end = column_offset(column, row + 1);
  return (struct text){(const char *)column->values + start, (size_t)(end - start)};
}

void bytes_add(struct bytes *bytes, const void *from, size_t length) {
  if (bytes->room - bytes->length < length) {
    size_t room = 2 * bytes->room + length + 64;
    bytes->at = realloc(bytes->at, room);
    if (!bytes->at) abort();
    bytes->room = room;
  }
  if (length) memcpy(bytes->at + bytes->length, from, length);
  bytes->length += length;
}

static void add16(struct bytes *bytes, int16_t value) { bytes_add(bytes, &value, sizeof value); }
static void add32(struct bytes *bytes, int32_t value) { bytes_add(bytes, &value, sizeof value); }
static void add64(struct bytes *bytes, int64_t value) { bytes_add(bytes, &value, sizeof value); }

static void pad(struct bytes *bytes) {
  static const uint8_t zeroes[ALIGNMENT];
  bytes_add(bytes, zeroes, -bytes->length % ALIGNMENT);
}

void reject(struct rejections *rejections, int64_t row, enum fate fate, const char *code, struct text text) {
  int8_t kind = (int8_t)fate;
  if (!rejections->count++) {
    add32(&rejections->code_ends, 0);
    add32(&rejections->text_ends, 0);
  }
  add32(&rejections->row, (int32_t)row);
  bytes_add(&rejections->kind, &kind, 1);
  bytes_add(&rejections->code, code, strlen(code));
  add32(&rejections->code_ends, (int32_t)rejections->code.length);
  bytes_add(&rejections->text, text.at, text.length);
  add32(&rejections->text_ends, (int32_t)rejections->text.length);
}

// The header of a message, up to its nodes. The two tables stand at fixed places: docs/new-language.md.
static void add_header(struct bytes *out, int64_t rows, int nodes, int buffers, int64_t body_length) {
  add32(out, CONTINUATION);
  add32(out, 88 + 16 * (nodes + buffers));
  add32(out, 16);                                                      // 0: the root
  add16(out, 12), add16(out, 24);                                      // 4: the layout of Message
  add16(out, 16), add16(out, 18), add16(out, 4), add16(out, 8);
  add32(out, 12), add32(out, 36), add64(out, body_length);             // 16: Message
  add16(out, V5), add16(out, RECORD_BATCH), add32(out, 0);
  add16(out, 10), add16(out, 20);                                      // 40: the layout of RecordBatch
  add16(out, 8), add16(out, 4), add16(out, 16), add16(out, 0), add32(out, 0);
  add32(out, 16), add32(out, 16), add64(out, rows);                    // 56: RecordBatch
  add32(out, 12 + 16 * nodes), add32(out, nodes);                      // 72: where its buffers are; 76: its nodes
}

void writer_node(struct writer *writer, int64_t length, int64_t nulls) {
  add64(&writer->nodes, length);
  add64(&writer->nodes, nulls);
}

void writer_buffer(struct writer *writer, const struct bytes *buffer) {
  add64(&writer->spans, (int64_t)writer->body.length);
  add64(&writer->spans, (int64_t)buffer->length);
  bytes_add(&writer->body, buffer->at, buffer->length);
  pad(&writer->body);
}

struct bytes writer_finish(struct writer *writer, int64_t rows) {
  struct bytes out = {0}, *parts[] = {&writer->nodes, &writer->spans, &writer->body};
  int nodes = (int)(writer->nodes.length / 16), buffers = (int)(writer->spans.length / 16);
  add_header(&out, rows, nodes, buffers, (int64_t)writer->body.length);
  for (int i = 0; i < 3; i++) {
    if (i == 1) add32(&out, 0), add32(&out, buffers);
    bytes_add(&out, parts[i]->at, parts[i]->length);
    free(parts[i]->at);
  }
  return out;
}

struct bytes rejections_finish(struct rejections *r) {
  struct writer writer = {0};
  struct bytes none = {0}, *columns[4][3] = {
    {&none, &r->row}, {&none, &r->kind}, {&none, &r->code_ends, &r->code}, {&none, &r->text_ends, &r->text},
  };
  for (int i = 0; i < 4; i++) {
    writer_node(&writer, r->count, 0);
    for (int j = 0; j < 3 && columns[i][j]; j++) {
      writer_buffer(&writer, columns[i][j]);
      free(columns[i][j]->at);
    }
  }
  struct bytes out = writer_finish(&writer, r->count);
  *r = (struct rejections){0};
  return out;
}
