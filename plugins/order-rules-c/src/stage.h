// What stages have in common, whatever they do.
#pragma once
#include "crisol.h"

struct wanted {
  const char *name, *type;
};

// Says why; always false, for the caller to give.
bool failed(crisol_stage_types_failure_t *err, const char *code, const char *text);

// The plan of a stage that reads these columns and writes none.
bool plan_reads(const struct wanted *wanted, size_t count, exports_crisol_stage_description_list_column_t *input,
                crisol_stage_types_stage_plan_t *plan, crisol_stage_types_failure_t *err);
