package define

import (
	"github.com/apache/arrow-go/v18/arrow/array"
	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/internal/record"
	"github.com/crisol/crisol/sdk/go/internal/stage"
)

// Group is the column of the input that says which group a row is of, as the last one.
const Group = "_group"

// OpenGroups ties an input to the columns of a session of groups.
func (in *Input) OpenGroups(columns []stage.Column) error {
	_, err := in.Open(append(append([]stage.Column{}, columns...), stage.Column{Name: Group, Type: "int"}))
	return err
}

// Rows reads a message of a session of groups: of is called with each row and its group.
func Rows[R any](in *Input, codec *record.Codec[R], bytes []byte, of func(group int32, row *R) error) error {
	batch, err := in.Read(bytes)
	if err != nil {
		return err
	}
	groups, ok := batch.Column(int(batch.NumCols()) - 1).(*array.Int32)
	if !ok {
		return crisol.Fail("input", "there is no column `%s`", Group)
	}
	reader := codec.Reader(batch)
	for at, group := range groups.Values() {
		row, null := reader.Row(at)
		if null != "" {
			return nullInGroup(null)
		}
		if err := of(group, row); err != nil {
			return err
		}
	}
	return nil
}

// Answer gives the rows that are written, if there are any, as messages.
func Answer[W any](writer *record.Writer[W], index string) ([][]byte, error) {
	if writer.Rows() == 0 {
		return nil, nil
	}
	message, err := writer.Message(index)
	return [][]byte{message}, err
}

// nullInGroup stops a stage: groups have no quarantine.
func nullInGroup(field string) error {
	return crisol.Fail("input", "column `%s` is null in a row; drop such rows before, or make the field a Null", field)
}
