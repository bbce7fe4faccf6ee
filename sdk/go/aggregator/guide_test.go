package aggregator_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/aggregator"
	"github.com/crisol/crisol/sdk/go/internal/define"
	"github.com/crisol/crisol/sdk/go/internal/stage"
	"github.com/crisol/crisol/sdk/go/internal/written"
)

type totals struct {
	plays, points int64 // of the group at work
	made          [2]*array.Int64Builder
}

func (t *totals) Add(rows arrow.RecordBatch, piece crisol.Range) error {
	points := rows.Column(0).(*array.Int32)
	for row := piece.Start; row < piece.End; row++ {
		if points.IsValid(row) {
			t.points += int64(points.Value(row))
		}
	}
	t.plays += int64(piece.Len())
	return nil
}

func (t *totals) Close() (bool, error) {
	t.made[0].Append(t.plays)
	t.made[1].Append(t.points)
	t.plays, t.points = 0, 0
	return true, nil
}

func (t *totals) Take() ([]arrow.Array, error) {
	return []arrow.Array{t.made[0].NewArray(), t.made[1].NewArray()}, nil
}

func plan(crisol.NoOptions, []crisol.Column) (crisol.Plan, error) {
	writes := []crisol.Column{{Name: "plays", Type: "bigint"}, {Name: "points", Type: "bigint"}}
	return crisol.Plan{Reads: []string{"points"}, Writes: writes}, nil
}

func open(crisol.NoOptions, *arrow.Schema, crisol.Batch) (aggregator.Columns, error) {
	builder := func() *array.Int64Builder { return array.NewInt64Builder(memory.DefaultAllocator) }
	return &totals{made: [2]*array.Int64Builder{builder(), builder()}}, nil
}

type play struct {
	Points crisol.Null[int32] `crisol:"points"`
}

func TestTheGuideHasThisAggregator(t *testing.T) {
	written.InGuide(t, "guide_test.go", "type totals")
	plays := define.Codec[play]()
	session, err := aggregator.DefineColumns(crisol.About{Name: "totals", Version: "0.1.0"}, plan, open).Open("{}", plays.Columns, 0)
	if err != nil {
		t.Fatal(err)
	}
	push := func(groups ...int) [][]byte {
		writer := plays.Writer()
		for row, group := range groups {
			writer.Add(play{crisol.Null[int32]{Value: int32(row), Valid: row > 0}}, group)
		}
		given, err := writer.Message(define.Group)
		if err != nil {
			t.Fatal(err)
		}
		messages, err := session.Push(given)
		if err != nil {
			t.Fatal(err)
		}
		return messages
	}
	columns := []stage.Column{{Name: "plays", Type: "bigint"}, {Name: "points", Type: "bigint"}, {Name: define.Group, Type: "int"}}
	if got := push(0, 0, 0, 1, 2); len(got) != 1 || written.Rows(t, columns, got[0]) != "3 | 3 | 0\n1 | 3 | 1" {
		t.Fatal(got)
	}
	if got := push(2, 2); got != nil {
		t.Fatal("the group may go on", got)
	}
	last, err := session.Finish()
	if err != nil || len(last) != 1 || written.Rows(t, columns, last[0]) != "3 | 5 | 2" {
		t.Fatal(last, err)
	}
}
