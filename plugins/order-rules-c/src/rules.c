#include "rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t SECOND = 1000000, DAY = 86400 * SECOND;

static void not_positive(int64_t amount, int64_t row, struct rejections *out) {
  char said[64];
  uint64_t cents = amount < 0 ? -(uint64_t)amount : (uint64_t)amount;
  int length = snprintf(said, sizeof said, "amount is %s%" PRIu64 ".%02" PRIu64, amount < 0 ? "-" : "", cents / 100,
                        cents % 100);
  reject(out, row, QUARANTINE, "amount_not_positive", (struct text){said, (size_t)length});
}

static void add(struct bytes *said, struct text text) {
  bytes_add(said, text.at, text.length);
}

static void unknown(const struct rules *rules, struct text currency, int64_t row, struct rejections *out) {
  struct bytes said = {0};
  bytes_add(&said, "`", 1);
  add(&said, currency);
  bytes_add(&said, "` is none of ", 13);
  for (size_t i = 0; i < rules->count; i++) {
    bytes_add(&said, ", ", i ? 2 : 0);
    add(&said, rules->currencies[i]);
  }
  reject(out, row, QUARANTINE, "unknown_currency", (struct text){(char *)said.at, said.length});
  free(said.at);
}

// Year, month and day of a day counted from 1970, in the calendar of today for all times. Years begin in March here, so
// that the day that not all have is their last.
static void civil(int64_t days, int64_t *year, int *month, int *day) {
  days += 719468;
  int64_t era = (days >= 0 ? days : days - 146096) / 146097, of_era = days - era * 146097;
  int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  int64_t from_march = (5 * of_year + 2) / 153;
  *day = (int)(of_year - (153 * from_march + 2) / 5 + 1);
  *month = (int)(from_march < 10 ? from_march + 3 : from_march - 9);
  *year = year_of_era + era * 400 + (*month <= 2);
}

static void in_future(int64_t event, int64_t row, struct rejections *out) {
  int64_t days = event / DAY - (event % DAY < 0), time = event - days * DAY, year;
  int month, day, seconds = (int)(time / SECOND);
  civil(days, &year, &month, &day);
  char said[128], fraction[16] = "";
  if (time % SECOND) snprintf(fraction, sizeof fraction, ".%06" PRId64, time % SECOND);
  int length = snprintf(said, sizeof said, "event_ts %04" PRId64 "-%02d-%02dT%02d:%02d:%02d%sZ is more than a day ahead",
                        year, month, day, seconds / 3600, seconds / 60 % 60, seconds % 60, fraction);
  reject(out, row, QUARANTINE, "event_in_future", (struct text){said, (size_t)length});
}

static bool known(const struct rules *rules, struct text currency) {
  for (size_t i = 0; i < rules->count; i++) {
    struct text one = rules->currencies[i];
    if (one.length == currency.length && (!one.length || !memcmp(one.at, currency.at, one.length))) return true;
  }
  return false;
}

void rules_check(const struct rules *rules, const struct orders *orders, int64_t row, struct rejections *out) {
  if (!column_is_null(&orders->amount, row)) {
    int64_t amount = column_decimal18(&orders->amount, row);
    if (amount <= 0) not_positive(amount, row, out);
  }
  if (rules->currencies && !column_is_null(&orders->currency, row)) {
    struct text currency = column_text(&orders->currency, row);
    if (!known(rules, currency)) unknown(rules, currency, row, out);
  }
  if (!column_is_null(&orders->event_ts, row)) {
    int64_t event = column_int64(&orders->event_ts, row);
    if (event > rules->latest) in_future(event, row, out);
  }
}
