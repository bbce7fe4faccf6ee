// Package aggregator serves plugins that make one row of each group.
package aggregator

import (
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
	reads, writes := define.Codec[R](), define.Codec[W]()
	plan := func(_ O, input []stage.Column) (stage.Plan, error) {
		return stage.Plan{Reads: reads.Names(), Writes: writes.Columns}, define.Reads(reads, input)
	}
	return define.Stage(about, "aggregator", plan, func(options O, input []stage.Column, batch crisol.Batch) (stage.Groups, error) {
		begin, err := open(options, batch)
		if err != nil {
			return nil, err
		}
		made := &session[R, W]{begin: begin, reads: reads, writer: writes.Writer()}
		return made, made.input.OpenGroups(input)
	})
}

type session[R, W any] struct {
	input  define.Input
	begin  New[R, W]
	reads  *record.Codec[R]
	writer *record.Writer[W]
	number int32
	group  Group[R, W]
}

func (s *session[R, W]) Push(bytes []byte) ([][]byte, error) {
	err := define.Rows(&s.input, s.reads, bytes, func(number int32, row *R) error {
		if s.group == nil || number != s.number {
			if err := s.close(); err != nil {
				return err
			}
			s.group, s.number = s.begin(), number
		}
		return s.group.Add(row)
	})
	if err != nil {
		return nil, err
	}
	return define.Answer(s.writer, define.Group)
}

func (s *session[R, W]) Finish() ([][]byte, error) {
	if err := s.close(); err != nil {
		return nil, err
	}
	return define.Answer(s.writer, define.Group)
}

func (s *session[R, W]) close() error {
	if s.group == nil {
		return nil
	}
	row, there, err := s.group.Finish()
	if err == nil && there {
		s.writer.Add(row, int(s.number))
	}
	s.group = nil
	return err
}
