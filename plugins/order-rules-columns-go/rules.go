package main

import (
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	crisol "github.com/crisol/crisol/sdk/go"
)

// Nearly all currencies have so many, each a byte.
const letters = 3

// The rules of one batch.
type rules struct {
	// Currencies that are accepted; nil for all.
	currencies []string
	// The code of each of them that has three letters.
	codes  []uint32
	latest crisol.Timestamp
}

// The columns of a message.
type orders struct {
	events     *array.Timestamp
	amounts    *array.Decimal128
	currencies *array.String
}

func (r *rules) check(rows arrow.RecordBatch, broken func(int, *crisol.Rejection)) error {
	if rows.NumRows() == 0 {
		// There may be no offsets.
		return nil
	}
	of := orders{rows.Column(0).(*array.Timestamp), rows.Column(1).(*array.Decimal128), rows.Column(2).(*array.String)}
	micros, texts, offsets := of.events.Values(), of.currencies.ValueBytes(), of.currencies.ValueOffsets()
	first := offsets[0]
	for row, units := range of.amounts.Values() {
		currency := texts[offsets[row]-first : offsets[row+1]-first]
		if units.Sign() <= 0 || crisol.Timestamp(micros[row]) > r.latest || !r.knows(currency) {
			r.judge(of, row, broken)
		}
	}
	return nil
}

// Whether a currency is known by its code, which costs much less than to compare texts.
func (r *rules) knows(currency []byte) bool {
	return r.currencies == nil || len(currency) == letters && slices.Contains(r.codes, code(currency))
}

// Three bytes in one number.
func code(currency []byte) uint32 {
	return uint32(currency[0]) | uint32(currency[1])<<8 | uint32(currency[2])<<16
}

// All rules, for one row.
func (r *rules) judge(of orders, row int, broken func(int, *crisol.Rejection)) {
	if units := of.amounts.Value(row); of.amounts.IsValid(row) && units.Sign() <= 0 {
		// 18 digits fit into 64 bits.
		broken(row, crisol.Reject("amount_not_positive", "amount is %s", crisol.DecimalOf(int64(units.LowBits()), 2)))
	}
	currency := of.currencies.Value(row)
	if r.currencies != nil && of.currencies.IsValid(row) && !slices.Contains(r.currencies, currency) {
		broken(row, crisol.Reject("unknown_currency", "`%s` is none of %s", currency, strings.Join(r.currencies, ", ")))
	}
	if event := crisol.Timestamp(of.events.Value(row)); of.events.IsValid(row) && event > r.latest {
		broken(row, crisol.Reject("event_in_future", "event_ts %s is more than a day ahead", event))
	}
}
