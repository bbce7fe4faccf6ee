// Rows as they are, in the way of columns.
package main

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
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

func init() { transformer.ServeColumns(table.About, plan, open) }

func main() {}

func plan(options, []crisol.Column) (crisol.Plan, error) {
	return crisol.Plan{Reads: table.Names(), Writes: table.Columns}, nil
}

type push = func(arrow.RecordBatch) (crisol.Output, error)

func open(asked options, input *arrow.Schema, batch crisol.Batch) (push, error) {
	if err := asked.Open(); err != nil {
		return nil, err
	}
	s, ts := input.FieldIndices("s")[0], input.FieldIndices("ts")[0]
	return func(rows arrow.RecordBatch) (crisol.Output, error) {
		output := crisol.Output{}
		texts := rows.Column(s).(*array.String)
		for row := range int(rows.NumRows()) {
			number := row + 1
			switch {
			case table.Every(asked.RejectEvery, number):
				said := crisol.Null[string]{Valid: texts.IsValid(row)}
				if said.Valid {
					said.Value = texts.Value(row)
				}
				output.Rejected = append(output.Rejected, crisol.RejectedRow{Row: row, Rejection: table.Refused(number, said)})
			case table.Every(asked.FilterEvery, number):
				output.Rejected = append(output.Rejected, crisol.RejectedRow{Row: row, Rejection: crisol.Filter("skipped", "")})
			default:
				for range asked.times() {
					output.Rows = append(output.Rows, int32(row))
				}
			}
		}
		for i, column := range rows.Columns() {
			taken, err := crisol.Take(column, output.Rows)
			if err != nil {
				return output, err
			}
			if i == ts && asked.Stamp {
				taken = stamps(batch.Timestamp, len(output.Rows))
			}
			output.Columns = append(output.Columns, taken)
		}
		return output, asked.Push()
	}, nil
}

func stamps(now crisol.Timestamp, rows int) arrow.Array {
	builder := array.NewTimestampBuilder(memory.DefaultAllocator, arrow.FixedWidthTypes.Timestamp_us.(*arrow.TimestampType))
	for range rows {
		builder.Append(arrow.Timestamp(now))
	}
	return builder.NewArray()
}
