// Package export_crisol_stage_description says what the plugin is.
package export_crisol_stage_description

import (
	"github.com/crisol/crisol/sdk/go/internal/stage"
	wit "github.com/crisol/crisol/sdk/go/internal/wit/types"
	verdicts "github.com/crisol/crisol/sdk/go/internal/wit/verdicts/exports/export_crisol_stage_verdicts"
	types "github.com/crisol/crisol/sdk/go/internal/wit/verdicts/imports/crisol_stage_types"
)

// Describe is a JSON object.
func Describe() string { return verdicts.Served().Describe() }

// Plan tells what is read and written.
func Plan(options string, input []types.Column) wit.Result[types.StagePlan, types.Failure] {
	plan, err := verdicts.Served().Plan(options, verdicts.Columns(input))
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
