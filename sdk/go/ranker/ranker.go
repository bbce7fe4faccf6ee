// Package ranker serves plugins that choose rows of each group.
package ranker

import (
	"github.com/apache/arrow-go/v18/arrow"
	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/internal/define"
	"github.com/crisol/crisol/sdk/go/internal/record"
	"github.com/crisol/crisol/sdk/go/internal/stage"
	groups "github.com/crisol/crisol/sdk/go/internal/wit/groups/exports/export_crisol_stage_group"
	_ "github.com/crisol/crisol/sdk/go/internal/wit/groups/exports/wit_exports"
)

// Rank is given the rows of one group, in no order to rely on, and calls keep for those that stay, by their place in it, with the
// columns that it adds; each row at most once. An error stops the stream.
type Rank[R, W any] func(group []R, keep func(row int, added W)) error

// Serve makes a plugin of a function that gets ready for one batch. It is called in an init function, once.
func Serve[O, R, W any](about crisol.About, open func(options O, batch crisol.Batch) (Rank[R, W], error)) {
	groups.Serve(Define(about, open))
}

// Define is what Serve serves; for tests.
func Define[O, R, W any](about crisol.About, open func(O, crisol.Batch) (Rank[R, W], error)) *stage.Definition[stage.Groups] {
	return define.GroupRows(about, "ranker", open, func(rank Rank[R, W], reads *record.Codec[R], writer *record.Writer[W]) define.Work {
		return &rows[R, W]{rank: rank, reads: reads, writer: writer}
	})
}

// Rows of the group at work wait until it is complete.
type rows[R, W any] struct {
	rank    Rank[R, W]
	reads   *record.Codec[R]
	writer  *record.Writer[W]
	reader  *record.Reader[R]
	waiting []R
	// Rows that no longer wait.
	ranked int
}

func (r *rows[R, W]) Read(batch arrow.RecordBatch) { r.reader = r.reads.Reader(batch) }

func (r *rows[R, W]) Add(piece crisol.Range) error {
	for at := piece.Start; at < piece.End; at++ {
		row, err := define.GroupRow(r.reader, at)
		if err != nil {
			return err
		}
		r.waiting = append(r.waiting, *row)
	}
	return nil
}

func (r *rows[R, W]) Close(int32) error {
	err := r.rank(r.waiting, func(row int, added W) { r.writer.Add(added, r.ranked+row) })
	r.ranked += len(r.waiting)
	r.waiting = r.waiting[:0]
	return err
}

func (r *rows[R, W]) Answer() ([][]byte, error) { return define.Answer(r.writer, "_row") }
