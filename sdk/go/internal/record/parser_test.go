package record

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

type texts struct {
	A string  `crisol:"a"`
	N float64 `crisol:"n"`
}

var halves = regexp.MustCompile(`\\u[dD][89a-fA-F]`)

// The standard library as a judge; it takes halves of characters, `\ud800`, and fields that are there twice, which are refused here.
func FuzzMessagesAreTakenAsTheStandardLibraryDoes(f *testing.F) {
	for _, seed := range []string{
		`{"a":"x","n":1}`, `{"a":"\u00f1\ud83d\ude00\"\\\/\b\f\n\r\t","n":-0.5e+3,"more":[{"b":[true,false,null,"",0]}]}`,
		`{"a":"x","n":01}`, `{"a":"x","n":1.}`, `{"a":"x","n":+1}`, `{"a":"x","n":1,}`, `{"a":"\x","n":1}`, `{"a":"\u12g4","n":1}`,
		"{\"a\":\"\t\",\"n\":1}", `{"a":"x","n":1} x`, `{"a":"x","n":1`, " {\n\"a\" : \"x\" , \"n\" : 1e400 }\r", `{"a":"x","n":tru}`,
	} {
		f.Add(seed)
	}
	codec, err := Of[texts]()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || halves.MatchString(strings.ReplaceAll(text, `\ud83d\ude00`, "")) {
			return
		}
		read, fault := codec.JSON(text)
		if valid := json.Valid([]byte(text)); fault == nil && !valid {
			t.Fatalf("%q is no JSON, but taken as %v", text, read)
		} else if fault != nil && strings.HasPrefix(fault.Text, "not a JSON object") && valid && strings.HasPrefix(strings.TrimSpace(text), "{") &&
			!strings.Contains(fault.Text, "less nesting") {
			t.Fatalf("%q is JSON, but: %s", text, fault)
		}
		var wanted map[string]any
		if fault == nil && json.Unmarshal([]byte(text), &wanted) == nil && (wanted["a"] != read.A || wanted["n"] != read.N) {
			t.Fatalf("%q is read as %v, not %v", text, read, wanted)
		}
	})
}
