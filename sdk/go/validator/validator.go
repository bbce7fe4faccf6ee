// Package validator serves plugins that judge rows.
package validator

import (
	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/internal/define"
	"github.com/crisol/crisol/sdk/go/internal/message"
	"github.com/crisol/crisol/sdk/go/internal/record"
	"github.com/crisol/crisol/sdk/go/internal/stage"
	verdicts "github.com/crisol/crisol/sdk/go/internal/wit/verdicts/exports/export_crisol_stage_verdicts"
	_ "github.com/crisol/crisol/sdk/go/internal/wit/verdicts/exports/wit_exports"
)

// Broken collects the rules that one row breaks, each code at most once.
type Broken struct {
	// Row is the place of the row in its message, counted from 0.
	Row int
	// Rules are those that were added.
	Rules []*crisol.Rejection
}

// Add adds a rule, made by crisol.Reject or crisol.Filter.
func (b *Broken) Add(rule *crisol.Rejection) { b.Rules = append(b.Rules, rule) }

// Reject adds a rule that sends the row to quarantine.
func (b *Broken) Reject(code, format string, values ...any) {
	b.Add(crisol.Reject(code, format, values...))
}

// Check adds each rule that a row breaks. The row may not be kept. An error stops the stream.
type Check[R any] func(row *R, broken *Broken) error

// Serve makes a plugin of a function that gets ready for one batch. It is called in an init function, once.
func Serve[O, R any](about crisol.About, open func(options O, batch crisol.Batch) (Check[R], error)) {
	verdicts.Serve(Define(about, open))
}

// Define is what Serve serves; for tests.
func Define[O, R any](about crisol.About, open func(O, crisol.Batch) (Check[R], error)) *stage.Definition[stage.Verdicts] {
	codec := define.Codec[R]()
	plan := func(_ O, input []stage.Column) (stage.Plan, error) {
		return stage.Plan{Reads: codec.Names()}, define.Reads(codec, input)
	}
	return define.Stage(about, "validator", plan, func(options O, input []stage.Column, batch crisol.Batch) (stage.Verdicts, error) {
		check, err := open(options, batch)
		if err != nil {
			return nil, err
		}
		made := &session[R]{check: check, codec: codec}
		_, err = made.input.Open(input)
		return made, err
	})
}

type session[R any] struct {
	input define.Input
	check Check[R]
	codec *record.Codec[R]
}

func (s *session[R]) Check(bytes []byte) ([]byte, error) {
	batch, err := s.input.Read(bytes)
	if err != nil {
		return nil, err
	}
	var rejected message.Rejected
	var broken Broken
	reader := s.codec.Reader(batch)
	for at := range int(batch.NumRows()) {
		row, null := reader.Row(at)
		if null != "" {
			rejected.Add(at, false, "not_null: "+null, "`"+null+"`: it is null or absent")
			continue
		}
		broken = Broken{at, broken.Rules[:0]}
		if err := s.check(row, &broken); err != nil {
			return nil, err
		}
		for _, rule := range broken.Rules {
			rejected.Add(at, rule.Filtered, rule.Code, rule.Text)
		}
	}
	return rejected.Message()
}
