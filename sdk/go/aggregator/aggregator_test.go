package aggregator

import (
	"testing"

	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/internal/define"
	"github.com/crisol/crisol/sdk/go/internal/stage"
	"github.com/crisol/crisol/sdk/go/internal/written"
)

type row struct {
	Price crisol.Decimal `crisol:"price,decimal(9,2)"`
}

// What a host may give: nulls also where the row has no Null.
type given struct {
	Price crisol.Null[crisol.Decimal] `crisol:"price,decimal(9,2)"`
}

type total struct {
	Total crisol.Decimal `crisol:"total,decimal(18,2)"`
}

// One of a single row is answered with nothing.
type sum struct {
	rows  int
	total crisol.Decimal
}

func (s *sum) Add(row *row) error {
	s.rows++
	s.total = s.total.Add(row.Price)
	return nil
}

func (s *sum) Finish() (total, bool, error) { return total{s.total}, s.rows > 1, nil }

func opened(t *testing.T) stage.Groups {
	t.Helper()
	open := func(crisol.NoOptions, crisol.Batch) (New[row, total], error) {
		return func() Group[row, total] { return &sum{total: crisol.DecimalOf(0, 2)} }, nil
	}
	session, err := Define(crisol.About{Name: "a", Version: "0.1.0"}, open).Open("{}", define.Codec[given]().Columns, 0)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

func message(t *testing.T, price crisol.Null[crisol.Decimal], groups ...int) []byte {
	t.Helper()
	writer := define.Codec[given]().Writer()
	for _, group := range groups {
		writer.Add(given{price}, group)
	}
	bytes, err := writer.Message(define.Group)
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

func TestEachGroupIsARowUnlessItSaysNo(t *testing.T) {
	sums := opened(t)
	price := crisol.Some(crisol.DecimalOf(125, 2))
	columns := []stage.Column{{Name: "total", Type: "decimal(18,2)"}, {Name: define.Group, Type: "int"}}
	first, err := sums.Push(message(t, price, 0, 0, 1, 2))
	if err != nil || len(first) != 1 || written.Rows(t, columns, first[0]) != "2.5 | 0" {
		t.Fatal(first, err)
	}
	if more, err := sums.Push(message(t, price, 2, 2)); err != nil || more != nil {
		t.Fatal("the group may go on", more, err)
	}
	last, err := sums.Finish()
	if err != nil || len(last) != 1 || written.Rows(t, columns, last[0]) != "3.75 | 2" {
		t.Fatal(last, err)
	}
}

func TestANullWhereNoneMayBeStopsTheStage(t *testing.T) {
	_, err := opened(t).Push(message(t, crisol.Null[crisol.Decimal]{}, 0))
	wanted := "input: column `price` is null in a row; drop such rows before, or make the field a Null"
	if err == nil || err.Error() != wanted {
		t.Error(err)
	}
}
