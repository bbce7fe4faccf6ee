// Rows of a message, written anew.
#pragma once
#include "message.h"

struct rows {
  const int32_t *at;
  int64_t count;
};

// The next column of `in`, with what is in it, at these rows. `shape` is moved behind the column: `b` boolean, `1`, `2`, `4`, `8`
// and `w` (16) values of so many bytes, `s` text or bytes, `[` a list of what follows, `{` … `}` a struct.
void take(struct message *in, const char **shape, struct rows rows, struct writer *out);
