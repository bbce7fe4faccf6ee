#include "options.h"

#include <stdlib.h>

static bool from_one(struct json *json, int64_t *value) {
  return json_int64(json, value) && *value >= 1;
}

static bool option(struct json *json, struct text name, void *to) {
  struct options *options = to;
  if (text_is(name, "reject_every")) return from_one(json, &options->reject_every);
  if (text_is(name, "filter_every")) return from_one(json, &options->filter_every);
  if (text_is(name, "repeat")) return from_one(json, &options->repeat);
  if (text_is(name, "stamp")) return json_bool(json, &options->stamp);
  if (text_is(name, "log") && !options->log.at) return json_text(json, &options->log);
  if (!text_is(name, "fail") || options->fail.at || !json_text(json, &options->fail)) return false;
  return options_fail(options, "open") || options_fail(options, "push") || options_fail(options, "trap");
}

bool options_read(struct text text, struct options *options) {
  struct json json = {text.at, text.at + text.length};
  *options = (struct options){.repeat = 1};
  if (json_object(&json, option, options) && json_end(&json)) return true;
  options_forget(options);
  return false;
}

void options_forget(struct options *options) {
  free((char *)options->log.at);
  free((char *)options->fail.at);
}

bool options_fail(const struct options *options, const char *place) {
  return options->fail.at && text_is(options->fail, place);
}
