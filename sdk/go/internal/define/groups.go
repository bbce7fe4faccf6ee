package define

import (
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/internal/stage"
)

// Group is the column of the input that says which group a row is of, as the last one.
const Group = "_group"

// Work is what is done with groups. One of them is at work at a time, and its rows come in pieces: it may go over several messages.
type Work interface {
	// Read is given the rows of the next message, which may be kept.
	Read(rows arrow.RecordBatch)
	// Add takes more rows of the group at work: where they stand in what was read last.
	Add(piece crisol.Range) error
	// Close tells that the group at work is complete, and its number.
	Close(group int32) error
	// Answer gives what was made since the last time, as messages; none when there is nothing.
	Answer() ([][]byte, error)
}

// A session that cuts groups out of messages.
type groups struct {
	input  Input
	schema *arrow.Schema
	work   Work
	group  int32
	atWork bool
}

// Ties a session to its columns, before it gets its work.
func openGroups(columns []stage.Column) (*groups, error) {
	made := &groups{}
	schema, err := made.input.Open(append(columns[:len(columns):len(columns)], stage.Column{Name: Group, Type: "int"}))
	if err != nil {
		return nil, err
	}
	made.schema = arrow.NewSchema(schema.Fields()[:len(columns)], nil)
	return made, nil
}

func (g *groups) Push(bytes []byte) ([][]byte, error) { return g.answer(g.cut(bytes)) }

func (g *groups) Finish() ([][]byte, error) { return g.answer(g.close()) }

// What was made, unless there was an error.
func (g *groups) answer(err error) ([][]byte, error) {
	if err != nil {
		return nil, stopping(err)
	}
	messages, err := g.work.Answer()
	return messages, stopping(err)
}

func (g *groups) cut(bytes []byte) error {
	batch, err := g.input.Read(bytes)
	if err != nil {
		return err
	}
	last := int(batch.NumCols()) - 1
	g.work.Read(array.NewRecordBatch(g.schema, batch.Columns()[:last], batch.NumRows()))
	numbers := batch.Column(last).(*array.Int32).Values()
	for start := 0; start < len(numbers); {
		end := start + 1
		for end < len(numbers) && numbers[end] == numbers[start] {
			end++
		}
		if err := g.add(numbers[start], crisol.Range{Start: start, End: end}); err != nil {
			return err
		}
		start = end
	}
	return nil
}

func (g *groups) add(group int32, piece crisol.Range) error {
	if group != g.group {
		if err := g.close(); err != nil {
			return err
		}
	}
	g.group, g.atWork = group, true
	return g.work.Add(piece)
}

func (g *groups) close() error {
	if !g.atWork {
		return nil
	}
	g.atWork = false
	return g.work.Close(g.group)
}

// Groups have no quarantine: a rejection stops the stage.
func stopping(err error) error {
	var rejection *crisol.Rejection
	var failure *crisol.Failure
	if errors.As(err, &failure) || !errors.As(err, &rejection) {
		return err
	}
	return crisol.Fail("input", "a row of a group is refused, %s; drop such rows before, or make the column nullable", err)
}
