package main

import (
	"slices"
	"testing"

	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/validator"
)

func TestEachBrokenRuleIsNamedAndNullsPass(t *testing.T) {
	now, _ := crisol.ParseTimestamp("2026-04-01")
	late, _ := crisol.ParseTimestamp("2026-04-02T00:00:00.000001Z")
	check, err := open(Options{Currencies: []string{"EUR", "USD"}}, crisol.Batch{Timestamp: now})
	if err != nil {
		t.Fatal(err)
	}
	var broken validator.Broken
	for _, order := range []Order{
		{crisol.Some(now), crisol.Some(crisol.DecimalOf(1250, 2)), crisol.Some("EUR")},
		{},
		{crisol.Some(late), crisol.Some(crisol.DecimalOf(0, 2)), crisol.Some("PTS")},
	} {
		if err := check(&order, &broken); err != nil {
			t.Fatal(err)
		}
	}
	var told []string
	for _, rule := range broken.Rules {
		told = append(told, rule.Error())
	}
	wanted := []string{
		"amount_not_positive: amount is 0.00",
		"unknown_currency: `PTS` is none of EUR, USD",
		"event_in_future: event_ts 2026-04-02T00:00:00.000001Z is more than a day ahead",
	}
	if !slices.Equal(told, wanted) {
		t.Fatal(told)
	}
}
