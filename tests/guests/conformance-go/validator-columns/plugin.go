// Rules over rows of all types, in the way of columns.
package main

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/validator"
	"github.com/crisol/crisol/tests/guests/conformance-go/table"
)

type options struct {
	table.Rejecting
}

func init() { validator.ServeColumns(table.About, reads, open) }

func main() {}

func reads(options, []crisol.Column) ([]string, error) { return table.Names(), nil }

func open(asked options, input *arrow.Schema, _ crisol.Batch) (validator.Columns, error) {
	if err := asked.Open(); err != nil {
		return nil, err
	}
	b, s := input.FieldIndices("b")[0], input.FieldIndices("s")[0]
	return func(rows arrow.RecordBatch, broken func(int, *crisol.Rejection)) error {
		truths, texts := rows.Column(b).(*array.Boolean), rows.Column(s).(*array.String)
		for row := range int(rows.NumRows()) {
			number := row + 1
			if truths.IsValid(row) && !truths.Value(row) {
				broken(row, crisol.Reject("b_false", ""))
			}
			if texts.IsNull(row) {
				broken(row, crisol.Reject("s_null", "row %d has no s", number))
			}
			if table.Every(asked.RejectEvery, number) {
				broken(row, table.Refused(number, text(texts, row)))
			}
			if table.Every(asked.FilterEvery, number) {
				broken(row, crisol.Filter("skipped", ""))
			}
		}
		return asked.Push()
	}, nil
}

func text(texts *array.String, row int) crisol.Null[string] {
	if texts.IsNull(row) {
		return crisol.Null[string]{}
	}
	return crisol.Some(texts.Value(row))
}
