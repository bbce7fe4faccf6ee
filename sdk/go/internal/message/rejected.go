package message

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Rejected collects rejected rows.
type Rejected struct {
	row        *array.Int32Builder
	kind       *array.Int8Builder
	code, text *array.StringBuilder
}

var rejectedSchema = arrow.NewSchema([]arrow.Field{
	{Name: "row", Type: arrow.PrimitiveTypes.Int32},
	{Name: "kind", Type: arrow.PrimitiveTypes.Int8},
	{Name: "code", Type: arrow.BinaryTypes.String},
	{Name: "text", Type: arrow.BinaryTypes.String},
}, nil)

// Add rejects a row, counted from 0.
func (r *Rejected) Add(row int, filtered bool, code, text string) {
	if r.row == nil {
		of := memory.DefaultAllocator
		*r = Rejected{array.NewInt32Builder(of), array.NewInt8Builder(of), array.NewStringBuilder(of), array.NewStringBuilder(of)}
	}
	r.row.Append(int32(row))
	var kind int8
	if filtered {
		kind = 1
	}
	r.kind.Append(kind)
	r.code.Append(code)
	r.text.Append(text)
}

// Message gives them, nil when there are none, and begins anew.
func (r *Rejected) Message() ([]byte, error) {
	if r.row == nil || r.row.Len() == 0 {
		return nil, nil
	}
	rows := int64(r.row.Len())
	columns := []arrow.Array{r.row.NewArray(), r.kind.NewArray(), r.code.NewArray(), r.text.NewArray()}
	return Write(array.NewRecordBatch(rejectedSchema, columns, rows))
}
