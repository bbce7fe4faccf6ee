// Rows as they are, in the way of rows.
package main

import (
	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/transformer"
	"github.com/crisol/crisol/tests/guests/conformance-go/table"
)

type options struct {
	table.Rejecting
	Repeat *int `json:"repeat,omitempty" schema:"{\"minimum\": 1}"`
	Stamp  bool `json:"stamp,omitempty"`
}

func (o *options) Check() error {
	if err := o.Rejecting.Check(); err != nil {
		return err
	}
	return table.AtLeastOne(o.Repeat)
}

func (o *options) times() int {
	if o.Repeat == nil {
		return 1
	}
	return *o.Repeat
}

func init() { transformer.Serve(table.About, open) }

func main() {}

func open(asked options, batch crisol.Batch) (transformer.Transform[table.Row, table.Row], error) {
	if err := asked.Open(); err != nil {
		return nil, err
	}
	return func(row *table.Row, out *transformer.Out[table.Row]) error {
		if err := asked.Push(); err != nil {
			return err
		}
		number := out.Row + 1
		switch {
		case table.Every(asked.RejectEvery, number):
			return table.Refused(number, row.S)
		case table.Every(asked.FilterEvery, number):
			return crisol.Filter("skipped", "")
		}
		if asked.Stamp {
			row.TS = crisol.Some(batch.Timestamp)
		}
		for range asked.times() {
			out.Push(*row)
		}
		return nil
	}, nil
}
