package ranker_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/internal/define"
	"github.com/crisol/crisol/sdk/go/internal/stage"
	"github.com/crisol/crisol/sdk/go/internal/written"
	"github.com/crisol/crisol/sdk/go/ranker"
)

var about = crisol.About{Name: "best", Version: "0.1.0", Reuse: true}

func init() { ranker.ServeColumns(about, plan, open) }

func plan(_ crisol.NoOptions, input []crisol.Column) (crisol.Plan, error) {
	if !slices.ContainsFunc(input, func(c crisol.Column) bool { return c.Name == "points" && c.Type == "int" }) {
		return crisol.Plan{}, crisol.Fail("input", "there is no column `points` of type int")
	}
	return crisol.Plan{Reads: []string{"points"}, Writes: []crisol.Column{{Name: "place", Type: "int"}}}, nil
}

func open(crisol.NoOptions, *arrow.Schema, crisol.Batch) (ranker.Columns, error) { return best, nil }

// The three rows of each group with most points stay, those without points do not.
func best(rows arrow.RecordBatch, groups []crisol.Range) (ranker.Ranked, error) {
	points := rows.Column(0).(*array.Int32)
	places := array.NewInt32Builder(memory.DefaultAllocator)
	var kept []int32
	for _, group := range groups {
		var order []int32
		for row := group.Start; row < group.End; row++ {
			if points.IsValid(row) {
				order = append(order, int32(row))
			}
		}
		slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(points.Value(int(b)), points.Value(int(a))) })
		for place, row := range order[:min(3, len(order))] {
			kept = append(kept, row)
			places.Append(int32(place + 1))
		}
	}
	return ranker.Ranked{Columns: []arrow.Array{places.NewArray()}, Rows: kept}, nil
}

type play struct {
	Points crisol.Null[int32] `crisol:"points"`
}

func TestTheGuideHasThisRanker(t *testing.T) {
	written.InGuide(t, "guide_test.go", "ranker.ServeColumns")
	plays, definition := define.Codec[play](), ranker.DefineColumns(about, plan, open)
	planned, err := definition.Plan("{}", plays.Columns)
	if err != nil {
		t.Fatal(err)
	}
	session, err := definition.Open("{}", plays.Columns, 0)
	if err != nil {
		t.Fatal(err)
	}
	writer := plays.Writer()
	for row, points := range []int32{1, 5, 0, 7, 5, 0, -1, 2} {
		writer.Add(play{crisol.Null[int32]{Value: points, Valid: points != 0}}, []int{0, 0, 0, 0, 0, 1, 2, 2}[row])
	}
	given, err := writer.Message(define.Group)
	if err != nil {
		t.Fatal(err)
	}
	columns := append(planned.Writes, stage.Column{Name: "_row", Type: "int"})
	first, err := session.Push(given)
	if err != nil || len(first) != 1 || written.Rows(t, columns, first[0]) != "1 | 3\n2 | 1\n3 | 4" {
		t.Fatal(first, err)
	}
	last, err := session.Finish()
	if err != nil || len(last) != 1 || written.Rows(t, columns, last[0]) != "1 | 7\n2 | 6" {
		t.Fatal(last, err)
	}
}

func TestTheRankerOfTheGuideRefusesAnInputWithoutPoints(t *testing.T) {
	for _, input := range [][]crisol.Column{nil, {{Name: "points", Type: "bigint"}}} {
		_, err := ranker.DefineColumns(about, plan, open).Plan("{}", input)
		if err == nil || err.Error() != "input: there is no column `points` of type int" {
			t.Error(err)
		}
	}
}
