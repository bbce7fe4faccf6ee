// How many rows a group has, what they come to, and the longest text, in the way of columns.
package main

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/aggregator"
	"github.com/crisol/crisol/tests/guests/conformance-go/table"
)

type options struct {
	table.Asking
	SkipSingle bool `json:"skip_single,omitempty"`
}

func init() { aggregator.ServeColumns(table.About, plan, open) }

func main() {}

func plan(options, []crisol.Column) (crisol.Plan, error) {
	return crisol.Plan{Reads: []string{"d18", "s"}, Writes: []crisol.Column{
		{Name: "rows", Type: "bigint"}, {Name: "total", Type: "decimal(38,4)", Nullable: true}, {Name: "longest", Type: "string", Nullable: true},
	}}, nil
}

func open(asked options, _ *arrow.Schema, _ crisol.Batch) (aggregator.Columns, error) {
	if err := asked.Open(); err != nil {
		return nil, err
	}
	of := memory.DefaultAllocator
	totals := array.NewDecimal128Builder(of, &arrow.Decimal128Type{Precision: 38, Scale: 4})
	return &sums{asked: asked, rows: array.NewInt64Builder(of), totals: totals, longest: array.NewStringBuilder(of)}, nil
}

type sum struct {
	rows    int64
	total   crisol.Null[decimal128.Num]
	longest crisol.Null[string]
}

type sums struct {
	asked   options
	atWork  sum
	rows    *array.Int64Builder
	totals  *array.Decimal128Builder
	longest *array.StringBuilder
}

func (s *sums) Add(rows arrow.RecordBatch, piece crisol.Range) error {
	amounts, texts := rows.Column(0).(*array.Decimal128), rows.Column(1).(*array.String)
	s.atWork.rows += int64(piece.Len())
	for row := piece.Start; row < piece.End; row++ {
		if amounts.IsValid(row) {
			s.atWork.total = crisol.Some(s.atWork.total.Value.Add(amounts.Value(row)))
		}
		if longest := s.atWork.longest; texts.IsValid(row) && (!longest.Valid || texts.ValueLen(row) > len(longest.Value)) {
			s.atWork.longest = crisol.Some(texts.Value(row))
		}
	}
	return s.asked.Push()
}

func (s *sums) Close() (bool, error) {
	made := s.atWork
	s.atWork = sum{}
	if s.asked.SkipSingle && made.rows == 1 {
		return false, s.asked.Finish()
	}
	s.rows.Append(made.rows)
	s.totals.AppendValues([]decimal128.Num{made.total.Value}, []bool{made.total.Valid})
	s.longest.AppendValues([]string{made.longest.Value}, []bool{made.longest.Valid})
	return true, s.asked.Finish()
}

func (s *sums) Take() ([]arrow.Array, error) {
	return []arrow.Array{s.rows.NewArray(), s.totals.NewArray(), s.longest.NewArray()}, nil
}
