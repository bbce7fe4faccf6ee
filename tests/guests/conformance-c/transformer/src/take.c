#include "take.h"

#include <stdlib.h>

static void set_bit(struct bytes *bits, int64_t at, bool value) {
  uint8_t zero = 0;
  if (at % 8 == 0) bytes_add(bits, &zero, 1);
  if (value) bits->at[at / 8] |= (uint8_t)(1 << at % 8);
}

static void write(struct writer *out, struct bytes *buffer) {
  writer_buffer(out, buffer);
  free(buffer->at);
}

static void take_nulls(const struct column *column, struct rows rows, struct writer *out) {
  struct bytes bits = {0};
  int64_t nulls = 0;
  for (int64_t i = 0; i < rows.count; i++) {
    bool null = column_is_null(column, rows.at[i]);
    set_bit(&bits, i, !null);
    nulls += null;
  }
  if (!nulls) bits.length = 0;
  writer_node(out, rows.count, nulls);
  write(out, &bits);
}

static void take_bits(const struct column *column, struct rows rows, struct writer *out) {
  struct bytes bits = {0};
  for (int64_t i = 0; i < rows.count; i++) set_bit(&bits, i, column_bool(column, rows.at[i]));
  write(out, &bits);
}

static void take_values(const struct column *column, size_t width, struct rows rows, struct writer *out) {
  struct bytes values = {0};
  for (int64_t i = 0; i < rows.count; i++) bytes_add(&values, column->values + width * (size_t)rows.at[i], width);
  write(out, &values);
}

static void take_texts(const struct column *column, struct rows rows, struct writer *out) {
  struct bytes ends = {0}, values = {0};
  int32_t end = 0;
  bytes_add(&ends, &end, sizeof end);
  for (int64_t i = 0; i < rows.count; i++) {
    if (!column_is_null(column, rows.at[i])) {
      struct text text = column_text(column, rows.at[i]);
      bytes_add(&values, text.at, text.length);
    }
    end = (int32_t)values.length;
    bytes_add(&ends, &end, sizeof end);
  }
  write(out, &ends);
  write(out, &values);
}

static void take_list(struct message *in, const char **shape, const struct column *column, struct rows rows,
                      struct writer *out) {
  struct bytes ends = {0}, elements = {0};
  int32_t count = 0;
  bytes_add(&ends, &count, sizeof count);
  for (int64_t i = 0; i < rows.count; i++) {
    int32_t row = rows.at[i];
    bool null = column_is_null(column, row);
    int32_t at = null ? 0 : column_offset(column, row), end = null ? 0 : column_offset(column, row + 1);
    for (; at < end; at++, count++) bytes_add(&elements, &at, sizeof at);
    bytes_add(&ends, &count, sizeof count);
  }
  write(out, &ends);
  take(in, shape, (struct rows){(int32_t *)(void *)elements.at, count}, out);
  free(elements.at);
}

static size_t width_of(char shape) {
  return shape == 'w' ? 16 : (size_t)(shape - '0');
}

void take(struct message *in, const char **shape, struct rows rows, struct writer *out) {
  char kind = *(*shape)++;
  struct column column = kind == 's'   ? message_texts(in)
                         : kind == '[' ? message_list(in)
                         : kind == '{' ? message_struct(in)
                                       : message_fixed(in);
  take_nulls(&column, rows, out);
  switch (kind) {
    case 'b': take_bits(&column, rows, out); break;
    case 's': take_texts(&column, rows, out); break;
    case '[': take_list(in, shape, &column, rows, out); break;
    case '{':
      while (**shape != '}') take(in, shape, rows, out);
      (*shape)++;
      break;
    default: take_values(&column, width_of(kind), rows, out);
  }
}
