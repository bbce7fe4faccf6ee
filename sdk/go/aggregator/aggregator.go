// Package aggregator serves plugins that make one row of each group.
package aggregator

import (
	"github.com/apache/arrow-go/v18/arrow"
	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/internal/define"
	"github.com/crisol/crisol/sdk/go/internal/record"
	"github.com/crisol/crisol/sdk/go/internal/stage"
	groups "github.com/crisol/crisol/sdk/go/internal/wit/groups/exports/export_crisol_stage_group"
	_ "github.com/crisol/crisol/sdk/go/internal/wit/groups/exports/wit_exports"
)

// Group is what is known of one group while its rows come, in no order to rely on. An error stops the stream.
type Group[R, W any] interface {
	// Add takes a row; it may not be kept.
	Add(row *R) error
	// Finish gives the row of the group; false: there is none, and the group is reported as empty.
	Finish() (W, bool, error)
}

// New begins a group.
type New[R, W any] func() Group[R, W]

// Serve makes a plugin of a function that gets ready for one batch. It is called in an init function, once.
func Serve[O, R, W any](about crisol.About, open func(options O, batch crisol.Batch) (New[R, W], error)) {
	groups.Serve(Define(about, open))
}

// Define is what Serve serves; for tests.
func Define[O, R, W any](about crisol.About, open func(O, crisol.Batch) (New[R, W], error)) *stage.Definition[stage.Groups] {
	return define.GroupRows(about, "aggregator", open, func(begin New[R, W], reads *record.Codec[R], writer *record.Writer[W]) define.Work {
		return &rows[R, W]{begin: begin, reads: reads, writer: writer}
	})
}

type rows[R, W any] struct {
	begin  New[R, W]
	reads  *record.Codec[R]
	writer *record.Writer[W]
	reader *record.Reader[R]
	// The group at work, nil between groups.
	group Group[R, W]
}

func (r *rows[R, W]) Read(batch arrow.RecordBatch) { r.reader = r.reads.Reader(batch) }

func (r *rows[R, W]) Add(piece crisol.Range) error {
	if r.group == nil {
		r.group = r.begin()
	}
	for at := piece.Start; at < piece.End; at++ {
		row, err := define.GroupRow(r.reader, at)
		if err != nil {
			return err
		}
		if err := r.group.Add(row); err != nil {
			return err
		}
	}
	return nil
}

func (r *rows[R, W]) Close(number int32) error {
	row, there, err := r.group.Finish()
	r.group = nil
	if err == nil && there {
		r.writer.Add(row, int(number))
	}
	return err
}

func (r *rows[R, W]) Answer() ([][]byte, error) { return define.Answer(r.writer, define.Group) }
