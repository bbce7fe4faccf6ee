package crisol

import "github.com/crisol/crisol/sdk/go/internal/record"

// FromJSON reads a message that is one JSON object into a struct. Fields may come in any order, others are skipped. The error is a
// Rejection: "corrupt_record" for text that is no JSON, a field or a key of a Map that is there twice, a value of another type, a
// decimal with too many digits; "not_null: FIELD" for a field that is no Null and is null or absent, or has such a one in it. Numbers never pass through a float on their way
// to a decimal, which is rounded half up and may stand in a string. Timestamps are RFC 3339; without an offset they are UTC.
//
// Texts of the struct are parts of the message. All messages of one struct pass through one variable: call it from one goroutine.
func FromJSON[T any](message string) (T, error) {
	codec, err := record.Of[T]()
	if err != nil {
		panic(err.Error())
	}
	row, fault := codec.JSON(message)
	switch {
	case fault == nil:
		return row, nil
	case fault.Null:
		return row, Reject("not_null: "+fault.Column, "%s", fault)
	}
	return row, Reject("corrupt_record", "%s", fault)
}
