// Package ranker serves plugins that choose rows of each group.
package ranker

import (
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
	reads, adds := define.Codec[R](), define.Codec[W]()
	plan := func(_ O, input []stage.Column) (stage.Plan, error) {
		return stage.Plan{Reads: reads.Names(), Writes: adds.Columns}, define.Reads(reads, input)
	}
	return define.Stage(about, "ranker", plan, func(options O, input []stage.Column, batch crisol.Batch) (stage.Groups, error) {
		rank, err := open(options, batch)
		if err != nil {
			return nil, err
		}
		made := &session[R, W]{rank: rank, reads: reads, writer: adds.Writer()}
		return made, made.input.OpenGroups(input)
	})
}

// Rows of the last group wait: more of them may come.
type session[R, W any] struct {
	input  define.Input
	rank   Rank[R, W]
	reads  *record.Codec[R]
	writer *record.Writer[W]
	group  int32
	rows   []R
	first  int
}

func (s *session[R, W]) Push(bytes []byte) ([][]byte, error) {
	err := define.Rows(&s.input, s.reads, bytes, func(group int32, row *R) error {
		if group != s.group {
			if err := s.close(); err != nil {
				return err
			}
			s.group = group
		}
		s.rows = append(s.rows, *row)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return define.Answer(s.writer, "_row")
}

func (s *session[R, W]) Finish() ([][]byte, error) {
	if err := s.close(); err != nil {
		return nil, err
	}
	return define.Answer(s.writer, "_row")
}

func (s *session[R, W]) close() error {
	if len(s.rows) == 0 {
		return nil
	}
	err := s.rank(s.rows, func(row int, added W) { s.writer.Add(added, s.first+row) })
	s.first += len(s.rows)
	s.rows = s.rows[:0]
	return err
}
