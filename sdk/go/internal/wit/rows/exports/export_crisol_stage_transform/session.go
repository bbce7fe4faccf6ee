// Package export_crisol_stage_transform is the sessions of the plugin.
package export_crisol_stage_transform

import (
	"runtime"

	"github.com/crisol/crisol/sdk/go/internal/stage"
	"github.com/crisol/crisol/sdk/go/internal/wit/bridge"
	types "github.com/crisol/crisol/sdk/go/internal/wit/crisol_stage_types"
	transform "github.com/crisol/crisol/sdk/go/internal/wit/rows/imports/crisol_stage_transform"
	wit "github.com/crisol/crisol/sdk/go/internal/wit/types"
)

var served stage.Served[stage.Rows]

// Serve names the one plugin of this component.
func Serve(definition *stage.Definition[stage.Rows]) { served.Serve(definition) }

// Session is one session; the bindings want the first two fields.
type Session struct {
	pinner  runtime.Pinner
	handle  int32
	session stage.Rows
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

// Push gives what came of the rows of one message.
func (s *Session) Push(message []byte) wit.Result[transform.Output, types.Failure] {
	rows, rejected, err := s.session.Push(message)
	if err != nil {
		return wit.Err[transform.Output, types.Failure](bridge.Failure(err, "bug"))
	}
	output := transform.Output{Rows: rows, Rejected: wit.None[[]byte]()}
	if rejected != nil {
		output.Rejected = wit.Some(rejected)
	}
	return wit.Ok[transform.Output, types.Failure](output)
}
