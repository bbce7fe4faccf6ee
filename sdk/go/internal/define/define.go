// Package define makes what the bindings serve of what an author says.
package define

import (
	"errors"
	"reflect"

	"github.com/apache/arrow-go/v18/arrow"
	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/internal/message"
	"github.com/crisol/crisol/sdk/go/internal/options"
	"github.com/crisol/crisol/sdk/go/internal/record"
	"github.com/crisol/crisol/sdk/go/internal/stage"
)

// Stage is a plugin whose options are O and whose sessions are S.
func Stage[O, S any](
	about crisol.About,
	kind string,
	plan func(O, []stage.Column) (stage.Plan, error),
	open func(O, []stage.Column, crisol.Batch) (S, error),
) *stage.Definition[S] {
	schema, err := options.Schema(reflect.TypeFor[O]())
	if err != nil {
		panic(about.Name + ": " + err.Error())
	}
	return &stage.Definition[S]{
		Name: about.Name, Version: about.Version, Kind: kind, SchemaVersions: about.SchemaVersions, Reuse: about.Reuse,
		Options: schema,
		Plan: func(text string, input []stage.Column) (stage.Plan, error) {
			given, err := options.Parse[O](text)
			if err != nil {
				return stage.Plan{}, err
			}
			return plan(given, input)
		},
		Open: func(text string, input []stage.Column, timestamp int64) (S, error) {
			var none S
			given, err := options.Parse[O](text)
			if err != nil {
				return none, err
			}
			return open(given, input, crisol.Batch{Timestamp: crisol.Timestamp(timestamp)})
		},
	}
}

// Codec is that of T; a struct that cannot be a row is a mistake of the source.
func Codec[T any]() *record.Codec[T] {
	codec, err := record.Of[T]()
	if err != nil {
		panic(err.Error())
	}
	return codec
}

// Reads checks that the input has the columns of T.
func Reads[T any](codec *record.Codec[T], input []stage.Column) error {
	if err := codec.Input(input); err != nil {
		return crisol.Fail("input", "%s", err)
	}
	return nil
}

// Input reads the messages of a session.
type Input struct{ reader *message.Reader }

// Open ties it to the columns of a session.
func (in *Input) Open(columns []stage.Column) (*arrow.Schema, error) {
	schema, err := message.Schema(columns)
	if err != nil {
		return nil, crisol.Fail("input", "%s", err)
	}
	in.reader, err = message.NewReader(schema)
	return schema, err
}

// Read gives the rows of a message.
func (in *Input) Read(bytes []byte) (arrow.RecordBatch, error) {
	batch, err := in.reader.Read(bytes)
	if err != nil {
		return nil, crisol.Fail("input", "%s", err)
	}
	return batch, nil
}

// Reject adds the rejection that an error is, or wraps. A failure is given back: it stops the stream.
func Reject(rejected *message.Rejected, row int, err error) error {
	var rejection *crisol.Rejection
	var failure *crisol.Failure
	switch {
	case errors.As(err, &failure):
		return err
	case errors.As(err, &rejection):
		rejected.Add(row, rejection.Filtered, rejection.Code, rejection.Text)
	default:
		rejected.Add(row, false, "error", err.Error())
	}
	return nil
}

// NotNull is the rejection of a row whose field may not be null and is.
func NotNull(field string) error {
	return crisol.Reject("not_null: "+field, "`%s`: it is null or absent", field)
}
