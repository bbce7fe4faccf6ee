// Options: a JSON object whose fields are known.
#pragma once
#include "message.h"

struct json {
  const char *at, *end;
};

// Reads one value; false when it is none of that type. A text is for the caller to free.
bool json_null(struct json *json);
bool json_bool(struct json *json, bool *value);
bool json_int64(struct json *json, int64_t *value);
bool json_text(struct json *json, struct text *value);

// Calls `item` at each element; it reads the element, and gives false when it cannot.
typedef bool json_item(struct json *json, void *to);
bool json_array(struct json *json, json_item *item, void *to);

// Calls `field` at the value of each field, likewise.
typedef bool json_field(struct json *json, struct text name, void *to);
bool json_object(struct json *json, json_field *field, void *to);

// Nothing but space is left.
bool json_end(struct json *json);
bool text_is(struct text text, const char *other);
