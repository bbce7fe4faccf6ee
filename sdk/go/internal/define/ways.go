package define

import (
	"github.com/apache/arrow-go/v18/arrow"
	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/internal/record"
	"github.com/crisol/crisol/sdk/go/internal/stage"
)

// GroupColumns is a ranker or aggregator over columns: work is made of what is opened and of the columns that are planned.
func GroupColumns[O, C any](
	about crisol.About,
	kind string,
	plan func(O, []crisol.Column) (crisol.Plan, error),
	open func(O, *arrow.Schema, crisol.Batch) (C, error),
	work func(opened C, writes *arrow.Schema) Work,
) *stage.Definition[stage.Groups] {
	return Stage(about, kind, plan, func(options O, input []stage.Column, batch crisol.Batch) (stage.Groups, error) {
		made, err := openGroups(input)
		if err != nil {
			return nil, err
		}
		writes, err := written(plan, options, input)
		if err != nil {
			return nil, err
		}
		opened, err := open(options, made.schema, batch)
		if err != nil {
			return nil, stopping(err)
		}
		made.work = work(opened, writes)
		return made, nil
	})
}

// GroupRows is a ranker or aggregator over rows: it reads R, and writes W.
func GroupRows[O, G, R, W any](
	about crisol.About,
	kind string,
	open func(O, crisol.Batch) (G, error),
	work func(opened G, reads *record.Codec[R], writer *record.Writer[W]) Work,
) *stage.Definition[stage.Groups] {
	reads, writes := Codec[R](), Codec[W]()
	plan := func(_ O, input []stage.Column) (stage.Plan, error) {
		return stage.Plan{Reads: reads.Names(), Writes: writes.Columns}, Reads(reads, input)
	}
	return Stage(about, kind, plan, func(options O, input []stage.Column, batch crisol.Batch) (stage.Groups, error) {
		opened, err := open(options, batch)
		if err != nil {
			return nil, stopping(err)
		}
		made, err := openGroups(input)
		if err != nil {
			return nil, err
		}
		made.work = work(opened, reads, writes.Writer())
		return made, nil
	})
}

// GroupRow is a row of a group. Groups have no quarantine: a null in a field that may not be null stops the stage.
func GroupRow[R any](reader *record.Reader[R], row int) (*R, error) {
	read, null := reader.Row(row)
	if null != "" {
		return nil, crisol.Fail("input", "column `%s` is null in a row; drop such rows before, or make the field a Null", null)
	}
	return read, nil
}

// Made gives columns as messages, none when there is no row; nothing at all is no row, too.
func Made(schema *arrow.Schema, columns []arrow.Array, index string, of []int32) ([][]byte, error) {
	if len(columns) == 0 && len(of) == 0 {
		return nil, nil
	}
	message, err := Message(schema, columns, index, of)
	if err != nil || len(of) == 0 {
		return nil, err
	}
	return [][]byte{message}, nil
}

// Answer gives the rows that are written, if there are any, as messages.
func Answer[W any](writer *record.Writer[W], index string) ([][]byte, error) {
	if writer.Rows() == 0 {
		return nil, nil
	}
	message, err := writer.Message(index)
	return [][]byte{message}, err
}
