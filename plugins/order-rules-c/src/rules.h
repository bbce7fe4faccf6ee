// Rules over orders: the amount is positive, the currency is known, the event is not of a day to come.
#pragma once
#include "message.h"

// Currencies that are accepted; all when `currencies` is null.
struct rules {
  struct text *currencies;
  size_t count;
  int64_t latest;
};

struct orders {
  struct column event_ts, amount, currency;
};

void rules_check(const struct rules *rules, const struct orders *orders, int64_t row, struct rejections *out);
