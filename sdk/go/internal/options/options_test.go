package options

import (
	"errors"
	"reflect"
	"testing"
)

type given struct {
	Every int      `json:"every,omitempty" doc:"one row in so many" schema:"{\"minimum\": 1}"`
	Names []string `json:"names"`
	Limit *float64 `json:"limit"`
}

func (g *given) Check() error {
	if g.Every < 0 {
		return errors.New("`every` is below zero")
	}
	return nil
}

func TestTheSchemaIsThatOfTheStruct(t *testing.T) {
	schema, err := Schema(reflect.TypeFor[given]())
	wanted := `{"additionalProperties":false,"properties":{"every":{"description":"one row in so many","minimum":1,"type":"integer"},` +
		`"limit":{"type":"number"},"names":{"items":{"type":"string"},"type":"array"}},"required":["names"],"type":"object"}`
	if err != nil || string(schema) != wanted {
		t.Error(err, string(schema))
	}
}

func TestValuesThatDoNotFitAreRefused(t *testing.T) {
	for text, wanted := range map[string]string{
		`{"names": ["a"], "every": -1}`: "`every` is below zero",
		`{"more": 1}`:                   `unknown field "more"`,
		`{"names": []} {}`:              "there is text after the object",
		`{"names": []}]`:                "there is text after the object",
		`{"names": []} x`:               "there is text after the object",
		`{"every": "x"}`:                "cannot unmarshal string into Go struct field given.every of type int",
	} {
		_, err := Parse[given](text)
		var refused wrong
		if !errors.As(err, &refused) || refused.text != wanted {
			t.Errorf("%v, not %s", err, wanted)
		}
	}
	if _, err := Parse[given]("{\"names\": []}\n "); err != nil {
		t.Error("blanks are no text", err)
	}
	if read, err := Parse[given](""); err != nil || read.Every != 0 {
		t.Error("a contract may have no options", err)
	}
}
