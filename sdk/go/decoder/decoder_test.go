package decoder

import (
	"strings"
	"testing"

	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/internal/define"
	"github.com/crisol/crisol/sdk/go/internal/stage"
	"github.com/crisol/crisol/sdk/go/internal/written"
)

type given struct {
	Payload crisol.Null[[]byte] `crisol:"payload"`
}

type row struct {
	SKU string `crisol:"sku"`
}

var rowsColumns = []stage.Column{{Name: "sku", Type: "string"}, {Name: "_row", Type: "int"}}

func opened(t *testing.T, decode Decode[row]) stage.Rows {
	t.Helper()
	open := func(crisol.NoOptions, crisol.Batch) (Decode[row], error) { return decode, nil }
	input := []stage.Column{{Name: Payload, Type: "binary", Nullable: true}, {Name: "_row", Type: "int"}}
	session, err := Define(crisol.About{Name: "d", Version: "0.1.0"}, open).Open("{}", input, 0)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

func messages(t *testing.T, texts ...string) []byte {
	t.Helper()
	writer := define.Codec[given]().Writer()
	for at, text := range texts {
		writer.Add(given{crisol.Some([]byte(text))}, at)
	}
	writer.Add(given{}, len(texts))
	bytes, err := writer.Message("_row")
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

func TestEachMessageIsARowOrARejection(t *testing.T) {
	session := opened(t, func(message string) (row, error) {
		read, err := crisol.FromJSON[row](message)
		if err == nil && read.SKU == "drop" {
			err = crisol.Filter("dropped", "")
		}
		return read, err
	})
	rows, rejected, err := session.Push(messages(t, `{"sku":"a"}`, `{"sku":"drop"}`, "{}", "\"\xff\"", `{"sku":"b"}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := written.Rows(t, rowsColumns, rows); got != "a | 0\nb | 4" {
		t.Error(got)
	}
	wanted := []string{
		"1 | 1 | dropped | ",
		"2 | 0 | not_null: sku | `sku`: it is null or absent",
		"3 | 0 | corrupt_record | invalid UTF-8 at byte 2",
		"5 | 0 | corrupt_record | `payload` is null",
	}
	if got := written.Rows(t, written.Rejected, rejected); got != strings.Join(wanted, "\n") {
		t.Error(got)
	}
}

func TestAFailureStopsAndAnyOtherErrorRejects(t *testing.T) {
	_, _, err := opened(t, func(string) (row, error) { return row{}, crisol.Fail("away", "no list") }).Push(messages(t, "x"))
	if err == nil || err.Error() != "away: no list" {
		t.Error(err)
	}
	_, rejected, err := opened(t, func(string) (row, error) { return row{}, strings.NewReader("").UnreadByte() }).Push(messages(t, "x"))
	if err != nil || !strings.HasPrefix(written.Rows(t, written.Rejected, rejected), "0 | 0 | error | strings.Reader") {
		t.Error(err, rejected)
	}
}
