package main

import (
	"testing"
)

func TestBothVersionsBecomeRowsAndOthersAreRejected(t *testing.T) {
	order, err := decode(`{"order_id":"o-1","event_ts":"2026-03-14T09:26:53.589Z","amount":12.5,"schema_version":1}`)
	if err != nil || order.Amount.String() != "12.50" || order.EventTS.String() != "2026-03-14T09:26:53.589000Z" || order.Country.Valid {
		t.Fatal(order, err)
	}
	order, err = decode(`{"country":"ES","order_id":"o-2","event_ts":"2026-03-14","amount":7,"schema_version":2}`)
	if err != nil || order.Country.Value != "ES" {
		t.Fatal(order, err)
	}
	for message, wanted := range map[string]string{
		`{"order_id":"o-3","event_ts":"2026-03-14","amount":7,"schema_version":9}`:       "unsupported_schema_version: version 9; 1 and 2 are known",
		`{"order_id":"o-4","event_ts":"2026-03-14","amount":"mucho","schema_version":1}`: "corrupt_record: `amount`: \"mucho\" is not a decimal(18,2)",
	} {
		if _, err := decode(message); err == nil || err.Error() != wanted {
			t.Errorf("%v is not %s", err, wanted)
		}
	}
}
