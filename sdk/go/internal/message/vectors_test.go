package message

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/crisol/crisol/sdk/go/internal/stage"
)

// What sdk/vectors/X.json says of X.bin.
type vector struct {
	Columns []stage.Column
	Rows    [][]any
}

func TestMessagesOfEveryTypeAreReadAndWrittenAsTheyAre(t *testing.T) {
	files, err := filepath.Glob("../../../vectors/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no messages to test with", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			wanted, bytes := load(t, file)
			schema, err := Schema(wanted.Columns)
			if err != nil {
				t.Fatal(err)
			}
			batch := read(t, schema, bytes)
			equal(t, batch, wanted.Rows)
			again, err := Write(batch)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, read(t, schema, again), wanted.Rows)
		})
	}
}

func TestRowsMayBeKeptWhileMoreAreRead(t *testing.T) {
	wanted, bytes := load(t, "../../../vectors/string.json")
	schema, err := Schema(wanted.Columns)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := NewReader(schema)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := reader.Read(bytes)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Read(bytes); err != nil {
		t.Fatal(err)
	}
	equal(t, kept, wanted.Rows)
}

func TestBytesThatAreNoMessageAreRefused(t *testing.T) {
	_, bytes := load(t, "../../../vectors/string.json")
	schema, err := Schema([]stage.Column{{Name: "c", Type: "string", Nullable: true}})
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]byte{nil, []byte("no message"), bytes[:7], bytes[:16]} {
		reader, err := NewReader(schema)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := reader.Read(bad); err == nil {
			t.Errorf("%q is taken for a message", bad)
		}
	}
}

func load(t *testing.T, file string) (wanted vector, bytes []byte) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &wanted); err != nil {
		t.Fatal(err)
	}
	if bytes, err = os.ReadFile(strings.TrimSuffix(file, "json") + "bin"); err != nil {
		t.Fatal(err)
	}
	return wanted, bytes
}

func read(t *testing.T, schema *arrow.Schema, bytes []byte) arrow.RecordBatch {
	t.Helper()
	reader, err := NewReader(schema)
	if err != nil {
		t.Fatal(err)
	}
	batch, err := reader.Read(bytes)
	if err != nil {
		t.Fatal(err)
	}
	return batch
}

func equal(t *testing.T, batch arrow.RecordBatch, wanted [][]any) {
	t.Helper()
	if int(batch.NumRows()) != len(wanted) {
		t.Fatalf("%d rows, not %d", batch.NumRows(), len(wanted))
	}
	for row, values := range wanted {
		for i, value := range values {
			if found := shown(t, batch.Column(i), row); !reflect.DeepEqual(found, value) {
				t.Errorf("row %d, column %d: %#v, not %#v", row, i, found, value)
			}
		}
	}
}

// A value in the form of the files.
func shown(t *testing.T, column arrow.Array, row int) any {
	t.Helper()
	if column.IsNull(row) {
		return nil
	}
	switch column := column.(type) {
	case *array.Boolean:
		return column.Value(row)
	case *array.String:
		return column.Value(row)
	case *array.Binary:
		return hex.EncodeToString(column.Value(row))
	case *array.Int8:
		return float64(column.Value(row))
	case *array.Int16:
		return float64(column.Value(row))
	case *array.Int32:
		return float64(column.Value(row))
	case *array.Int64:
		return strconv.FormatInt(column.Value(row), 10)
	case *array.Float32:
		return float(float64(column.Value(row)))
	case *array.Float64:
		return float(column.Value(row))
	case *array.Decimal128:
		return column.Value(row).BigInt().String()
	case *array.Date32:
		return float64(column.Value(row))
	case *array.Timestamp:
		return strconv.FormatInt(int64(column.Value(row)), 10)
	}
	return nested(t, column, row)
}

func float(value float64) any {
	if value-value != 0 {
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(value, 'g', -1, 64), "+"))
	}
	return value
}

func nested(t *testing.T, column arrow.Array, row int) any {
	t.Helper()
	found := []any{}
	switch column := column.(type) {
	case *array.Struct:
		for i := range column.NumField() {
			found = append(found, shown(t, column.Field(i), row))
		}
	case *array.Map:
		start, end := column.ValueOffsets(row)
		for at := int(start); at < int(end); at++ {
			found = append(found, []any{shown(t, column.Keys(), at), shown(t, column.Items(), at)})
		}
	case *array.List:
		start, end := column.ValueOffsets(row)
		for at := int(start); at < int(end); at++ {
			found = append(found, shown(t, column.ListValues(), at))
		}
	default:
		t.Fatalf("%s is no type of a column", column.DataType())
	}
	return found
}
