// Options of the stage.
#pragma once
#include "json.h"

// A number that is absent is 0, a text that is absent has no place.
struct options {
  int64_t reject_every, filter_every, repeat;
  bool stamp;
  struct text log, fail;
};

// False: they do not fit.
bool options_read(struct text text, struct options *options);
void options_forget(struct options *options);
bool options_fail(const struct options *options, const char *place);
