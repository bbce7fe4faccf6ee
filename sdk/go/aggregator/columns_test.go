package aggregator

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/internal/define"
	"github.com/crisol/crisol/sdk/go/internal/stage"
	"github.com/crisol/crisol/sdk/go/internal/written"
)

// How many rows a group has, and in how many pieces they came. One of a single row is answered with nothing.
type count struct {
	rows, pieces int32
	made         [2]*array.Int32Builder
	takes        int
}

func counting() *count {
	return &count{made: [2]*array.Int32Builder{array.NewInt32Builder(memory.DefaultAllocator), array.NewInt32Builder(memory.DefaultAllocator)}}
}

func (c *count) Add(rows arrow.RecordBatch, piece crisol.Range) error {
	for row := piece.Start; row < piece.End; row++ {
		if rows.Column(0).IsNull(row) {
			return crisol.Fail("null", "row %d has no price", row)
		}
	}
	c.rows += int32(piece.Len())
	c.pieces++
	return nil
}

func (c *count) Close() (bool, error) {
	there := c.rows > 1
	if there {
		c.made[0].Append(c.rows)
		c.made[1].Append(c.pieces)
	}
	c.rows, c.pieces = 0, 0
	return there, nil
}

func (c *count) Take() ([]arrow.Array, error) {
	c.takes++
	return []arrow.Array{c.made[0].NewArray(), c.made[1].NewArray()}, nil
}

var counted = []stage.Column{{Name: "rows", Type: "int"}, {Name: "pieces", Type: "int"}}

func openedColumns(t *testing.T, fold Columns) stage.Groups {
	t.Helper()
	plan := func(crisol.NoOptions, []crisol.Column) (crisol.Plan, error) { return crisol.Plan{Writes: counted}, nil }
	open := func(crisol.NoOptions, *arrow.Schema, crisol.Batch) (Columns, error) { return fold, nil }
	session, err := DefineColumns(crisol.About{Name: "a", Version: "0.1.0"}, plan, open).Open("{}", define.Codec[given]().Columns, 0)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

func TestRowsOfAGroupComeInPiecesAndItsRowWhenItIsClosed(t *testing.T) {
	counts := counting()
	session := openedColumns(t, counts)
	price := crisol.Some(crisol.DecimalOf(125, 2))
	answer := func(messages [][]byte, err error) string {
		t.Helper()
		if err != nil || len(messages) > 1 {
			t.Fatal(len(messages), err)
		}
		if len(messages) == 0 {
			return ""
		}
		return written.Rows(t, append(counted[:2:2], stage.Column{Name: define.Group, Type: "int"}), messages[0])
	}
	for _, step := range []struct {
		groups []int
		wanted string
	}{
		{[]int{0, 0, 1, 2}, "2 | 1 | 0"},
		{nil, ""},
		{[]int{2, 2}, ""},
		{[]int{2, 5}, "4 | 3 | 2"},
		{[]int{6, 6, 7, 7, 7, 8}, "2 | 1 | 6\n3 | 1 | 7"},
		{[]int{9}, ""},
		{[]int{9}, ""},
	} {
		if got := answer(session.Push(message(t, price, step.groups...))); got != step.wanted {
			t.Errorf("%v: %q, not %q", step.groups, got, step.wanted)
		}
	}
	if got := answer(session.Finish()); got != "2 | 2 | 9" || counts.takes != 5 {
		t.Error(got, counts.takes)
	}
}

func TestASessionWithoutRowsHasNoGroup(t *testing.T) {
	counts := counting()
	session := openedColumns(t, counts)
	if messages, err := session.Push(message(t, crisol.Null[crisol.Decimal]{})); err != nil || messages != nil {
		t.Error(messages, err)
	}
	if messages, err := session.Finish(); err != nil || messages != nil || counts.takes != 0 {
		t.Error(messages, err, counts.takes)
	}
}

// Groups are told to be part of the result, and have no row.
type forgetful struct{ *count }

func (forgetful) Close() (bool, error) { return true, nil }

func TestAnotherNumberOfRowsThanOfGroupsIsAFailure(t *testing.T) {
	_, err := openedColumns(t, forgetful{counting()}).Push(message(t, crisol.Some(crisol.DecimalOf(1, 2)), 0, 1, 2))
	if err == nil || err.Error() != "bug: column `rows` was planned as int of 2 rows, int of 0 came" {
		t.Error(err)
	}
}

// Groups have a row, and are told to be no part of the result.
type secretive struct{ *count }

func (s secretive) Close() (bool, error) {
	_, err := s.count.Close()
	return false, err
}

func TestRowsWithoutGroupsAreAFailure(t *testing.T) {
	price := crisol.Some(crisol.DecimalOf(1, 2))
	wanted := "bug: column `rows` was planned as int of 0 rows, int of 1 came"
	if _, err := openedColumns(t, secretive{counting()}).Push(message(t, price, 0, 0, 1)); err == nil || err.Error() != wanted {
		t.Error(err)
	}
	session := openedColumns(t, secretive{counting()})
	if messages, err := session.Push(message(t, price, 0, 0)); err != nil || messages != nil {
		t.Fatal("the group may go on", messages, err)
	}
	if _, err := session.Finish(); err == nil || err.Error() != wanted {
		t.Error(err)
	}
}

func TestAnErrorOverColumnsStopsTheStage(t *testing.T) {
	_, err := openedColumns(t, counting()).Push(message(t, crisol.Null[crisol.Decimal]{}, 0))
	if err == nil || err.Error() != "null: row 0 has no price" {
		t.Error(err)
	}
}
