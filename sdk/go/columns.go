package crisol

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/crisol/crisol/sdk/go/internal/stage"
)

// Column is a column: its name, its type in the words of contracts ("decimal(18,2)"), and whether it may be null.
type Column = stage.Column

// Plan is what a stage over columns reads and writes, for given options and input.
type Plan = stage.Plan

// Output is what a stage over columns makes of a batch.
type Output struct {
	// Columns are those of the plan, in its order, all of one length.
	Columns []arrow.Array
	// Rows are the input rows that the rows of Columns came from, counted from 0, never descending.
	Rows []int32
	// Rejected are the input rows that are not in Rows.
	Rejected []RejectedRow
}

// Range is the rows from Start up to End, which is not one of them; counted from 0.
type Range struct{ Start, End int }

// Len is how many rows these are.
func (r Range) Len() int { return r.End - r.Start }

// RejectedRow is an input row, counted from 0, that does not go on.
type RejectedRow struct {
	Row int
	*Rejection
}
