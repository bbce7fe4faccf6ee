package crisol

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Take gives the rows of a column in another order, or fewer of them, or some more than once. Rows that follow each other are taken
// together.
func Take(column arrow.Array, rows []int32) (arrow.Array, error) {
	var parts []arrow.Array
	for from := 0; from < len(rows); {
		to := from + 1
		for to < len(rows) && rows[to] == rows[to-1]+1 {
			to++
		}
		parts = append(parts, array.NewSlice(column, int64(rows[from]), int64(rows[to-1])+1))
		from = to
	}
	switch len(parts) {
	case 0:
		return array.NewSlice(column, 0, 0), nil
	case 1:
		return parts[0], nil
	}
	return array.Concatenate(parts, memory.DefaultAllocator)
}
