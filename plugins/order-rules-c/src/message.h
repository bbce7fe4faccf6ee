// Messages between host and component: reading the columns of one, and writing one of rejected rows.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A message that is being read, column by column, in the order of the schema.
struct message {
  const uint8_t *body;
  int64_t rows;
  const uint8_t *next_node, *next_buffer;
};

// A column, without its children, which come after it. `valid` is null where no value is null.
struct column {
  int64_t rows;
  const uint8_t *valid, *offsets, *values;
};

struct text {
  const char *at;
  size_t length;
};

// False: these bytes are no such message. A host never sends others.
bool message_open(struct message *message, const uint8_t *bytes, size_t length);
struct column message_fixed(struct message *message);
struct column message_texts(struct message *message);
struct column message_list(struct message *message);
struct column message_struct(struct message *message);

bool column_is_null(const struct column *column, int64_t row);
bool column_bool(const struct column *column, int64_t row);
int64_t column_int64(const struct column *column, int64_t row);
// The lower half of a decimal: all of it for at most 18 digits.
int64_t column_decimal18(const struct column *column, int64_t row);
int32_t column_offset(const struct column *column, int64_t row);
struct text column_text(const struct column *column, int64_t row);

// Bytes that grow.
struct bytes {
  uint8_t *at;
  size_t length, room;
};
void bytes_add(struct bytes *bytes, const void *from, size_t length);

// A message that is being written, node by node and buffer by buffer, in the order of the schema; starts as zeroes.
struct writer {
  struct bytes nodes, spans, body;
};
void writer_node(struct writer *writer, int64_t length, int64_t nulls);
void writer_buffer(struct writer *writer, const struct bytes *buffer);
// The message, for the caller to free.
struct bytes writer_finish(struct writer *writer, int64_t rows);

enum fate { QUARANTINE = 0, FILTER = 1 };

// Rejected rows; starts as zeroes.
struct rejections {
  int64_t count;
  struct bytes row, kind, code_ends, code, text_ends, text;
};
void reject(struct rejections *rejections, int64_t row, enum fate fate, const char *code, struct text text);
// The message, for the caller to free; frees what was collected.
struct bytes rejections_finish(struct rejections *rejections);
