package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	crisol "github.com/crisol/crisol/sdk/go"
)

const (
	now    = crisol.Timestamp(1_775_001_600_000_000)
	latest = now + 86_400_000_000
)

type given struct {
	event    crisol.Null[crisol.Timestamp]
	cents    crisol.Null[int64]
	currency crisol.Null[string]
}

func TestEachBrokenRuleIsNamedAndNullsPass(t *testing.T) {
	rows := message([]given{
		{crisol.Some(now), crisol.Some[int64](1250), crisol.Some("EUR")},
		{},
		{crisol.Some(latest), crisol.Some[int64](1), crisol.Some("USD")},
		{crisol.Some(latest + 1), crisol.Some[int64](0), crisol.Some("PTS")},
	})
	wanted := []string{
		"3 amount_not_positive: amount is 0.00",
		"3 unknown_currency: `PTS` is none of EUR, USD",
		"3 event_in_future: event_ts 2026-04-02T00:00:00.000001Z is more than a day ahead",
	}
	if told := told(t, []string{"EUR", "USD"}, rows); !slices.Equal(told, wanted) {
		t.Fatal(told)
	}
}

func TestWithoutOptionsAnyCurrencyIsKnown(t *testing.T) {
	for _, rows := range [][]given{{{currency: crisol.Some("PTS")}}, {}} {
		if told := told(t, nil, message(rows)); told != nil {
			t.Error(told)
		}
	}
}

func TestColumnsThatDoNotFitAreNamed(t *testing.T) {
	for wanted, input := range map[string][]crisol.Column{
		"input: there is no column `currency`":            order[:2],
		"input: column `event_ts` is date, not timestamp": append([]crisol.Column{{Name: "event_ts", Type: "date"}}, order[1:]...),
	} {
		if _, err := reads(Options{}, input); err == nil || err.Error() != wanted {
			t.Error(err)
		}
	}
}

func TestWhatStandsUnderANullIsNoValue(t *testing.T) {
	bad := message([]given{{crisol.Some(latest + 1), crisol.Some[int64](-1), crisol.Some("PTS")}})
	columns := bad.Columns()
	for i, column := range columns {
		buffers := slices.Clone(column.Data().Buffers())
		buffers[0] = memory.NewBufferBytes([]byte{0})
		columns[i] = array.MakeFromData(array.NewData(column.DataType(), 1, buffers, nil, 1, 0))
	}
	if told := told(t, []string{"EUR"}, array.NewRecordBatch(bad.Schema(), columns, 1)); told != nil {
		t.Error(told)
	}
}

func TestRowByRowTheSameIsSaid(t *testing.T) {
	drawn := rand.New(rand.NewPCG(1, 1))
	rows := make([]given, 6_000)
	for row := range rows {
		rows[row] = given{
			one(drawn, -1, latest, latest+1),
			one[int64](drawn, 1, 0, -1, 1-1<<32, 1e18-1, 1-1e18),
			one(drawn, "EUR", "€uro", "", "PTS", "€", "EU"),
		}
	}
	whole := message(rows)
	for _, currencies := range [][]string{nil, {"EUR", "€uro"}, {"EURO"}} {
		for _, from := range []int{0, 1_001} {
			var wanted []string
			for row, given := range rows[from:] {
				wanted = append(wanted, given.broken(row, currencies)...)
			}
			if told := told(t, currencies, whole.NewSlice(int64(from), 6_000)); len(wanted) < 1_000 || !slices.Equal(told, wanted) {
				t.Errorf("%v: %d rejections, not %d", currencies, len(told), len(wanted))
			}
		}
	}
}

// What is to be said of a row.
func (g given) broken(row int, currencies []string) (told []string) {
	say := func(format string, values ...any) {
		told = append(told, fmt.Sprintf("%d ", row)+fmt.Sprintf(format, values...))
	}
	if g.cents.Valid && g.cents.Value <= 0 {
		say("amount_not_positive: amount is %s", crisol.DecimalOf(g.cents.Value, 2))
	}
	if g.currency.Valid && currencies != nil && !slices.Contains(currencies, g.currency.Value) {
		say("unknown_currency: `%s` is none of %s", g.currency.Value, strings.Join(currencies, ", "))
	}
	if g.event.Valid && g.event.Value > latest {
		say("event_in_future: event_ts %s is more than a day ahead", g.event.Value)
	}
	return told
}

// Null, or one of some values.
func one[T any](drawn *rand.Rand, values ...T) crisol.Null[T] {
	at := drawn.IntN(len(values) + 1)
	if at == len(values) {
		return crisol.Null[T]{}
	}
	return crisol.Some(values[at])
}

func told(t *testing.T, currencies []string, rows arrow.RecordBatch) (told []string) {
	t.Helper()
	check, err := open(Options{currencies}, rows.Schema(), crisol.Batch{Timestamp: now})
	if err != nil {
		t.Fatal(err)
	}
	err = check(rows, func(row int, why *crisol.Rejection) { told = append(told, fmt.Sprintf("%d %s", row, why)) })
	if err != nil {
		t.Fatal(err)
	}
	return told
}

func message(rows []given) arrow.RecordBatch {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "event_ts", Type: arrow.FixedWidthTypes.Timestamp_us, Nullable: true},
		{Name: "amount", Type: &arrow.Decimal128Type{Precision: 18, Scale: 2}, Nullable: true},
		{Name: "currency", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for _, row := range rows {
		valid := []bool{row.event.Valid, row.cents.Valid, row.currency.Valid}
		builder.Field(0).(*array.TimestampBuilder).AppendValues([]arrow.Timestamp{arrow.Timestamp(row.event.Value)}, valid[:1])
		builder.Field(1).(*array.Decimal128Builder).AppendValues([]decimal128.Num{decimal128.FromI64(row.cents.Value)}, valid[1:2])
		builder.Field(2).(*array.StringBuilder).AppendValues([]string{row.currency.Value}, valid[2:])
	}
	return builder.NewRecordBatch()
}
