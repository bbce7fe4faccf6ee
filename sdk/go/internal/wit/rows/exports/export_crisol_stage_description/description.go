// Package export_crisol_stage_description says what the plugin is.
package export_crisol_stage_description

import (
	"github.com/crisol/crisol/sdk/go/internal/stage"
	transform "github.com/crisol/crisol/sdk/go/internal/wit/rows/exports/export_crisol_stage_transform"
	types "github.com/crisol/crisol/sdk/go/internal/wit/rows/imports/crisol_stage_types"
	wit "github.com/crisol/crisol/sdk/go/internal/wit/types"
)

// Describe is a JSON object.
func Describe() string { return transform.Served().Describe() }

// Plan tells what is read and written.
func Plan(options string, input []types.Column) wit.Result[types.StagePlan, types.Failure] {
	plan, err := transform.Served().Plan(options, transform.Columns(input))
	if err != nil {
		problem := stage.ProblemOf(err, "input")
		return wit.Err[types.StagePlan, types.Failure](types.Failure{Code: problem.Code, Text: problem.Text})
	}
	writes := make([]types.Column, len(plan.Writes))
	for i, column := range plan.Writes {
		writes[i] = types.Column(column)
	}
	return wit.Ok[types.StagePlan, types.Failure](types.StagePlan{Reads: plan.Reads, Writes: writes})
}
