package written

import (
	"os"
	"strings"
	"testing"
)

// InGuide tells that a source has the example of docs/plugin-go.md with these words in it, as it stands there. It is for tests of
// packages that lie in sdk/go.
func InGuide(t *testing.T, source, words string) {
	t.Helper()
	guide, err := os.ReadFile("../../../docs/plugin-go.md")
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	for _, after := range strings.Split(string(guide), "```go\n")[1:] {
		example, _, _ := strings.Cut(after, "```\n")
		if strings.Contains(example, words) {
			if !strings.Contains(string(code), "\n"+example) {
				t.Errorf("%s has not the example of the guide:\n%s", source, example)
			}
			return
		}
	}
	t.Errorf("no example of the guide has %s", words)
}
