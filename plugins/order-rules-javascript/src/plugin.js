// Rules over orders: the amount is positive, the currency is known, the event is not of a day to come.

import { decimal, formatTimestamp, nullable, option, record, string, timestamp, validator } from "crisol";

/** How far a sender's clock may run ahead. */
const AHEAD_US_MAX = 86_400_000_000n;

/** What the rules look at. */
const Order = record({
  event_ts: nullable(timestamp()),
  amount: nullable(decimal(18, 2)),
  currency: nullable(string()),
});

export default validator({
  name: "order-rules-javascript",
  version: "0.1.0",
  reuse: true,
  reads: Order,
  options: {
    currencies: option.list(option.text(), {
      minItems: 1,
      description: "Currencies that are accepted; all when absent. A null currency passes.",
    }),
  },
  open: ({ options, timestamp: now }) => ({ currencies: options.currencies, latest: now + AHEAD_US_MAX }),
  check({ event_ts, amount, currency }, broken, { currencies, latest }) {
    if (amount !== null && amount.sign <= 0) {
      broken.reject("amount_not_positive", `amount is ${amount}`);
    }
    if (currency !== null && currencies !== undefined && !currencies.includes(currency)) {
      broken.reject("unknown_currency", `\`${currency}\` is none of ${currencies.join(", ")}`);
    }
    if (event_ts !== null && event_ts > latest) {
      broken.reject("event_in_future", `event_ts ${formatTimestamp(event_ts)} is more than a day ahead`);
    }
  },
});
