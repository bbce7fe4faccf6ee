package validator

import (
	"github.com/apache/arrow-go/v18/arrow"
	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/internal/define"
	"github.com/crisol/crisol/sdk/go/internal/message"
	"github.com/crisol/crisol/sdk/go/internal/stage"
	verdicts "github.com/crisol/crisol/sdk/go/internal/wit/verdicts/exports/export_crisol_stage_verdicts"
)

// Columns judges the rows of Arrow arrays: it calls broken with a row, counted from 0, for each rule that the row breaks.
type Columns func(rows arrow.RecordBatch, broken func(row int, why *crisol.Rejection)) error

// ServeColumns makes a plugin that works on Arrow arrays: reads says which columns of the input those are, open gets ready for one
// batch. The arrays are views of the message and may be kept.
func ServeColumns[O any](
	about crisol.About,
	reads func(options O, input []crisol.Column) ([]string, error),
	open func(options O, input *arrow.Schema, batch crisol.Batch) (Columns, error),
) {
	verdicts.Serve(DefineColumns(about, reads, open))
}

// DefineColumns is what ServeColumns serves; for tests.
func DefineColumns[O any](
	about crisol.About,
	reads func(O, []crisol.Column) ([]string, error),
	open func(O, *arrow.Schema, crisol.Batch) (Columns, error),
) *stage.Definition[stage.Verdicts] {
	plan := func(options O, input []stage.Column) (stage.Plan, error) {
		names, err := reads(options, input)
		return stage.Plan{Reads: names}, err
	}
	return define.Stage(about, "validator", plan, func(options O, input []stage.Column, batch crisol.Batch) (stage.Verdicts, error) {
		made := &columns{}
		schema, err := made.input.Open(input)
		if err != nil {
			return nil, err
		}
		made.check, err = open(options, schema, batch)
		return made, err
	})
}

type columns struct {
	input define.Input
	check Columns
}

func (c *columns) Check(bytes []byte) ([]byte, error) {
	batch, err := c.input.Read(bytes)
	if err != nil {
		return nil, err
	}
	var rejected message.Rejected
	err = c.check(batch, func(row int, why *crisol.Rejection) { rejected.Add(row, why.Filtered, why.Code, why.Text) })
	if err != nil {
		return nil, err
	}
	return rejected.Message()
}
