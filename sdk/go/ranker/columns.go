package ranker

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/internal/define"
	"github.com/crisol/crisol/sdk/go/internal/stage"
	groups "github.com/crisol/crisol/sdk/go/internal/wit/groups/exports/export_crisol_stage_group"
)

// Columns ranks the rows of Arrow arrays. They are those of whole groups: each of groups is where the rows of one stand, in no order
// to rely on. Groups come one after another and never twice; what is given may not depend on how many come at once. An error stops
// the stream.
type Columns func(rows arrow.RecordBatch, groups []crisol.Range) (Ranked, error)

// Ranked are the rows that are kept; the others are not part of the result.
type Ranked struct {
	// Columns are those of the plan, in its order, all of one length; there may be none when no row is kept.
	Columns []arrow.Array
	// Rows are the input rows that the rows of Columns stand for, counted from 0, each at most once.
	Rows []int32
}

// ServeColumns makes a plugin that works on Arrow arrays: plan says which columns are read and added, open gets ready for one
// batch, and what it gives is called with the columns that are read. They may be kept.
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
	return define.GroupColumns(about, "ranker", plan, open, func(rank Columns, writes *arrow.Schema) define.Work {
		return &columns{rank: rank, writes: writes}
	})
}

type columns struct {
	rank   Columns
	writes *arrow.Schema
	// Rows wait until their group is complete, in the messages that they came in.
	waiting []arrow.RecordBatch
	// Where groups stand in the rows that wait: those that are complete, and then the one at work.
	complete []crisol.Range
	atWork   crisol.Range
	// Rows that no longer wait.
	ranked int32
}

func (c *columns) Read(rows arrow.RecordBatch) {
	if rows.NumRows() > 0 {
		c.waiting = append(c.waiting, rows)
	}
}

func (c *columns) Add(piece crisol.Range) error {
	c.atWork.End += piece.Len()
	return nil
}

func (c *columns) Close(int32) error {
	c.complete = append(c.complete, c.atWork)
	c.atWork.Start = c.atWork.End
	return nil
}

func (c *columns) Answer() ([][]byte, error) {
	if len(c.complete) == 0 {
		return nil, nil
	}
	rows, groups, err := c.take()
	if err != nil {
		return nil, err
	}
	ranked, err := c.rank(rows, groups)
	if err != nil {
		return nil, err
	}
	first := c.ranked
	c.ranked += int32(rows.NumRows())
	index := make([]int32, len(ranked.Rows))
	for i, row := range ranked.Rows {
		index[i] = first + row
	}
	return define.Made(c.writes, ranked.Columns, "_row", index)
}

// The groups that are complete, with their rows. Those of the group at work go on waiting: it began in the last message, or there
// would be no complete one.
func (c *columns) take() (arrow.RecordBatch, []crisol.Range, error) {
	rows, err := concatenate(c.waiting)
	if err != nil {
		return nil, nil, err
	}
	groups, open, last := c.complete, c.atWork.Len(), c.waiting[len(c.waiting)-1]
	rows = rows.NewSlice(0, int64(c.atWork.Start))
	c.waiting, c.complete, c.atWork = nil, nil, crisol.Range{End: open}
	if open > 0 {
		c.waiting = append(c.waiting, last.NewSlice(last.NumRows()-int64(open), last.NumRows()))
	}
	return rows, groups, nil
}

// One batch of several, of which there is at least one.
func concatenate(batches []arrow.RecordBatch) (arrow.RecordBatch, error) {
	if len(batches) == 1 {
		return batches[0], nil
	}
	var rows int64
	for _, batch := range batches {
		rows += batch.NumRows()
	}
	columns := make([]arrow.Array, batches[0].NumCols())
	for i := range columns {
		parts := make([]arrow.Array, len(batches))
		for at, batch := range batches {
			parts[at] = batch.Column(i)
		}
		var err error
		if columns[i], err = array.Concatenate(parts, memory.DefaultAllocator); err != nil {
			return nil, err
		}
	}
	return array.NewRecordBatch(batches[0].Schema(), columns, rows), nil
}
