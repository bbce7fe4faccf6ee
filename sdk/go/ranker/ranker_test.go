package ranker

import (
	"testing"

	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/internal/define"
	"github.com/crisol/crisol/sdk/go/internal/stage"
	"github.com/crisol/crisol/sdk/go/internal/written"
)

type row struct {
	Marks []int32 `crisol:"marks"`
}

type place struct {
	Place int32   `crisol:"place"`
	Marks []int32 `crisol:"marks"`
}

var answered = []stage.Column{{Name: "place", Type: "int"}, {Name: "marks", Type: "array<int>"}, {Name: "_row", Type: "int"}}

func opened(t *testing.T, rank Rank[row, place]) stage.Groups {
	t.Helper()
	open := func(crisol.NoOptions, crisol.Batch) (Rank[row, place], error) { return rank, nil }
	session, err := Define(crisol.About{Name: "r", Version: "0.1.0"}, open).Open("{}", define.Codec[row]().Columns, 0)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// A message of one row for each group that is named; the marks say which row it is.
func message(t *testing.T, first int32, groups ...int) []byte {
	t.Helper()
	writer := define.Codec[row]().Writer()
	for at, group := range groups {
		writer.Add(row{[]int32{first + int32(at)}}, group)
	}
	bytes, err := writer.Message(define.Group)
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

func TestAGroupThatSpansMessagesIsRankedAsAWhole(t *testing.T) {
	ranked := opened(t, func(group []row, keep func(int, place)) error {
		for at := len(group) - 1; at >= 0; at -= 2 {
			keep(at, place{int32(len(group)), group[at].Marks})
		}
		return nil
	})
	answer := func(messages [][]byte, err error) string {
		if err != nil || len(messages) > 1 {
			t.Fatal(messages, err)
		}
		if len(messages) == 0 {
			return ""
		}
		return written.Rows(t, answered, messages[0])
	}
	if got := answer(ranked.Push(message(t, 0, 0, 0, 3))); got != "2 | [1] | 1" {
		t.Error(got)
	}
	if got := answer(ranked.Push(message(t, 3, 3, 3))); got != "" {
		t.Error(got)
	}
	if got := answer(ranked.Finish()); got != "3 | [4] | 4\n3 | [2] | 2" {
		t.Error(got)
	}
}

func TestAnErrorStopsTheStage(t *testing.T) {
	ranked := opened(t, func([]row, func(int, place)) error { return crisol.Fail("away", "no list") })
	if messages, err := ranked.Push(message(t, 0, 0)); err != nil || messages != nil {
		t.Fatal("the group may go on", messages, err)
	}
	if _, err := ranked.Finish(); err == nil || err.Error() != "away: no list" {
		t.Error(err)
	}
}
