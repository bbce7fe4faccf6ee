// Rules over rows of all types, in the way of rows.
package main

import (
	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/validator"
	"github.com/crisol/crisol/tests/guests/conformance-go/table"
)

type options struct {
	table.Rejecting
}

func init() { validator.Serve(table.About, open) }

func main() {}

func open(asked options, _ crisol.Batch) (validator.Check[table.Row], error) {
	if err := asked.Open(); err != nil {
		return nil, err
	}
	return func(row *table.Row, broken *validator.Broken) error {
		number := broken.Row + 1
		if row.B.Valid && !row.B.Value {
			broken.Reject("b_false", "")
		}
		if !row.S.Valid {
			broken.Reject("s_null", "row %d has no s", number)
		}
		if table.Every(asked.RejectEvery, number) {
			broken.Add(table.Refused(number, row.S))
		}
		if table.Every(asked.FilterEvery, number) {
			broken.Add(crisol.Filter("skipped", ""))
		}
		return asked.Push()
	}, nil
}
