package validator

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/internal/define"
	"github.com/crisol/crisol/sdk/go/internal/stage"
	"github.com/crisol/crisol/sdk/go/internal/written"
)

type row struct {
	Qty  int32               `crisol:"qty"`
	Name crisol.Null[string] `crisol:"name"`
}

// What a host may give: nulls also where the row has no Null.
type given struct {
	Qty  crisol.Null[int32]  `crisol:"qty"`
	Name crisol.Null[string] `crisol:"name"`
}

var about = crisol.About{Name: "v", Version: "0.1.0"}

func checked(t *testing.T, definition *stage.Definition[stage.Verdicts], rows ...given) string {
	t.Helper()
	codec := define.Codec[given]()
	session, err := definition.Open("{}", append(codec.Columns[:2:2], stage.Column{Name: "_row", Type: "int"}), 0)
	if err != nil {
		t.Fatal(err)
	}
	writer := codec.Writer()
	for at, row := range rows {
		writer.Add(row, at)
	}
	bytes, err := writer.Message("_row")
	if err != nil {
		t.Fatal(err)
	}
	rejected, err := session.Check(bytes)
	if err != nil {
		t.Fatal(err)
	}
	return written.Rows(t, written.Rejected, rejected)
}

var (
	good = given{crisol.Some(int32(1)), crisol.Some("a")}
	bad  = given{crisol.Some(int32(-1)), crisol.Null[string]{}}
)

func TestEachBrokenRuleIsToldAndNullsAreRejected(t *testing.T) {
	definition := Define(about, func(crisol.NoOptions, crisol.Batch) (Check[row], error) {
		return func(row *row, broken *Broken) error {
			if row.Qty < 0 {
				broken.Reject("qty", "row %d: %d", broken.Row, row.Qty)
			}
			if !row.Name.Valid {
				broken.Add(crisol.Filter("name", ""))
			}
			return nil
		}, nil
	})
	if got := checked(t, definition, good, good); got != "" {
		t.Error(got)
	}
	wanted := "1 | 0 | qty | row 1: -1\n1 | 1 | name | \n2 | 0 | not_null: qty | `qty`: it is null or absent"
	if got := checked(t, definition, good, bad, given{}, good); got != wanted {
		t.Error(got)
	}
}

func TestRulesOverColumns(t *testing.T) {
	reads := func(crisol.NoOptions, []crisol.Column) ([]string, error) { return []string{"qty", "name"}, nil }
	definition := DefineColumns(about, reads, func(crisol.NoOptions, *arrow.Schema, crisol.Batch) (Columns, error) {
		return func(rows arrow.RecordBatch, broken func(int, *crisol.Rejection)) error {
			for at, qty := range rows.Column(0).(*array.Int32).Values() {
				if qty < 0 {
					broken(at, crisol.Reject("qty", "%d", qty))
				}
			}
			return nil
		}, nil
	})
	if got := checked(t, definition, good, bad); got != "1 | 0 | qty | -1" {
		t.Error(got)
	}
}
