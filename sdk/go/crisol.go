// Package crisol is the SDK for plugins in Go.
//
// A plugin is one stage of a table. Its main package calls Serve of one of the packages decoder, transformer, validator, ranker
// and aggregator in its init function, and has an empty main function. Rows are structs; ServeColumns of the same packages
// works on Arrow arrays instead.
package crisol

import (
	"fmt"

	"github.com/crisol/crisol/sdk/go/internal/wit/log"
)

// About is what a plugin says of itself.
type About struct {
	// Name is what contracts call it.
	Name string
	// Version is a semantic version, "1.2.0".
	Version string
	// SchemaVersions are those that it handles: "1..3", "2"; empty for all.
	SchemaVersions string
	// Reuse lets one instance work on many chunks, or sessions of groups. A plugin that keeps nothing from call to call is much
	// faster with it.
	Reuse bool
}

// Batch is what holds for all rows of a batch.
type Batch struct {
	// Timestamp is what "now" means.
	Timestamp Timestamp
}

// NoOptions are the options of a plugin that takes none.
//
// Options are a struct whose fields have tags: `json` names a key, which may be left out when it says omitempty, `doc` describes it,
// `schema` adds JSON Schema's own words, `schema:"{\"minimum\": 1}"`. The JSON Schema that contracts are checked against is made of
// it. A key that it does not have is refused. With a method Check() error on its pointer it refuses values, too.
type NoOptions struct{}

// Rejection is an error that keeps one row from going on.
type Rejection struct {
	// Code is short and stable: people count by it.
	Code string
	// Text is for people.
	Text string
	// Filtered rows are dropped on purpose and counted, others go to quarantine.
	Filtered bool
}

// Reject sends a row to quarantine.
func Reject(code, format string, values ...any) *Rejection {
	return &Rejection{Code: code, Text: sprintf(format, values)}
}

// Filter drops a row on purpose; it is counted.
func Filter(code, format string, values ...any) *Rejection {
	return &Rejection{Code: code, Text: sprintf(format, values), Filtered: true}
}

func (r *Rejection) Error() string { return r.Code + ": " + r.Text }

// Failure is an error that stops the stream: the stage cannot work at all.
type Failure struct {
	// Code is short and stable: "options", "input", "bug" or a word of the plugin's own.
	Code string
	// Text says what, where and why.
	Text string
}

// Fail makes a Failure.
func Fail(code, format string, values ...any) *Failure {
	return &Failure{Code: code, Text: sprintf(format, values)}
}

func (f *Failure) Error() string { return f.Code + ": " + f.Text }

// Failure gives its parts to the SDK.
func (f *Failure) Failure() (code, text string) { return f.Code, f.Text }

func sprintf(format string, values []any) string {
	if len(values) == 0 {
		return format
	}
	return fmt.Sprintf(format, values...)
}

// Levels of Log.
const (
	Trace uint32 = iota
	Debug
	Info
	Warn
	Error
)

// Log writes a line to the host's log.
func Log(level uint32, format string, values ...any) { log.Write(level, sprintf(format, values)) }
