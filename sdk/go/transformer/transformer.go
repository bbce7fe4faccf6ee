// Package transformer serves plugins that make rows of rows.
package transformer

import (
	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/internal/define"
	"github.com/crisol/crisol/sdk/go/internal/message"
	"github.com/crisol/crisol/sdk/go/internal/record"
	"github.com/crisol/crisol/sdk/go/internal/stage"
	transform "github.com/crisol/crisol/sdk/go/internal/wit/rows/exports/export_crisol_stage_transform"
	_ "github.com/crisol/crisol/sdk/go/internal/wit/rows/exports/wit_exports"
)

// Out collects the rows that are made of one row.
type Out[W any] struct {
	// Row is the place of the row in its message, counted from 0.
	Row int
	// Rows are those that were pushed.
	Rows []W
}

// Push adds a row.
func (o *Out[W]) Push(row W) { o.Rows = append(o.Rows, row) }

// Transform pushes each row that it makes of a row. A row of which it makes none is filtered, as "filtered". An error rejects the
// row, whatever was pushed: a *crisol.Rejection with its code, any other as "error"; a *crisol.Failure stops the stream.
type Transform[R, W any] func(row *R, out *Out[W]) error

// Serve makes a plugin of a function that gets ready for one batch. It is called in an init function, once.
func Serve[O, R, W any](about crisol.About, open func(options O, batch crisol.Batch) (Transform[R, W], error)) {
	transform.Serve(Define(about, open))
}

// Define is what Serve serves; for tests.
func Define[O, R, W any](about crisol.About, open func(O, crisol.Batch) (Transform[R, W], error)) *stage.Definition[stage.Rows] {
	reads, writes := define.Codec[R](), define.Codec[W]()
	plan := func(_ O, input []stage.Column) (stage.Plan, error) {
		return stage.Plan{Reads: reads.Names(), Writes: writes.Columns}, define.Reads(reads, input)
	}
	return define.Stage(about, "transformer", plan, func(options O, input []stage.Column, batch crisol.Batch) (stage.Rows, error) {
		transform, err := open(options, batch)
		if err != nil {
			return nil, err
		}
		made := &session[R, W]{transform: transform, reads: reads, writes: writes}
		_, err = made.input.Open(input)
		return made, err
	})
}

type session[R, W any] struct {
	input     define.Input
	transform Transform[R, W]
	reads     *record.Codec[R]
	writes    *record.Codec[W]
}

func (s *session[R, W]) Push(bytes []byte) ([]byte, []byte, error) {
	batch, err := s.input.Read(bytes)
	if err != nil {
		return nil, nil, err
	}
	var rejected message.Rejected
	var out Out[W]
	reader, writer := s.reads.Reader(batch), s.writes.Writer()
	for at := range int(batch.NumRows()) {
		out = Out[W]{at, out.Rows[:0]}
		row, null := reader.Row(at)
		if null != "" {
			err = define.NotNull(null)
		} else if err = s.transform(row, &out); err == nil && len(out.Rows) == 0 {
			err = crisol.Filter("filtered", "")
		}
		if err != nil {
			if err := define.Reject(&rejected, at, err); err != nil {
				return nil, nil, err
			}
			continue
		}
		for _, row := range out.Rows {
			writer.Add(row, at)
		}
	}
	rows, err := writer.Message("_row")
	if err != nil {
		return nil, nil, err
	}
	refused, err := rejected.Message()
	return rows, refused, err
}
