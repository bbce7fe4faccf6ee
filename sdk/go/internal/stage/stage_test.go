package stage

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
)

type failed struct{}

func (failed) Error() string             { return "away: no list" }
func (failed) Failure() (string, string) { return "away", "no list" }

func TestAWrappedFailureKeepsItsCode(t *testing.T) {
	for _, of := range []struct {
		err    error
		wanted Problem
	}{
		{failed{}, Problem{"away", "no list"}},
		{fmt.Errorf("at the start: %w", failed{}), Problem{"away", "at the start: away: no list"}},
		{errors.New("oh"), Problem{"bug", "oh"}},
	} {
		if got := ProblemOf(of.err, "bug"); got != of.wanted {
			t.Errorf("%v, not %v", got, of.wanted)
		}
	}
}

func TestADescriptionLeavesOutWhatIsNotSaid(t *testing.T) {
	definition := Definition[Rows]{Name: "a", Version: "0.1.0", Kind: "decoder"}
	if got := definition.Describe(); got != `{"kind":"decoder","name":"a","reuse":false,"version":"0.1.0"}` {
		t.Error(got)
	}
	definition.SchemaVersions, definition.Options = "1..2", json.RawMessage(`{"type":"object"}`)
	wanted := `{"kind":"decoder","name":"a","options":{"type":"object"},"reuse":false,"schema_versions":"1..2","version":"0.1.0"}`
	if got := definition.Describe(); got != wanted {
		t.Error(got)
	}
}
