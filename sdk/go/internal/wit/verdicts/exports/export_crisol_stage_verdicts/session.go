// Package export_crisol_stage_verdicts is the sessions of the plugin.
package export_crisol_stage_verdicts

import (
	"runtime"
	"strings"

	"github.com/crisol/crisol/sdk/go/internal/stage"
	wit "github.com/crisol/crisol/sdk/go/internal/wit/types"
	types "github.com/crisol/crisol/sdk/go/internal/wit/verdicts/imports/crisol_stage_types"
)

var served *stage.Definition[stage.Verdicts]

// Serve names the one plugin of this component.
func Serve(definition *stage.Definition[stage.Verdicts]) {
	if served != nil {
		panic("a component is one plugin: Serve is called twice")
	}
	served = definition
}

// Served is the plugin of this component.
func Served() *stage.Definition[stage.Verdicts] {
	if served == nil {
		panic("nothing is served: call Serve in an init function")
	}
	return served
}

// Columns gives them the form that all kinds share; texts of a call are kept.
func Columns(columns []types.Column) []stage.Column {
	given := make([]stage.Column, len(columns))
	for i, column := range columns {
		given[i] = stage.Column{Name: strings.Clone(column.Name), Type: strings.Clone(column.Type), Nullable: column.Nullable}
	}
	return given
}

// Session is one session; the bindings want the first two fields.
type Session struct {
	pinner  runtime.Pinner
	handle  int32
	session stage.Verdicts
}

// OnDrop has nothing to do.
func (s *Session) OnDrop() {}

func failure(err error) types.Failure {
	problem := stage.ProblemOf(err, "bug")
	return types.Failure{Code: problem.Code, Text: problem.Text}
}

// SessionOpen begins a session.
func SessionOpen(options string, input []types.Column, timestamp int64) wit.Result[*Session, types.Failure] {
	session, err := Served().Open(strings.Clone(options), Columns(input), timestamp)
	if err != nil {
		return wit.Err[*Session, types.Failure](failure(err))
	}
	return wit.Ok[*Session, types.Failure](&Session{session: session})
}

// Check gives the rejected rows of one message.
func (s *Session) Check(message []byte) wit.Result[wit.Option[[]byte], types.Failure] {
	rejected, err := s.session.Check(message)
	switch {
	case err != nil:
		return wit.Err[wit.Option[[]byte], types.Failure](failure(err))
	case rejected == nil:
		return wit.Ok[wit.Option[[]byte], types.Failure](wit.None[[]byte]())
	}
	return wit.Ok[wit.Option[[]byte], types.Failure](wit.Some(rejected))
}
