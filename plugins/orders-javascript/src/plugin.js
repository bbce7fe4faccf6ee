// Decodes the JSON messages of `orders.v1`. Version 2 added `customer_id`, `country` and `currency`.

import { decimal, decoder, int, nullable, record, reject, string, timestamp } from "crisol";

const Order = record({
  order_id: string(),
  event_ts: timestamp(),
  amount: decimal(18, 2),
  schema_version: int(),
  customer_id: nullable(string()),
  country: nullable(string()),
  currency: nullable(string()),
});

export default decoder({
  name: "orders-javascript",
  version: "0.1.0",
  schemaVersions: "1..2",
  reuse: true,
  row: Order,
  decode(message) {
    const order = Order.fromJson(message);
    if (order.schema_version === 1 || order.schema_version === 2) return order;
    return reject("unsupported_schema_version", `version ${order.schema_version}; 1 and 2 are known`);
  },
});
