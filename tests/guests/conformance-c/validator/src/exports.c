// The conformance stage of validators: docs/new-language.md.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "json.h"
#include "stage.h"

static const struct wanted TABLE[] = {
  {"b", "boolean"}, {"i8", "tinyint"}, {"i16", "smallint"}, {"i32", "int"}, {"i64", "bigint"}, {"f32", "float"},
  {"f64", "double"}, {"d9", "decimal(9,2)"}, {"d18", "decimal(18,4)"}, {"d38", "decimal(38,10)"}, {"s", "string"},
  {"bin", "binary"}, {"day", "date"}, {"ts", "timestamp"}, {"ints", "array<int>"}, {"texts", "array<string>"},
  {"st", "struct<a:int,b:string>"}, {"m", "map<string,bigint>"}, {"deep", "array<struct<k:string,v:array<double>>>"},
};
enum { COLUMNS = sizeof TABLE / sizeof *TABLE, BETWEEN_B_AND_S = 9 };

static const char *ABOUT =
  "{\"name\":\"conformance\",\"version\":\"0.1.0\",\"kind\":\"validator\",\"reuse\":true,\"options\":{\"type\":\"object\","
  "\"properties\":{\"reject_every\":{\"type\":\"integer\",\"minimum\":1},\"filter_every\":{\"type\":\"integer\","
  "\"minimum\":1},\"log\":{\"type\":\"string\"},\"fail\":{\"enum\":[\"open\",\"push\",\"trap\"]}},"
  "\"additionalProperties\":false}}";

// A number that is absent is 0, a text that is absent has no place.
struct options {
  int64_t reject_every, filter_every;
  struct text log, fail;
};

struct exports_crisol_stage_verdicts_session_t {
  struct options options;
};

static bool every(struct json *json, int64_t *value) {
  return json_int64(json, value) && *value >= 1;
}

static bool option(struct json *json, struct text name, void *to) {
  struct options *options = to;
  if (text_is(name, "reject_every")) return every(json, &options->reject_every);
  if (text_is(name, "filter_every")) return every(json, &options->filter_every);
  if (text_is(name, "log") && !options->log.at) return json_text(json, &options->log);
  if (!text_is(name, "fail") || options->fail.at || !json_text(json, &options->fail)) return false;
  return text_is(options->fail, "open") || text_is(options->fail, "push") || text_is(options->fail, "trap");
}

static void forget(struct options *options) {
  free((char *)options->log.at);
  free((char *)options->fail.at);
}

static bool read_options(crisol_string_t *text, struct options *options, crisol_stage_types_failure_t *err) {
  struct json json = {(const char *)text->ptr, (const char *)text->ptr + text->len};
  *options = (struct options){0};
  bool fit = json_object(&json, option, options) && json_end(&json);
  crisol_string_free(text);
  if (fit) return true;
  forget(options);
  return failed(err, "options", "the options do not fit: see the options that the description names");
}

void exports_crisol_stage_description_describe(crisol_string_t *ret) {
  crisol_string_dup(ret, ABOUT);
}

bool exports_crisol_stage_description_plan(crisol_string_t *text,
                                           exports_crisol_stage_description_list_column_t *input,
                                           exports_crisol_stage_description_stage_plan_t *ret,
                                           exports_crisol_stage_description_failure_t *err) {
  struct options options;
  bool fit = read_options(text, &options, err);
  if (fit) forget(&options);
  fit = fit && plan_reads(TABLE, COLUMNS, input, ret, err);
  exports_crisol_stage_description_list_column_free(input);
  return fit;
}

bool exports_crisol_stage_verdicts_static_session_open(crisol_string_t *text,
                                                       exports_crisol_stage_verdicts_list_column_t *input,
                                                       int64_t timestamp,
                                                       exports_crisol_stage_verdicts_own_session_t *ret,
                                                       exports_crisol_stage_verdicts_failure_t *err) {
  (void)timestamp;
  struct options options;
  exports_crisol_stage_verdicts_list_column_free(input);
  if (!read_options(text, &options, err)) return false;
  if (options.log.at) crisol_stage_log_log(2, &(crisol_string_t){(uint8_t *)options.log.at, options.log.length});
  if (options.fail.at && text_is(options.fail, "open")) {
    forget(&options);
    return failed(err, "asked", "to fail in open");
  }
  exports_crisol_stage_verdicts_session_t *session = malloc(sizeof *session);
  if (!session) abort();
  session->options = options;
  *ret = exports_crisol_stage_verdicts_session_new(session);
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
  struct text said = column_is_null(s, row) ? (struct text){"null", 4} : column_text(s, row);
  struct bytes text = {0};
  int length = snprintf(start, sizeof start, "row %" PRId64 ": ", row + 1);
  bytes_add(&text, start, (size_t)length);
  bytes_add(&text, said.at, said.length);
  reject(out, row, QUARANTINE, "every", (struct text){(char *)text.at, text.length});
  free(text.at);
}

static void check_row(const struct options *options, const struct column *b, const struct column *s, int64_t row,
                      struct rejections *out) {
  struct text none = {"", 0};
  if (!column_is_null(b, row) && !column_bool(b, row)) reject(out, row, QUARANTINE, "b_false", none);
  if (column_is_null(s, row)) {
    char said[40];
    int length = snprintf(said, sizeof said, "row %" PRId64 " has no s", row + 1);
    reject(out, row, QUARANTINE, "s_null", (struct text){said, (size_t)length});
  }
  if (options->reject_every && (row + 1) % options->reject_every == 0) reject_row(s, row, out);
  if (options->filter_every && (row + 1) % options->filter_every == 0) reject(out, row, FILTER, "skipped", none);
}

bool exports_crisol_stage_verdicts_method_session_check(exports_crisol_stage_verdicts_borrow_session_t self,
                                                        exports_crisol_stage_verdicts_message_t *rows,
                                                        exports_crisol_stage_verdicts_option_message_t *ret,
                                                        exports_crisol_stage_verdicts_failure_t *err) {
  struct message message;
  struct rejections out = {0};
  struct text fail = self->options.fail;
  if (fail.at && text_is(fail, "trap")) trap();
  if (fail.at && text_is(fail, "push")) return failed(err, "asked", "to fail in push");
  if (!message_open(&message, rows->ptr, rows->len)) return failed(err, "input", "this is no record batch");
  struct column b = message_fixed(&message);
  for (int i = 0; i < BETWEEN_B_AND_S; i++) message_fixed(&message);
  struct column s = message_texts(&message);
  for (int64_t row = 0; row < message.rows; row++) check_row(&self->options, &b, &s, row, &out);
  exports_crisol_stage_verdicts_message_free(rows);
  ret->is_some = out.count > 0;
  if (ret->is_some) {
    struct bytes rejected = rejections_finish(&out);
    ret->val = (exports_crisol_stage_verdicts_message_t){rejected.at, rejected.length};
  }
  return true;
}

void exports_crisol_stage_verdicts_session_destructor(exports_crisol_stage_verdicts_session_t *session) {
  forget(&session->options);
  free(session);
}
