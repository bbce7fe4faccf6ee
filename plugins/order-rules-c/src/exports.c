// What the world of a validator asks for. Lists that come in are ours to free, lists that go out are freed by the
// generated code after the call.
#include <stdlib.h>

#include "json.h"
#include "rules.h"
#include "stage.h"

static const int64_t AHEAD_US_MAX = 86400000000;
static const char *ABOUT =
  "{\"name\":\"order-rules-c\",\"version\":\"0.1.0\",\"kind\":\"validator\",\"reuse\":true,\"options\":{\"type\":\"object\","
  "\"properties\":{\"currencies\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"minItems\":1,\"description\":"
  "\"Currencies that are accepted; all when absent. A null currency passes.\"}},\"additionalProperties\":false}}";
static const struct wanted READS[] = {{"event_ts", "timestamp"}, {"amount", "decimal(18,2)"}, {"currency", "string"}};
enum { COLUMNS = sizeof READS / sizeof *READS };

struct exports_crisol_stage_verdicts_session_t {
  struct rules rules;
};

static bool currency(struct json *json, void *to) {
  struct rules *rules = to;
  struct text text;
  if (!json_text(json, &text)) return false;
  rules->currencies = realloc(rules->currencies, (rules->count + 1) * sizeof text);
  if (!rules->currencies) abort();
  rules->currencies[rules->count++] = text;
  return true;
}

static bool option(struct json *json, struct text name, void *to) {
  struct rules *rules = to;
  if (!text_is(name, "currencies") || rules->currencies) return false;
  if (json_null(json)) return true;
  return json_array(json, currency, rules) && rules->count;
}

static void forget(struct rules *rules) {
  for (size_t i = 0; i < rules->count; i++) free((char *)rules->currencies[i].at);
  free(rules->currencies);
}

static bool read_options(crisol_string_t *options, struct rules *rules, crisol_stage_types_failure_t *err) {
  struct json json = {(const char *)options->ptr, (const char *)options->ptr + options->len};
  *rules = (struct rules){0};
  bool fit = json_end(&json) || (json_object(&json, option, rules) && json_end(&json));
  crisol_string_free(options);
  if (fit) return true;
  forget(rules);
  return failed(err, "options", "the options do not fit: `currencies` may be there, a list of at least one text; nothing else");
}

void exports_crisol_stage_description_describe(crisol_string_t *ret) {
  crisol_string_dup(ret, ABOUT);
}

bool exports_crisol_stage_description_plan(crisol_string_t *options,
                                           exports_crisol_stage_description_list_column_t *input,
                                           exports_crisol_stage_description_stage_plan_t *ret,
                                           exports_crisol_stage_description_failure_t *err) {
  struct rules rules;
  bool fit = read_options(options, &rules, err);
  if (fit) forget(&rules);
  fit = fit && plan_reads(READS, COLUMNS, input, ret, err);
  exports_crisol_stage_description_list_column_free(input);
  return fit;
}

bool exports_crisol_stage_verdicts_static_session_open(crisol_string_t *options,
                                                       exports_crisol_stage_verdicts_list_column_t *input,
                                                       int64_t timestamp,
                                                       exports_crisol_stage_verdicts_own_session_t *ret,
                                                       exports_crisol_stage_verdicts_failure_t *err) {
  exports_crisol_stage_verdicts_session_t *session = malloc(sizeof *session);
  if (!session) abort();
  exports_crisol_stage_verdicts_list_column_free(input);
  if (!read_options(options, &session->rules, err)) {
    free(session);
    return false;
  }
  if (__builtin_add_overflow(timestamp, AHEAD_US_MAX, &session->rules.latest)) session->rules.latest = INT64_MAX;
  *ret = exports_crisol_stage_verdicts_session_new(session);
  return true;
}

bool exports_crisol_stage_verdicts_method_session_check(exports_crisol_stage_verdicts_borrow_session_t self,
                                                        exports_crisol_stage_verdicts_message_t *rows,
                                                        exports_crisol_stage_verdicts_option_message_t *ret,
                                                        exports_crisol_stage_verdicts_failure_t *err) {
  struct message message;
  struct rejections out = {0};
  if (!message_open(&message, rows->ptr, rows->len)) {
    exports_crisol_stage_verdicts_message_free(rows);
    return failed(err, "input", "the rows are no message of a record batch");
  }
  struct orders orders;
  orders.event_ts = message_fixed(&message);
  orders.amount = message_fixed(&message);
  orders.currency = message_texts(&message);
  for (int64_t row = 0; row < message.rows; row++) rules_check(&self->rules, &orders, row, &out);
  exports_crisol_stage_verdicts_message_free(rows);
  ret->is_some = out.count > 0;
  if (ret->is_some) {
    struct bytes rejected = rejections_finish(&out);
    ret->val = (exports_crisol_stage_verdicts_message_t){rejected.at, rejected.length};
  }
  return true;
}

void exports_crisol_stage_verdicts_session_destructor(exports_crisol_stage_verdicts_session_t *session) {
  forget(&session->rules);
  free(session);
}
