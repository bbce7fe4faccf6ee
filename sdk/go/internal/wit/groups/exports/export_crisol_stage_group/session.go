// Package export_crisol_stage_group is the sessions of the plugin.
package export_crisol_stage_group

import (
	"runtime"

	"github.com/crisol/crisol/sdk/go/internal/stage"
	"github.com/crisol/crisol/sdk/go/internal/wit/bridge"
	types "github.com/crisol/crisol/sdk/go/internal/wit/crisol_stage_types"
	wit "github.com/crisol/crisol/sdk/go/internal/wit/types"
)

var served stage.Served[stage.Groups]

// Serve names the one plugin of this component.
func Serve(definition *stage.Definition[stage.Groups]) { served.Serve(definition) }

// Session is one session; the bindings want the first two fields.
type Session struct {
	pinner  runtime.Pinner
	handle  int32
	session stage.Groups
}

// OnDrop has nothing to do.
func (s *Session) OnDrop() {}

// SessionOpen begins a session.
func SessionOpen(options string, input []types.Column, timestamp int64) wit.Result[*Session, types.Failure] {
	session, err := bridge.Open(&served, options, input, timestamp)
	if err != nil {
		return wit.Err[*Session, types.Failure](bridge.Failure(err, "bug"))
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
		return wit.Err[[][]byte, types.Failure](bridge.Failure(err, "bug"))
	}
	return wit.Ok[[][]byte, types.Failure](messages)
}
