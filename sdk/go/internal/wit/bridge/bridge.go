// Package bridge is between the bindings of every world and the SDK.
package bridge

import (
	"strings"

	"github.com/crisol/crisol/sdk/go/internal/stage"
	types "github.com/crisol/crisol/sdk/go/internal/wit/crisol_stage_types"
)

// Failure is what the bindings have for an error; code is that of an error that has none.
func Failure(err error, code string) types.Failure {
	problem := stage.ProblemOf(err, code)
	return types.Failure{Code: problem.Code, Text: problem.Text}
}

// Columns gives them the form that the SDK has; texts of a call are kept.
func Columns(columns []types.Column) []stage.Column {
	given := make([]stage.Column, len(columns))
	for i, column := range columns {
		given[i] = stage.Column{Name: strings.Clone(column.Name), Type: strings.Clone(column.Type), Nullable: column.Nullable}
	}
	return given
}

// Open begins a session of what is served.
func Open[S any](served *stage.Served[S], options string, input []types.Column, timestamp int64) (S, error) {
	return served.Definition().Open(strings.Clone(options), Columns(input), timestamp)
}
