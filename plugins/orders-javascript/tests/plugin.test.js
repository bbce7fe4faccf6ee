import assert from "node:assert/strict";
import { test } from "node:test";

import { formatTimestamp } from "crisol";
import { decode } from "crisol/testing";

import stage from "../src/plugin.js";

test("both versions become rows, and others are rejected", () => {
  const { rows, rejected } = decode(stage, [
    '{"order_id":"o-1","event_ts":"2026-03-14T09:26:53.589Z","amount":12.5,"schema_version":1}',
    '{"country":"ES","order_id":"o-2","event_ts":"2026-03-14","amount":7,"schema_version":2,"currency":"EUR"}',
    '{"order_id":"o-3","event_ts":"2026-03-14","amount":7,"schema_version":9}',
    '{"order_id":"o-4","event_ts":"2026-03-14","amount":"mucho","schema_version":1}',
  ]);
  assert.deepEqual(
    rows.map((row) => Object.values({ ...row, event_ts: formatTimestamp(row.event_ts), amount: String(row.amount) })),
    [
      ["o-1", "2026-03-14T09:26:53.589000Z", "12.50", 1, null, null, null, 0],
      ["o-2", "2026-03-14T00:00:00Z", "7.00", 2, null, "ES", "EUR", 1],
    ],
  );
  assert.deepEqual(
    rejected.map(({ row, code, text }) => `${row} ${code}: ${text}`),
    [
      "2 unsupported_schema_version: version 9; 1 and 2 are known",
      '3 corrupt_record: `amount`: "mucho" is not a decimal(18,2)',
    ],
  );
});
