// Every second row of a group, in the way of columns.
package main

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/ranker"
	"github.com/crisol/crisol/tests/guests/conformance-go/table"
)

func init() { ranker.ServeColumns(table.About, plan, open) }

func main() {}

func plan(table.Asking, []crisol.Column) (crisol.Plan, error) {
	writes := []crisol.Column{{Name: "place", Type: "int"}, {Name: "said", Type: "string", Nullable: true}}
	return crisol.Plan{Reads: []string{"s", "i32"}, Writes: writes}, nil
}

func open(asked table.Asking, _ *arrow.Schema, _ crisol.Batch) (ranker.Columns, error) {
	if err := asked.Open(); err != nil {
		return nil, err
	}
	return func(rows arrow.RecordBatch, groups []crisol.Range) (ranker.Ranked, error) {
		if err := asked.Push(); err != nil {
			return ranker.Ranked{}, err
		}
		places := array.NewInt32Builder(memory.DefaultAllocator)
		var kept []int32
		for _, group := range groups {
			for row := group.Start; row < group.End; row += 2 {
				kept = append(kept, int32(row))
				places.Append(int32((row-group.Start)/2 + 1))
			}
		}
		said, err := crisol.Take(rows.Column(0), kept)
		if err != nil {
			return ranker.Ranked{}, err
		}
		return ranker.Ranked{Columns: []arrow.Array{places.NewArray(), said}, Rows: kept}, asked.Finish()
	}, nil
}
