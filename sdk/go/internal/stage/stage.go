// Package stage is what all kinds of stage have in common, below the bindings.
package stage

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Column is a column: its name and its type in the words of contracts.
type Column struct {
	Name, Type string
	Nullable   bool
}

// Plan is what a stage reads and writes.
type Plan struct {
	Reads  []string
	Writes []Column
}

// Problem is why a stage could not do its work.
type Problem struct{ Code, Text string }

// ProblemOf is the problem that an error is; one that is wrapped gives its code, and all words are kept.
func ProblemOf(err error, code string) Problem {
	var of interface{ Failure() (code, text string) }
	if !errors.As(err, &of) {
		return Problem{code, err.Error()}
	}
	code, text := of.Failure()
	if wrapped, ok := err.(interface{ Unwrap() error }); ok && wrapped.Unwrap() != nil {
		text = err.Error()
	}
	return Problem{code, text}
}

// Definition is a plugin before it gets to work; S is the session of its kind.
type Definition[S any] struct {
	Name, Version, Kind, SchemaVersions string
	Reuse                               bool
	// Options is their JSON Schema; empty: it takes none.
	Options json.RawMessage
	Plan    func(options string, input []Column) (Plan, error)
	Open    func(options string, input []Column, timestampMicros int64) (S, error)
}

// Describe is what a plugin says of itself.
func (d *Definition[S]) Describe() string {
	said := map[string]any{"name": d.Name, "version": d.Version, "kind": d.Kind, "reuse": d.Reuse}
	if d.SchemaVersions != "" {
		said["schema_versions"] = d.SchemaVersions
	}
	if len(d.Options) > 0 {
		said["options"] = d.Options
	}
	text, err := json.Marshal(said)
	if err != nil {
		panic(fmt.Sprintf("the description of %s is no JSON: %v", d.Name, err))
	}
	return string(text)
}

// Rows is a session of a decoder or transformer: rows and rejected rows, which may be nil, of one message.
type Rows interface {
	Push(message []byte) (rows, rejected []byte, err error)
}

// Verdicts is a session of a validator: rejected rows, nil for none.
type Verdicts interface {
	Check(message []byte) (rejected []byte, err error)
}

// Groups is a session of a ranker or aggregator.
type Groups interface {
	Push(message []byte) ([][]byte, error)
	Finish() ([][]byte, error)
}
