package types

import "testing"

func TestWordsAreGivenBackAsTheyWere(t *testing.T) {
	for _, words := range []string{
		"string", "binary", "boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "date", "timestamp", "decimal(38,10)",
		"array<array<int>>", "map<string,array<struct<a:int,`b c``d`:map<int,decimal(9,2)>>>>",
	} {
		found, err := Parse(words)
		if err != nil {
			t.Fatal(err)
		}
		if name, ok := Name(found); !ok || name != words {
			t.Errorf("%s becomes %s", words, name)
		}
	}
}

func TestWhatIsNoTypeIsRefusedInWords(t *testing.T) {
	for words, wanted := range map[string]string{
		"text":           "type `text`: `text` is not known",
		"array<int":      "type `array<int`: expected `>` at ``",
		"int>":           "type `int>`: expected the end at `>`",
		"map<int>":       "type `map<int>`: expected `,` at `>`",
		"decimal(9)":     "type `decimal(9)`: expected `(precision,scale)` at `(9)`",
		"struct<`a:int>": "type `struct<`a:int>`: expected a closing backtick at ``a:int>`",
	} {
		if _, err := Parse(words); err == nil || err.Error() != wanted {
			t.Errorf("%v, not %s", err, wanted)
		}
	}
}
