// Package export_crisol_stage_description says what the plugin is.
package export_crisol_stage_description

import (
	"github.com/crisol/crisol/sdk/go/internal/stage"
	"github.com/crisol/crisol/sdk/go/internal/wit/bridge"
	types "github.com/crisol/crisol/sdk/go/internal/wit/crisol_stage_types"
	wit "github.com/crisol/crisol/sdk/go/internal/wit/types"
)

// Describe is a JSON object.
func Describe() string { return stage.ThePlugin().Describe() }

// Plan tells what is read and written.
func Plan(options string, input []types.Column) wit.Result[types.StagePlan, types.Failure] {
	plan, err := stage.ThePlugin().Plan(options, bridge.Columns(input))
	if err != nil {
		return wit.Err[types.StagePlan, types.Failure](bridge.Failure(err, "input"))
	}
	writes := make([]types.Column, len(plan.Writes))
	for i, column := range plan.Writes {
		writes[i] = types.Column(column)
	}
	return wit.Ok[types.StagePlan, types.Failure](types.StagePlan{Reads: plan.Reads, Writes: writes})
}
