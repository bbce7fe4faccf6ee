// Package export_crisol_stage_transform is the sessions of the plugin.
package export_crisol_stage_transform

import (
	"runtime"
	"strings"

	"github.com/crisol/crisol/sdk/go/internal/stage"
	transform "github.com/crisol/crisol/sdk/go/internal/wit/rows/imports/crisol_stage_transform"
	types "github.com/crisol/crisol/sdk/go/internal/wit/rows/imports/crisol_stage_types"
	wit "github.com/crisol/crisol/sdk/go/internal/wit/types"
)

var served *stage.Definition[stage.Rows]

// Serve names the one plugin of this component.
func Serve(definition *stage.Definition[stage.Rows]) {
	if served != nil {
		panic("a component is one plugin: Serve is called twice")
	}
	served = definition
}

// Served is the plugin of this component.
func Served() *stage.Definition[stage.Rows] {
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
	session stage.Rows
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

// Push gives what came of the rows of one message.
func (s *Session) Push(message []byte) wit.Result[transform.Output, types.Failure] {
	rows, rejected, err := s.session.Push(message)
	if err != nil {
		return wit.Err[transform.Output, types.Failure](failure(err))
	}
	output := transform.Output{Rows: rows, Rejected: wit.None[[]byte]()}
	if rejected != nil {
		output.Rejected = wit.Some(rejected)
	}
	return wit.Ok[transform.Output, types.Failure](output)
}
