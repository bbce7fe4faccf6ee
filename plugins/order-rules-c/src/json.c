#include "json.h"

#include <stdlib.h>
#include <string.h>

static void skip_space(struct json *json) {
  while (json->at < json->end && strchr(" \t\r\n", *json->at) && *json->at) json->at++;
}

static bool eat(struct json *json, const char *word) {
  skip_space(json);
  size_t length = strlen(word);
  if ((size_t)(json->end - json->at) < length || memcmp(json->at, word, length)) return false;
  json->at += length;
  return true;
}

bool json_null(struct json *json) {
  return eat(json, "null");
}

bool json_bool(struct json *json, bool *value) {
  *value = eat(json, "true");
  return *value || eat(json, "false");
}

bool json_int64(struct json *json, int64_t *value) {
  bool minus = eat(json, "-");
  skip_space(json);
  const char *start = json->at;
  int64_t sum = 0;
  for (; json->at < json->end && *json->at >= '0' && *json->at <= '9'; json->at++) {
    int digit = *json->at - '0';
    if (__builtin_mul_overflow(sum, 10, &sum) || __builtin_sub_overflow(sum, digit, &sum)) return false;
  }
  ptrdiff_t digits = json->at - start;
  bool fraction = json->at < json->end && strchr(".eE", *json->at) && *json->at;
  if (!digits || (digits > 1 && *start == '0') || fraction || (!minus && sum == INT64_MIN)) return false;
  *value = minus ? sum : -sum;
  return true;
}

static bool hex4(struct json *json, uint32_t *unit) {
  *unit = 0;
  if (json->end - json->at < 4) return false;
  for (int i = 0; i < 4; i++) {
    const char *digits = "0123456789abcdef", c = *json->at++;
    const char *found = c ? strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c) : NULL;
    if (!found) return false;
    *unit = *unit << 4 | (uint32_t)(found - digits);
  }
  return true;
}

static void add_utf8(struct bytes *out, uint32_t c) {
  uint8_t utf8[4] = {(uint8_t)c};
  size_t length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (size_t i = length; length > 1 && i-- > 0; c >>= 6) utf8[i] = (uint8_t)(i ? 0x80 | (c & 0x3f) : lead[length] | c);
  bytes_add(out, utf8, length);
}

static bool escape(struct json *json, struct bytes *out) {
  if (json->at == json->end) return false;
  const char *from = "\"\\/bfnrt", c = *json->at++;
  const char *found = c ? strchr(from, c) : NULL;
  if (found) {
    bytes_add(out, &"\"\\/\b\f\n\r\t"[found - from], 1);
    return true;
  }
  uint32_t unit, low;
  if (c != 'u' || !hex4(json, &unit) || (unit >= 0xdc00 && unit < 0xe000)) return false;
  if (unit >= 0xd800 && unit < 0xdc00) {
    if (json->end - json->at < 6 || *json->at++ != '\\' || *json->at++ != 'u' || !hex4(json, &low)) return false;
    if (low < 0xdc00 || low >= 0xe000) return false;
    unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
  }
  add_utf8(out, unit);
  return true;
}

bool json_text(struct json *json, struct text *value) {
  struct bytes out = {0};
  if (!eat(json, "\"")) return false;
  while (json->at < json->end && (uint8_t)*json->at >= 0x20) {
    char c = *json->at++;
    if (c == '"') {
      *value = (struct text){(const char *)out.at, out.length};
      return true;
    }
    if (c != '\\') bytes_add(&out, &c, 1);
    else if (!escape(json, &out)) break;
  }
  free(out.at);
  return false;
}

bool json_array(struct json *json, json_item *item, void *to) {
  if (!eat(json, "[")) return false;
  if (eat(json, "]")) return true;
  do {
    if (!item(json, to)) return false;
  } while (eat(json, ","));
  return eat(json, "]");
}

bool json_object(struct json *json, json_field *field, void *to) {
  if (!eat(json, "{")) return false;
  if (eat(json, "}")) return true;
  do {
    struct text name;
    if (!json_text(json, &name)) return false;
    bool read = eat(json, ":") && field(json, name, to);
    free((char *)name.at);
    if (!read) return false;
  } while (eat(json, ","));
  return eat(json, "}");
}

bool json_end(struct json *json) {
  skip_space(json);
  return json->at == json->end;
}

bool text_is(struct text text, const char *other) {
  return text.length == strlen(other) && !memcmp(text.at, other, text.length);
}
