// The conformance stage of transformers: docs/new-language.md.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "crisol.h"
#include "options.h"
#include "take.h"

// Name, type, and shape as `take` has it.
static const char *TABLE[][3] = {
  {"b", "boolean", "b"}, {"i8", "tinyint", "1"}, {"i16", "smallint", "2"}, {"i32", "int", "4"}, {"i64", "bigint", "8"},
  {"f32", "float", "4"}, {"f64", "double", "8"}, {"d9", "decimal(9,2)", "w"}, {"d18", "decimal(18,4)", "w"},
  {"d38", "decimal(38,10)", "w"}, {"s", "string", "s"}, {"bin", "binary", "s"}, {"day", "date", "4"},
  {"ts", "timestamp", "8"}, {"ints", "array<int>", "[4"}, {"texts", "array<string>", "[s"},
  {"st", "struct<a:int,b:string>", "{4s}"}, {"m", "map<string,bigint>", "[{s8}"},
  {"deep", "array<struct<k:string,v:array<double>>>", "[{s[8}"},
};
enum { COLUMNS = sizeof TABLE / sizeof *TABLE, S = 10, TS = 13 };

static const char *ABOUT =
  "{\"name\":\"conformance\",\"version\":\"0.1.0\",\"kind\":\"transformer\",\"reuse\":true,\"options\":{\"type\":\"object\","
  "\"properties\":{\"reject_every\":{\"type\":\"integer\",\"minimum\":1},\"filter_every\":{\"type\":\"integer\","
  "\"minimum\":1},\"repeat\":{\"type\":\"integer\",\"minimum\":1},\"stamp\":{\"type\":\"boolean\"},\"log\":{\"type\":"
  "\"string\"},\"fail\":{\"enum\":[\"open\",\"push\",\"trap\"]}},\"additionalProperties\":false}}";

struct exports_crisol_stage_transform_session_t {
  struct options options;
  int64_t timestamp;
};

static bool failed(crisol_stage_types_failure_t *err, const char *code, const char *text) {
  *err = (crisol_stage_types_failure_t){0};
  crisol_string_dup(&err->code, code);
  crisol_string_dup(&err->text, text);
  return false;
}

static bool read_options(crisol_string_t *text, struct options *options, crisol_stage_types_failure_t *err) {
  bool fit = options_read((struct text){(char *)text->ptr, text->len}, options);
  crisol_string_free(text);
  return fit || failed(err, "options", "the options do not fit: see those that the description names");
}

static bool is_there(const exports_crisol_stage_description_list_column_t *input, const char *name, const char *type) {
  for (size_t i = 0; i < input->len; i++) {
    crisol_string_t found = input->ptr[i].name, of = input->ptr[i].type;
    if (text_is((struct text){(char *)found.ptr, found.len}, name)) return text_is((struct text){(char *)of.ptr, of.len}, type);
  }
  return false;
}

void exports_crisol_stage_description_describe(crisol_string_t *ret) {
  crisol_string_dup(ret, ABOUT);
}

bool exports_crisol_stage_description_plan(crisol_string_t *text, exports_crisol_stage_description_list_column_t *input,
                                           exports_crisol_stage_description_stage_plan_t *ret,
                                           exports_crisol_stage_description_failure_t *err) {
  struct options options;
  bool fit = read_options(text, &options, err);
  if (fit) options_forget(&options);
  for (int i = 0; fit && i < COLUMNS; i++) {
    fit = is_there(input, TABLE[i][0], TABLE[i][1]) || failed(err, "input", "a column of the table of all types is missing");
  }
  exports_crisol_stage_description_list_column_free(input);
  if (!fit) return false;
  ret->reads.ptr = calloc(COLUMNS, sizeof *ret->reads.ptr);
  ret->writes.ptr = calloc(COLUMNS, sizeof *ret->writes.ptr);
  if (!ret->reads.ptr || !ret->writes.ptr) abort();
  ret->reads.len = ret->writes.len = COLUMNS;
  for (int i = 0; i < COLUMNS; i++) {
    crisol_string_dup(&ret->reads.ptr[i], TABLE[i][0]);
    crisol_string_dup(&ret->writes.ptr[i].name, TABLE[i][0]);
    crisol_string_dup(&ret->writes.ptr[i].type, TABLE[i][1]);
    ret->writes.ptr[i].nullable = true;
  }
  return true;
}

bool exports_crisol_stage_transform_static_session_open(crisol_string_t *text,
                                                        exports_crisol_stage_transform_list_column_t *input,
                                                        int64_t timestamp,
                                                        exports_crisol_stage_transform_own_session_t *ret,
                                                        exports_crisol_stage_transform_failure_t *err) {
  struct options options;
  exports_crisol_stage_transform_list_column_free(input);
  if (!read_options(text, &options, err)) return false;
  if (options.log.at) crisol_stage_log_log(2, &(crisol_string_t){(uint8_t *)options.log.at, options.log.length});
  if (options_fail(&options, "open")) {
    options_forget(&options);
    return failed(err, "asked", "to fail in open");
  }
  exports_crisol_stage_transform_session_t *session = malloc(sizeof *session);
  if (!session) abort();
  *session = (exports_crisol_stage_transform_session_t){options, timestamp};
  *ret = exports_crisol_stage_transform_session_new(session);
  return true;
}

static void trap(void) {
  crisol_string_t words;
  crisol_string_set(&words, "asked to trap");
  crisol_stage_log_log(4, &words);
  __builtin_trap();
}

static void reject_row(const struct column *s, int64_t row, struct rejections *out) {
  char start[40];
  int length = snprintf(start, sizeof start, "row %" PRId64 ": ", row + 1);
  struct text said = column_is_null(s, row) ? (struct text){"null", 4} : column_text(s, row);
  struct bytes text = {0};
  bytes_add(&text, start, (size_t)length);
  bytes_add(&text, said.at, said.length);
  reject(out, row, QUARANTINE, "every", (struct text){(char *)text.at, text.length});
  free(text.at);
}

// The rows that come out, as int32, each as often as it does.
static struct bytes judge(const struct options *options, struct message message, struct rejections *rejected) {
  struct bytes kept = {0};
  for (int i = 0; i < S; i++) message_fixed(&message);
  struct column s = message_texts(&message);
  for (int32_t row = 0; row < message.rows; row++) {
    int64_t n = row + 1;
    if (options->reject_every && n % options->reject_every == 0) reject_row(&s, row, rejected);
    else if (options->filter_every && n % options->filter_every == 0) reject(rejected, row, FILTER, "skipped", (struct text){"", 0});
    else for (int64_t i = 0; i < options->repeat; i++) bytes_add(&kept, &row, sizeof row);
  }
  return kept;
}

static void write_stamps(struct message *message, int64_t timestamp, int64_t count, struct writer *out) {
  struct bytes none = {0}, stamps = {0};
  message_fixed(message);
  for (int64_t i = 0; i < count; i++) bytes_add(&stamps, &timestamp, sizeof timestamp);
  writer_node(out, count, 0);
  writer_buffer(out, &none);
  writer_buffer(out, &stamps);
  free(stamps.at);
}

static struct bytes changed(const exports_crisol_stage_transform_session_t *session, struct message message,
                            const struct bytes *kept) {
  struct rows rows = {(const int32_t *)(const void *)kept->at, (int64_t)(kept->length / sizeof(int32_t))};
  struct writer out = {0};
  struct bytes none = {0};
  for (int i = 0; i < COLUMNS; i++) {
    const char *shape = TABLE[i][2];
    if (i == TS && session->options.stamp) write_stamps(&message, session->timestamp, rows.count, &out);
    else take(&message, &shape, rows, &out);
  }
  writer_node(&out, rows.count, 0);
  writer_buffer(&out, &none);
  writer_buffer(&out, kept);
  return writer_finish(&out, rows.count);
}

bool exports_crisol_stage_transform_method_session_push(exports_crisol_stage_transform_borrow_session_t self,
                                                        exports_crisol_stage_transform_message_t *rows,
                                                        exports_crisol_stage_transform_output_t *ret,
                                                        exports_crisol_stage_transform_failure_t *err) {
  struct message message;
  struct rejections rejections = {0};
  if (options_fail(&self->options, "trap")) trap();
  if (options_fail(&self->options, "push")) return failed(err, "asked", "to fail in push");
  if (!message_open(&message, rows->ptr, rows->len)) return failed(err, "input", "this is no record batch");
  struct bytes kept = judge(&self->options, message, &rejections), out = changed(self, message, &kept);
  free(kept.at);
  exports_crisol_stage_transform_message_free(rows);
  ret->rows = (exports_crisol_stage_transform_message_t){out.at, out.length};
  ret->rejected.is_some = rejections.count > 0;
  if (ret->rejected.is_some) {
    struct bytes rejected = rejections_finish(&rejections);
    ret->rejected.val = (exports_crisol_stage_transform_message_t){rejected.at, rejected.length};
  }
  return true;
}

void exports_crisol_stage_transform_session_destructor(exports_crisol_stage_transform_session_t *session) {
  options_forget(&session->options);
  free(session);
}
