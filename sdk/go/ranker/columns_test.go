package ranker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/internal/define"
	"github.com/crisol/crisol/sdk/go/internal/stage"
	"github.com/crisol/crisol/sdk/go/internal/written"
)

// A session over these columns, which adds others.
func openedColumns(t *testing.T, reads, writes []stage.Column, rank Columns) stage.Groups {
	t.Helper()
	plan := func(crisol.NoOptions, []crisol.Column) (crisol.Plan, error) { return crisol.Plan{Writes: writes}, nil }
	open := func(crisol.NoOptions, *arrow.Schema, crisol.Batch) (Columns, error) { return rank, nil }
	session, err := DefineColumns(crisol.About{Name: "r", Version: "0.1.0"}, plan, open).Open("{}", reads, 0)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

func ints(values ...int32) arrow.Array {
	builder := array.NewInt32Builder(memory.DefaultAllocator)
	builder.AppendValues(values, nil)
	return builder.NewArray()
}

var (
	marks  = define.Codec[row]().Columns
	places = []stage.Column{{Name: "place", Type: "int"}}
)

// What came, as lines.
func lines(t *testing.T, writes []stage.Column, messages [][]byte, err error) string {
	t.Helper()
	if err != nil || len(messages) > 1 {
		t.Fatal(len(messages), err)
	}
	if len(messages) == 0 {
		return ""
	}
	return written.Rows(t, append(writes[:len(writes):len(writes)], stage.Column{Name: "_row", Type: "int"}), messages[0])
}

func TestCompleteGroupsComeTogetherAndTheLastOneWaits(t *testing.T) {
	var seen []string
	session := openedColumns(t, marks, places, func(rows arrow.RecordBatch, groups []crisol.Range) (Ranked, error) {
		seen = append(seen, fmt.Sprint(rows.Column(0), groups))
		var ranked Ranked
		var found []int32
		for _, group := range groups {
			if group.Len() > 1 {
				ranked.Rows = append(ranked.Rows, int32(group.End-1), int32(group.Start))
				found = append(found, 1, 2)
			}
		}
		ranked.Columns = []arrow.Array{ints(found...)}
		return ranked, nil
	})
	step := func(given []byte, ranked, wanted string) {
		t.Helper()
		messages, err := session.Push(given)
		if got := lines(t, places, messages, err); got != wanted {
			t.Errorf("%q, not %q", got, wanted)
		}
		if got := strings.Join(seen, "; "); got != ranked {
			t.Errorf("%s were ranked, not %s", got, ranked)
		}
		seen = nil
	}
	step(message(t, 0, 0, 0, 4, 5), "[[0] [1] [2]] [{0 2} {2 3}]", "1 | 1\n2 | 0")
	step(message(t, 4), "", "")
	step(message(t, 4, 5), "", "")
	step(message(t, 5, 5, 7, 8, 9), "[[3] [4] [5] [6] [7]] [{0 3} {3 4} {4 5}]", "1 | 5\n2 | 3")
	step(message(t, 9, 10), "[[8]] [{0 1}]", "")
	messages, err := session.Finish()
	if got := lines(t, places, messages, err); got != "" || strings.Join(seen, "") != "[[9]] [{0 1}]" {
		t.Error(got, seen)
	}
}

func TestASessionWithoutRowsRanksNothing(t *testing.T) {
	session := openedColumns(t, marks, places, func(arrow.RecordBatch, []crisol.Range) (Ranked, error) {
		t.Error("there is no group")
		return Ranked{}, nil
	})
	messages, err := session.Push(message(t, 0))
	if got := lines(t, places, messages, err); got != "" {
		t.Error(got)
	}
	messages, err = session.Finish()
	if got := lines(t, places, messages, err); got != "" {
		t.Error(got)
	}
}

func TestARankerMayReadAndAddNoColumn(t *testing.T) {
	session := openedColumns(t, nil, nil, func(rows arrow.RecordBatch, _ []crisol.Range) (Ranked, error) {
		return Ranked{Rows: []int32{int32(rows.NumRows() - 1)}}, nil
	})
	given, err := define.Message(arrow.NewSchema(nil, nil), nil, define.Group, []int32{1, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if messages, err := session.Push(given); err != nil || messages != nil {
			t.Fatal("the group may go on", messages, err)
		}
	}
	messages, err := session.Finish()
	if got := lines(t, nil, messages, err); got != "5" {
		t.Error(got)
	}
}

type inner struct {
	A crisol.Null[int32]  `crisol:"a"`
	B crisol.Null[string] `crisol:"b"`
}

type all struct {
	Yes   crisol.Null[bool]                                   `crisol:"yes"`
	Cost  crisol.Null[crisol.Decimal]                         `crisol:"cost,decimal(38,10)"`
	Name  crisol.Null[string]                                 `crisol:"name"`
	Bytes crisol.Null[[]byte]                                 `crisol:"bytes"`
	When  crisol.Null[crisol.Timestamp]                       `crisol:"when"`
	Parts crisol.Null[[]crisol.Null[inner]]                   `crisol:"parts"`
	Marks crisol.Null[crisol.Map[string, crisol.Null[int64]]] `crisol:"marks"`
}

func TestValuesOfAllTypesStayAsTheyAreHoweverGroupsAreCut(t *testing.T) {
	full := all{
		crisol.Some(true), crisol.Some(crisol.DecimalOf(-125, 10)), crisol.Some("ñ"), crisol.Some([]byte{0, 255}), crisol.Some(crisol.Timestamp(-1)),
		crisol.Some([]crisol.Null[inner]{crisol.Some(inner{crisol.Some(int32(7)), crisol.Null[string]{}}), {}}),
		crisol.Some(crisol.Map[string, crisol.Null[int64]]{{Key: "b", Value: crisol.Some(int64(1))}, {Key: "a"}}),
	}
	rows := []all{full, {}, full, full, {}, {}, full, full}
	groups := []int{0, 0, 0, 1, 1, 1, 1, 2}
	codec := define.Codec[all]()
	same := func(rows arrow.RecordBatch, _ []crisol.Range) (Ranked, error) {
		ranked := Ranked{Columns: rows.Columns()}
		for row := range int(rows.NumRows()) {
			ranked.Rows = append(ranked.Rows, int32(row))
		}
		return ranked, nil
	}
	answer := func(size int) string {
		var found []string
		session := openedColumns(t, codec.Columns, codec.Columns, same)
		answered := func(messages [][]byte, err error) {
			if some := lines(t, codec.Columns, messages, err); some != "" {
				found = append(found, some)
			}
		}
		for from := 0; from < len(rows); from += size {
			writer := codec.Writer()
			for at := from; at < min(from+size, len(rows)); at++ {
				writer.Add(rows[at], groups[at])
			}
			given, err := writer.Message(define.Group)
			if err != nil {
				t.Fatal(err)
			}
			answered(session.Push(given))
		}
		answered(session.Finish())
		return strings.Join(found, "\n")
	}
	wanted := answer(len(rows))
	if found := strings.Split(wanted, "\n"); len(found) != len(rows) || found[3] != strings.TrimSuffix(found[0], "0")+"3" {
		t.Fatal(wanted)
	}
	for size := 1; size < len(rows); size++ {
		if got := answer(size); got != wanted {
			t.Errorf("in messages of %d rows:\n%s\nnot\n%s", size, got, wanted)
		}
	}
}

func TestColumnsThatWereNotPlannedAreAFailure(t *testing.T) {
	texts := array.NewStringBuilder(memory.DefaultAllocator)
	texts.AppendValues([]string{"a", "b"}, nil)
	for wanted, columns := range map[string][]arrow.Array{
		"bug: column `place` was planned as int of 2 rows, int of 1 came":    {ints(1)},
		"bug: column `place` was planned as int of 2 rows, string of 2 came": {texts.NewArray()},
		"bug: 1 columns were planned, 0 came":                                nil,
	} {
		session := openedColumns(t, marks, places, func(arrow.RecordBatch, []crisol.Range) (Ranked, error) {
			return Ranked{Columns: columns, Rows: []int32{0, 1}}, nil
		})
		if _, err := session.Push(message(t, 0, 0, 0, 1)); err == nil || err.Error() != wanted {
			t.Errorf("%v, not %s", err, wanted)
		}
	}
}

func TestValuesWithoutRowsAreAFailure(t *testing.T) {
	session := openedColumns(t, marks, places, func(arrow.RecordBatch, []crisol.Range) (Ranked, error) {
		return Ranked{Columns: []arrow.Array{ints(1, 2)}}, nil
	})
	_, err := session.Push(message(t, 0, 0, 0, 1))
	if err == nil || err.Error() != "bug: column `place` was planned as int of 0 rows, int of 2 came" {
		t.Error(err)
	}
}

func TestNothingAtAllKeepsNoRow(t *testing.T) {
	session := openedColumns(t, marks, places, func(arrow.RecordBatch, []crisol.Range) (Ranked, error) { return Ranked{}, nil })
	if messages, err := session.Push(message(t, 0, 0, 0, 1)); err != nil || messages != nil {
		t.Error(messages, err)
	}
}

func TestAnErrorOverColumnsStopsTheStage(t *testing.T) {
	session := openedColumns(t, marks, places, func(arrow.RecordBatch, []crisol.Range) (Ranked, error) {
		return Ranked{}, crisol.Fail("away", "no list")
	})
	if messages, err := session.Push(message(t, 0, 0)); err != nil || messages != nil {
		t.Fatal("the group may go on", messages, err)
	}
	if _, err := session.Finish(); err == nil || err.Error() != "away: no list" {
		t.Error(err)
	}
}
