// Package export_crisol_stage_verdicts is the sessions of the plugin.
package export_crisol_stage_verdicts

import (
	"runtime"

	"github.com/crisol/crisol/sdk/go/internal/stage"
	"github.com/crisol/crisol/sdk/go/internal/wit/bridge"
	types "github.com/crisol/crisol/sdk/go/internal/wit/crisol_stage_types"
	wit "github.com/crisol/crisol/sdk/go/internal/wit/types"
)

var served stage.Served[stage.Verdicts]

// Serve names the one plugin of this component.
func Serve(definition *stage.Definition[stage.Verdicts]) { served.Serve(definition) }

// Session is one session; the bindings want the first two fields.
type Session struct {
	pinner  runtime.Pinner
	handle  int32
	session stage.Verdicts
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

// Check gives the rejected rows of one message.
func (s *Session) Check(message []byte) wit.Result[wit.Option[[]byte], types.Failure] {
	rejected, err := s.session.Check(message)
	switch {
	case err != nil:
		return wit.Err[wit.Option[[]byte], types.Failure](bridge.Failure(err, "bug"))
	case rejected == nil:
		return wit.Ok[wit.Option[[]byte], types.Failure](wit.None[[]byte]())
	}
	return wit.Ok[wit.Option[[]byte], types.Failure](wit.Some(rejected))
}
