// Package written shows what a stage wrote; for tests.
package written

import (
	"strings"
	"testing"

	"github.com/crisol/crisol/sdk/go/internal/define"
	"github.com/crisol/crisol/sdk/go/internal/stage"
)

// Rejected are the columns of rejected rows.
var Rejected = []stage.Column{
	{Name: "row", Type: "int"}, {Name: "kind", Type: "tinyint"}, {Name: "code", Type: "string"}, {Name: "text", Type: "string"},
}

// Rows are those of a message, a line each.
func Rows(t *testing.T, columns []stage.Column, bytes []byte) string {
	t.Helper()
	if bytes == nil {
		return ""
	}
	var input define.Input
	if _, err := input.Open(columns); err != nil {
		t.Fatal(err)
	}
	batch, err := input.Read(bytes)
	if err != nil {
		t.Fatal(err)
	}
	lines := make([]string, batch.NumRows())
	for at := range lines {
		words := make([]string, batch.NumCols())
		for i := range words {
			words[i] = batch.Column(i).ValueStr(at)
		}
		lines[at] = strings.Join(words, " | ")
	}
	return strings.Join(lines, "\n")
}
