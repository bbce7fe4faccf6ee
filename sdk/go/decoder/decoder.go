// Package decoder serves plugins that make a row of each message.
package decoder

import (
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/internal/define"
	"github.com/crisol/crisol/sdk/go/internal/message"
	"github.com/crisol/crisol/sdk/go/internal/record"
	"github.com/crisol/crisol/sdk/go/internal/stage"
	transform "github.com/crisol/crisol/sdk/go/internal/wit/rows/exports/export_crisol_stage_transform"
	_ "github.com/crisol/crisol/sdk/go/internal/wit/rows/exports/wit_exports"
)

// Payload is the column that a decoder reads.
const Payload = "payload"

// Decode makes a row of a message. A *crisol.Rejection keeps the row from going on, a *crisol.Failure stops the stream, any other
// error rejects the row as "error". A null message is rejected as "corrupt_record" and does not come here, nor does one that is no
// UTF-8.
type Decode[R any] func(message string) (R, error)

// Serve makes a plugin of a function that gets ready for one batch. It is called in an init function, once.
func Serve[O, R any](about crisol.About, open func(options O, batch crisol.Batch) (Decode[R], error)) {
	transform.Serve(Define(about, open))
}

// Define is what Serve serves; for tests.
func Define[O, R any](about crisol.About, open func(O, crisol.Batch) (Decode[R], error)) *stage.Definition[stage.Rows] {
	codec := define.Codec[R]()
	plan := func(_ O, input []stage.Column) (stage.Plan, error) {
		for _, column := range input {
			if column.Name == Payload && (column.Type == "string" || column.Type == "binary") {
				return stage.Plan{Reads: []string{Payload}, Writes: codec.Columns}, nil
			}
		}
		return stage.Plan{}, crisol.Fail("input", "there is no column `%s` of type string or binary", Payload)
	}
	return define.Stage(about, "decoder", plan, func(options O, input []stage.Column, batch crisol.Batch) (stage.Rows, error) {
		decode, err := open(options, batch)
		if err != nil {
			return nil, err
		}
		made := &session[R]{decode: decode, codec: codec}
		_, err = made.input.Open(input)
		return made, err
	})
}

type session[R any] struct {
	input  define.Input
	decode Decode[R]
	codec  *record.Codec[R]
}

func (s *session[R]) Push(bytes []byte) ([]byte, []byte, error) {
	batch, err := s.input.Read(bytes)
	if err != nil {
		return nil, nil, err
	}
	var rejected message.Rejected
	column, text := batch.Column(0), texts(batch.Column(0))
	writer := s.codec.Writer()
	for row := range int(batch.NumRows()) {
		decoded, err := s.one(column, text, row)
		if err == nil {
			writer.Add(decoded, row)
		} else if err := define.Reject(&rejected, row, err); err != nil {
			return nil, nil, err
		}
	}
	rows, err := writer.Message("_row")
	if err != nil {
		return nil, nil, err
	}
	refused, err := rejected.Message()
	return rows, refused, err
}

func (s *session[R]) one(column arrow.Array, text func(int) string, row int) (R, error) {
	var none R
	if column.IsNull(row) {
		return none, crisol.Reject("corrupt_record", "`%s` is null", Payload)
	}
	message := text(row)
	if !utf8.ValidString(message) {
		return none, crisol.Reject("corrupt_record", "invalid UTF-8 at byte %d", valid(message)+1)
	}
	return s.decode(message)
}

// How many bytes at the start are UTF-8.
func valid(message string) int {
	for at, character := range message {
		if character == utf8.RuneError && !strings.HasPrefix(message[at:], "\uFFFD") {
			return at
		}
	}
	return len(message)
}

// Values as texts without a copy: a message that was given is never written to, and what points into it keeps it.
func texts(column arrow.Array) func(int) string {
	if column, ok := column.(*array.Binary); ok {
		return func(row int) string {
			value := column.Value(row)
			return unsafe.String(unsafe.SliceData(value), len(value))
		}
	}
	return column.(*array.String).Value
}
