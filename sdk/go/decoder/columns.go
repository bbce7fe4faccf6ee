package decoder

import (
	"github.com/apache/arrow-go/v18/arrow"
	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/internal/define"
	transform "github.com/crisol/crisol/sdk/go/internal/wit/rows/exports/export_crisol_stage_transform"
)

// ServeColumns makes a plugin that works on Arrow arrays: plan says which columns are read and written, open gets ready for one
// batch, and what it gives is called with the columns that are read. They are views of the message and may be kept.
func ServeColumns[O any](
	about crisol.About,
	plan func(options O, input []crisol.Column) (crisol.Plan, error),
	open func(options O, input *arrow.Schema, batch crisol.Batch) (func(arrow.RecordBatch) (crisol.Output, error), error),
) {
	transform.Serve(define.Columns(about, "decoder", plan, open))
}
