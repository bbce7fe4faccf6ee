package aggregator

import (
	"github.com/apache/arrow-go/v18/arrow"
	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/internal/define"
	"github.com/crisol/crisol/sdk/go/internal/stage"
	groups "github.com/crisol/crisol/sdk/go/internal/wit/groups/exports/export_crisol_stage_group"
)

// Columns folds the rows of Arrow arrays, group by group as they come, so that a group may be larger than memory. An error stops
// the stream.
type Columns interface {
	// Add takes more rows of the group at work: those of piece, which are in no order to rely on.
	Add(rows arrow.RecordBatch, piece crisol.Range) error
	// Close tells that the group at work is complete; false: it has no row, and is reported as empty.
	Close() (bool, error)
	// Take gives the columns of the plan, in its order, with one row for each group for which Close was true since the last time, in
	// the order in which they were closed; columns without rows, or none, when there is no such group.
	Take() ([]arrow.Array, error)
}

// ServeColumns makes a plugin that works on Arrow arrays: plan says which columns are read and written, open gets ready for one
// batch, and what it gives folds the columns that are read. They are views of the message and may be kept.
func ServeColumns[O any](
	about crisol.About,
	plan func(options O, input []crisol.Column) (crisol.Plan, error),
	open func(options O, input *arrow.Schema, batch crisol.Batch) (Columns, error),
) {
	groups.Serve(DefineColumns(about, plan, open))
}

// DefineColumns is what ServeColumns serves; for tests.
func DefineColumns[O any](
	about crisol.About,
	plan func(O, []crisol.Column) (crisol.Plan, error),
	open func(O, *arrow.Schema, crisol.Batch) (Columns, error),
) *stage.Definition[stage.Groups] {
	return define.GroupColumns(about, "aggregator", plan, open, func(fold Columns, writes *arrow.Schema) define.Work {
		return &columns{fold: fold, writes: writes}
	})
}

type columns struct {
	fold   Columns
	writes *arrow.Schema
	rows   arrow.RecordBatch
	// Whether groups were closed since rows were taken, and those that have one.
	complete bool
	closed   []int32
}

func (c *columns) Read(rows arrow.RecordBatch) { c.rows = rows }

func (c *columns) Add(piece crisol.Range) error { return c.fold.Add(c.rows, piece) }

func (c *columns) Close(group int32) error {
	there, err := c.fold.Close()
	c.complete = true
	if there {
		c.closed = append(c.closed, group)
	}
	return err
}

func (c *columns) Answer() ([][]byte, error) {
	if !c.complete {
		return nil, nil
	}
	taken, err := c.fold.Take()
	if err != nil {
		return nil, err
	}
	groups := c.closed
	c.complete, c.closed = false, nil
	return define.Made(c.writes, taken, define.Group, groups)
}
