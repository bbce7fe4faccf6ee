package define

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/internal/stage"
)

// Group is the column of the input that says which group a row is of, as the last one.
const Group = "_group"

// OpenGroups ties an input to the columns of a session of groups.
func (in *Input) OpenGroups(columns []stage.Column) error {
	_, err := in.Open(append(append([]stage.Column{}, columns...), stage.Column{Name: Group, Type: "int"}))
	return err
}

// Groups calls of with each run of rows of one group in a batch.
func Groups(batch arrow.RecordBatch, of func(group int32, from, to int) error) error {
	groups, ok := batch.Column(int(batch.NumCols()) - 1).(*array.Int32)
	if !ok {
		return crisol.Fail("input", "there is no column `%s`", Group)
	}
	values := groups.Values()
	for from := 0; from < len(values); {
		to := from + 1
		for to < len(values) && values[to] == values[from] {
			to++
		}
		if err := of(values[from], from, to); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// NullInGroup stops a stage: groups have no quarantine.
func NullInGroup(field string) error {
	return crisol.Fail("input", "column `%s` is null in a row; drop such rows before, or make the field a Null", field)
}
