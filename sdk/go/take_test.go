package crisol_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	crisol "github.com/crisol/crisol/sdk/go"
)

func TestRowsAreTakenInAnyOrder(t *testing.T) {
	builder := array.NewStringBuilder(memory.DefaultAllocator)
	builder.AppendValues([]string{"a", "b", "c", "d"}, []bool{true, true, false, true})
	column := builder.NewArray()
	for _, of := range []struct {
		rows   []int32
		wanted string
	}{
		{nil, `[]`},
		{[]int32{1, 2}, `["b" (null)]`},
		{[]int32{3, 0, 0, 1, 2}, `["d" "a" "a" "b" (null)]`},
	} {
		taken, err := crisol.Take(column, of.rows)
		if err != nil || taken.String() != of.wanted {
			t.Errorf("%v: %v, not %s", err, taken, of.wanted)
		}
	}
}
