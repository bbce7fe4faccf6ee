package define

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/internal/message"
	"github.com/crisol/crisol/sdk/go/internal/stage"
	"github.com/crisol/crisol/sdk/go/internal/types"
)

// Columns is a decoder or transformer over columns.
func Columns[O any](
	about crisol.About,
	kind string,
	plan func(O, []crisol.Column) (crisol.Plan, error),
	open func(O, *arrow.Schema, crisol.Batch) (func(arrow.RecordBatch) (crisol.Output, error), error),
) *stage.Definition[stage.Rows] {
	return Stage(about, kind, plan, func(options O, input []stage.Column, batch crisol.Batch) (stage.Rows, error) {
		made := &columns{}
		schema, err := made.input.Open(input)
		if err != nil {
			return nil, err
		}
		if made.writes, err = written(plan, options, input); err != nil {
			return nil, err
		}
		made.push, err = open(options, schema, batch)
		return made, err
	})
}

type columns struct {
	input  Input
	writes *arrow.Schema
	push   func(arrow.RecordBatch) (crisol.Output, error)
}

func (c *columns) Push(bytes []byte) ([]byte, []byte, error) {
	batch, err := c.input.Read(bytes)
	if err != nil {
		return nil, nil, err
	}
	output, err := c.push(batch)
	if err != nil {
		return nil, nil, err
	}
	rows, err := Message(c.writes, output.Columns, "_row", output.Rows)
	if err != nil {
		return nil, nil, err
	}
	var rejected message.Rejected
	for _, r := range output.Rejected {
		rejected.Add(r.Row, r.Filtered, r.Code, r.Text)
	}
	refused, err := rejected.Message()
	return rows, refused, err
}

// What is written is the same as was planned: it depends on nothing else.
func written[O any](plan func(O, []crisol.Column) (crisol.Plan, error), options O, input []stage.Column) (*arrow.Schema, error) {
	planned, err := plan(options, input)
	if err != nil {
		return nil, err
	}
	schema, err := message.Schema(planned.Writes)
	if err != nil {
		return nil, crisol.Fail("bug", "%s", err)
	}
	return schema, nil
}

// Message gives columns as a message, with what their rows belong to as a last column of this name. Columns that are not those of
// the schema, or not of one length, are a failure.
func Message(schema *arrow.Schema, columns []arrow.Array, name string, index []int32) ([]byte, error) {
	made, err := planned(schema, columns, len(index))
	if err != nil {
		return nil, err
	}
	return message.Write(message.Indexed(made, name, index))
}

// The columns as rows, if they are what was planned.
func planned(schema *arrow.Schema, columns []arrow.Array, rows int) (arrow.RecordBatch, error) {
	if len(columns) != schema.NumFields() {
		return nil, crisol.Fail("bug", "%d columns were planned, %d came", schema.NumFields(), len(columns))
	}
	for i, field := range schema.Fields() {
		found, _ := types.Name(columns[i].DataType())
		wanted, _ := types.Name(field.Type)
		if found != wanted || columns[i].Len() != rows {
			return nil, crisol.Fail("bug", "column `%s` was planned as %s of %d rows, %s of %d came", field.Name, wanted, rows, found, columns[i].Len())
		}
	}
	return array.NewRecordBatch(schema, columns, int64(rows)), nil
}
