// Package export_crisol_stage_group is the sessions of the plugin.
package export_crisol_stage_group

import (
	"runtime"
	"strings"

	"github.com/crisol/crisol/sdk/go/internal/stage"
	types "github.com/crisol/crisol/sdk/go/internal/wit/groups/imports/crisol_stage_types"
	wit "github.com/crisol/crisol/sdk/go/internal/wit/types"
)

var served *stage.Definition[stage.Groups]

// Serve names the one plugin of this component.
func Serve(definition *stage.Definition[stage.Groups]) {
	if served != nil {
		panic("a component is one plugin: Serve is called twice")
	}
	served = definition
}

// Served is the plugin of this component.
func Served() *stage.Definition[stage.Groups] {
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
	session stage.Groups
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

// Push takes the next rows.
func (s *Session) Push(message []byte) wit.Result[[][]byte, types.Failure] {
	return answer(s.session.Push(message))
}

// Finish gives the rest of the answer.
func (s *Session) Finish() wit.Result[[][]byte, types.Failure] { return answer(s.session.Finish()) }

func answer(messages [][]byte, err error) wit.Result[[][]byte, types.Failure] {
	if err != nil {
		return wit.Err[[][]byte, types.Failure](failure(err))
	}
	return wit.Ok[[][]byte, types.Failure](messages)
}
