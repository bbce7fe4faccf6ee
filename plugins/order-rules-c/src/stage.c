#include "stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool failed(crisol_stage_types_failure_t *err, const char *code, const char *text) {
  *err = (crisol_stage_types_failure_t){0};
  crisol_string_dup(&err->code, code);
  crisol_string_dup(&err->text, text);
  return false;
}

static bool is(crisol_string_t text, const char *other) {
  return text.len == strlen(other) && !memcmp(text.ptr, other, text.len);
}

static bool fits(struct wanted wanted, exports_crisol_stage_description_list_column_t *input,
                 crisol_stage_types_failure_t *err) {
  char said[160];
  for (size_t i = 0; i < input->len; i++) {
    crisol_string_t type = input->ptr[i].type;
    if (!is(input->ptr[i].name, wanted.name)) continue;
    if (is(type, wanted.type)) return true;
    // Types may be long; six bytes are within the word that any begins with.
    int shown = type.len < 40 ? (int)type.len : 6;
    snprintf(said, sizeof said, "column `%s` is %.*s, not %s", wanted.name, shown, (char *)type.ptr, wanted.type);
    return failed(err, "input", said);
  }
  snprintf(said, sizeof said, "there is no column `%s`", wanted.name);
  return failed(err, "input", said);
}

bool plan_reads(const struct wanted *wanted, size_t count, exports_crisol_stage_description_list_column_t *input,
                crisol_stage_types_stage_plan_t *plan, crisol_stage_types_failure_t *err) {
  for (size_t i = 0; i < count; i++) {
    if (!fits(wanted[i], input, err)) return false;
  }
  *plan = (crisol_stage_types_stage_plan_t){0};
  plan->reads.ptr = malloc(count * sizeof *plan->reads.ptr);
  if (!plan->reads.ptr) abort();
  plan->reads.len = count;
  for (size_t i = 0; i < count; i++) crisol_string_dup(&plan->reads.ptr[i], wanted[i].name);
  return true;
}
