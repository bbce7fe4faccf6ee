// Package message reads and writes single Arrow messages: the schema is agreed on, every batch is one message.
package message

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/crisol/crisol/sdk/go/internal/stage"
	"github.com/crisol/crisol/sdk/go/internal/types"
)

// Schema is the Arrow schema of columns.
func Schema(columns []stage.Column) (*arrow.Schema, error) {
	fields := make([]arrow.Field, len(columns))
	for i, column := range columns {
		of, err := types.Parse(column.Type)
		if err != nil {
			return nil, fmt.Errorf("column `%s`: %w", column.Name, err)
		}
		fields[i] = arrow.Field{Name: column.Name, Type: of, Nullable: column.Nullable}
	}
	return arrow.NewSchema(fields, nil), nil
}

// WithIndex is a schema with one more int column at its end, not null.
func WithIndex(schema *arrow.Schema, name string) *arrow.Schema {
	fields := append(schema.Fields(), arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int32})
	return arrow.NewSchema(fields, nil)
}

// Reader reads messages of one schema.
type Reader struct {
	feed   *feed
	reader *ipc.Reader
}

// NewReader makes one.
func NewReader(schema *arrow.Schema) (*Reader, error) {
	first, err := write(ipc.GetSchemaPayload(schema, memory.DefaultAllocator))
	if err != nil {
		return nil, err
	}
	message, err := split(first)
	if err != nil {
		return nil, err
	}
	feed := &feed{message}
	reader, err := ipc.NewReaderFromMessageReader(feed)
	return &Reader{feed, reader}, err
}

// Read gives the rows of a message, which are views of it and may be kept.
func (r *Reader) Read(bytes []byte) (arrow.RecordBatch, error) {
	message, err := split(bytes)
	if err != nil {
		return nil, err
	}
	r.feed.next = message
	if !r.reader.Next() {
		if err := r.reader.Err(); err != nil {
			return nil, err
		}
		return nil, errors.New("the message is no batch of rows")
	}
	batch := r.reader.RecordBatch()
	// The reader empties its batches at the next one, unless another has them.
	batch.Retain()
	return batch, nil
}

// Write gives the message of rows.
func Write(batch arrow.RecordBatch) ([]byte, error) {
	payload, err := ipc.GetRecordBatchPayload(batch)
	if err != nil {
		return nil, err
	}
	return write(payload)
}

// Indexed puts an int column that is not null at the end of rows.
func Indexed(batch arrow.RecordBatch, name string, index []int32) arrow.RecordBatch {
	data := array.NewData(arrow.PrimitiveTypes.Int32, len(index), []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(index))}, nil, 0, 0)
	columns := append(batch.Columns(), array.NewInt32Data(data))
	return array.NewRecordBatch(WithIndex(batch.Schema(), name), columns, int64(len(index)))
}

// A source of messages that gives the one it has.
type feed struct{ next *ipc.Message }

func (f *feed) Retain()  {}
func (f *feed) Release() {}
func (f *feed) Message() (*ipc.Message, error) {
	if f.next == nil {
		return nil, io.EOF
	}
	next := f.next
	f.next = nil
	return next, nil
}

func split(b []byte) (*ipc.Message, error) {
	if len(b) < 8 || binary.LittleEndian.Uint32(b) != 0xffffffff {
		return nil, errors.New("no encapsulated Arrow message")
	}
	length := int(binary.LittleEndian.Uint32(b[4:]))
	if length <= 0 || length > len(b)-8 {
		return nil, errors.New("the message is cut short")
	}
	return ipc.NewMessage(memory.NewBufferBytes(b[8:8+length]), memory.NewBufferBytes(b[8+length:])), nil
}

type counter int

func (c *counter) Write(b []byte) (int, error) { *c += counter(len(b)); return len(b), nil }

// One allocation of the right size.
func write(payload ipc.Payload) ([]byte, error) {
	defer payload.Release()
	var body counter
	if err := payload.SerializeBody(&body); err != nil {
		return nil, err
	}
	meta := payload.Meta()
	defer meta.Release()
	out := bytes.NewBuffer(make([]byte, 0, int(body)+meta.Len()+64))
	_, err := payload.WritePayload(out)
	return out.Bytes(), err
}
