package transformer

import (
	"reflect"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/internal/define"
	"github.com/crisol/crisol/sdk/go/internal/message"
	"github.com/crisol/crisol/sdk/go/internal/record"
)

type part struct {
	A crisol.Null[int32] `crisol:"a"`
	B string             `crisol:"b"`
}

type row struct {
	Name  string                                 `crisol:"name"`
	Bytes crisol.Null[[]byte]                    `crisol:"bytes"`
	Cost  crisol.Null[crisol.Decimal]            `crisol:"cost,decimal(38,10)"`
	When  crisol.Timestamp                       `crisol:"when"`
	Parts crisol.Null[[]crisol.Null[part]]       `crisol:"parts"`
	Marks crisol.Map[string, crisol.Null[int64]] `crisol:"marks"`
}

func rows() []row {
	cost, _ := crisol.ParseDecimal("-9999999999999999999999999999.9999999999", 38, 10)
	return []row{
		{Name: "ñandú 😀", When: -1, Marks: crisol.Map[string, crisol.Null[int64]]{}},
		{
			Bytes: crisol.Some([]byte{0, 255}), Cost: crisol.Some(cost), When: 1,
			Parts: crisol.Some([]crisol.Null[part]{crisol.Some(part{crisol.Some(int32(7)), "b"}), {}}),
			Marks: crisol.Map[string, crisol.Null[int64]]{{Key: "b", Value: crisol.Some(int64(1))}, {Key: "a"}},
		},
	}
}

func encoded(t *testing.T, codec *record.Codec[row]) []byte {
	t.Helper()
	writer := codec.Writer()
	for at, row := range rows() {
		writer.Add(row, at)
	}
	bytes, err := writer.Message("_row")
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

func TestRowsOfAllTypesComeOutAsTheyWentIn(t *testing.T) {
	codec := define.Codec[row]()
	open := func(crisol.NoOptions, crisol.Batch) (Transform[row, row], error) {
		return func(in *row, out *Out[row]) error {
			out.Push(*in)
			return nil
		}, nil
	}
	definition := Define(crisol.About{Name: "same", Version: "0.1.0"}, open)
	input := append(codec.Columns[:len(codec.Columns):len(codec.Columns)], crisol.Column{Name: "_row", Type: "int"})
	session, err := definition.Open("", input, 0)
	if err != nil {
		t.Fatal(err)
	}
	bytes, rejected, err := session.Push(encoded(t, codec))
	if err != nil || rejected != nil {
		t.Fatal(err, rejected)
	}
	schema, err := message.Schema(input)
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, codec, schema, bytes); !reflect.DeepEqual(got, rows()) {
		t.Fatalf("%v\nis not\n%v", got, rows())
	}
}

func read(t *testing.T, codec *record.Codec[row], schema *arrow.Schema, bytes []byte) []row {
	t.Helper()
	messages, err := message.NewReader(schema)
	if err != nil {
		t.Fatal(err)
	}
	batch, err := messages.Read(bytes)
	if err != nil {
		t.Fatal(err)
	}
	var found []row
	reader := codec.Reader(batch)
	for at := range int(batch.NumRows()) {
		row, null := reader.Row(at)
		if null != "" {
			t.Fatal(null)
		}
		found = append(found, *row)
	}
	return found
}

func TestOptionsThatDoNotFitAreRefused(t *testing.T) {
	open := func(crisol.NoOptions, crisol.Batch) (Transform[row, row], error) { return nil, nil }
	definition := Define(crisol.About{Name: "same", Version: "0.1.0"}, open)
	_, err := definition.Plan(`{"more": 1}`, define.Codec[row]().Columns)
	if of, ok := err.(interface{ Failure() (string, string) }); !ok {
		t.Fatal(err)
	} else if code, _ := of.Failure(); code != "options" {
		t.Fatal(code)
	}
}

func TestAnInputWithoutAColumnIsRefused(t *testing.T) {
	open := func(crisol.NoOptions, crisol.Batch) (Transform[row, row], error) { return nil, nil }
	_, err := Define(crisol.About{}, open).Plan("{}", define.Codec[row]().Columns[1:])
	if err == nil || err.Error() != "input: there is no column `name`" {
		t.Fatal(err)
	}
}
