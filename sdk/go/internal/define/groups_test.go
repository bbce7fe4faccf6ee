package define

import (
	"errors"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/internal/record"
	"github.com/crisol/crisol/sdk/go/internal/stage"
)

type mark struct {
	Mark int32 `crisol:"mark"`
}

// Work that gives an error at one of its steps.
type broken struct {
	at  string
	err error
}

func (b broken) step(at string) error {
	if b.at == at {
		return b.err
	}
	return nil
}

func (b broken) Read(arrow.RecordBatch)    {}
func (b broken) Add(crisol.Range) error    { return b.step("add") }
func (b broken) Close(int32) error         { return b.step("close") }
func (b broken) Answer() ([][]byte, error) { return nil, b.step("answer") }

// All that a plugin is asked for groups, over rows and over columns.
func ran(t *testing.T, columns bool, work broken) error {
	t.Helper()
	about := crisol.About{Name: "g", Version: "0.1.0"}
	definition := GroupRows(about, "ranker",
		func(crisol.NoOptions, crisol.Batch) (broken, error) { return work, work.step("open") },
		func(opened broken, _ *record.Codec[mark], _ *record.Writer[mark]) Work { return opened })
	if columns {
		definition = GroupColumns(about, "ranker",
			func(crisol.NoOptions, []crisol.Column) (crisol.Plan, error) { return crisol.Plan{}, nil },
			func(crisol.NoOptions, *arrow.Schema, crisol.Batch) (broken, error) { return work, work.step("open") },
			func(opened broken, _ *arrow.Schema) Work { return opened })
	}
	session, err := definition.Open("{}", []stage.Column{{Name: "mark", Type: "int"}}, 0)
	if err != nil {
		return err
	}
	writer := Codec[mark]().Writer()
	writer.Add(mark{}, 0)
	given, err := writer.Message(Group)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := session.Push(given); err != nil {
		return err
	}
	_, err = session.Finish()
	return err
}

func TestARejectionOfARowOfAGroupStopsTheStage(t *testing.T) {
	refused := func(words string) string {
		return "input: a row of a group is refused, " + words + "; drop such rows before, or make the column nullable"
	}
	for _, of := range []struct {
		err    error
		wanted string
	}{
		{crisol.Reject("c", "words"), refused("c: words")},
		{crisol.Filter("c", "words"), refused("c: words")},
		{fmt.Errorf("at the start: %w", crisol.Reject("c", "words")), refused("at the start: c: words")},
		{crisol.Fail("away", "no list"), "away: no list"},
		{errors.New("oh"), "bug: oh"},
	} {
		for _, at := range []string{"open", "add", "close", "answer"} {
			for _, columns := range []bool{false, true} {
				err := ran(t, columns, broken{at, of.err})
				if err == nil {
					t.Fatalf("%s: no error, not %s", at, of.wanted)
				}
				if problem := stage.ProblemOf(err, "bug"); problem.Code+": "+problem.Text != of.wanted {
					t.Errorf("%s: %v, not %s", at, problem, of.wanted)
				}
			}
		}
	}
}
