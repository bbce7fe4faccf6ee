// Rules over orders: the amount is positive, the currency is known, the event is not of a day to come. A look at their raw values is
// enough for nearly all rows; only the others are judged.

import { columns, decimal, formatTimestamp, nullable, option, string, timestamp } from "crisol";

/** How far a sender's clock may run ahead. */
const AHEAD_US_MAX = 86_400_000_000n;

export default columns.validator({
  name: "order-rules-columns-javascript",
  version: "0.1.0",
  reuse: true,
  reads: { event_ts: nullable(timestamp()), amount: nullable(decimal(18, 2)), currency: nullable(string()) },
  options: {
    currencies: option.list(option.text(), {
      minItems: 1,
      description: "Currencies that are accepted; all when absent. A null currency passes.",
    }),
  },
  open: ({ options: { currencies }, timestamp: now }) => ({
    currencies,
    codes: currencies && codesOf(currencies),
    latest: now + AHEAD_US_MAX,
  }),
  check({ length, columns: orders }, broken, rules) {
    const { words } = orders.amount;
    const { offsets, data } = orders.currency;
    const halves = halvesOf(orders.event_ts.values);
    const { codes } = rules;
    const latest = Number(rules.latest >> 32n);
    let end = offsets[0];
    for (let row = 0, at = 0; row < length; row += 1, at += 4) {
      const start = end;
      end = offsets[row + 1];
      // 18 digits fit into the two lower words of a value.
      const passes =
        words[at + 1] >= 0 &&
        (words[at] | words[at + 1]) !== 0 &&
        halves[2 * row + 1] < latest &&
        (codes === undefined ||
          (end - start === 3 && codes.has(data[start] | (data[start + 1] << 8) | (data[start + 2] << 16))));
      if (!passes) judge(row, orders, broken, rules);
    }
  },
});

/** All rules, for one row. */
function judge(row, { event_ts, amount, currency }, broken, { currencies, latest }) {
  if (!amount.isNull(row) && amount.sign(row) <= 0) {
    broken.reject(row, "amount_not_positive", `amount is ${amount.value(row)}`);
  }
  if (currencies !== undefined && !currency.isNull(row) && !currencies.includes(currency.value(row))) {
    broken.reject(row, "unknown_currency", `\`${currency.value(row)}\` is none of ${currencies.join(", ")}`);
  }
  if (!event_ts.isNull(row) && event_ts.value(row) > latest) {
    broken.reject(row, "event_in_future", `event_ts ${formatTimestamp(event_ts.value(row))} is more than a day ahead`);
  }
}

/** The lower and upper 32 bits of each value, which cost less to compare than a value of 64. */
const halvesOf = (values) => new Int32Array(values.buffer, values.byteOffset, 2 * values.length);

/** The bytes of each text of three letters, as nearly all currencies have them, in one number. */
const codesOf = (currencies) =>
  new Set(
    currencies
      .filter((text) => /^[A-Z]{3}$/.test(text))
      .map((text) => text.charCodeAt(0) | (text.charCodeAt(1) << 8) | (text.charCodeAt(2) << 16)),
  );
