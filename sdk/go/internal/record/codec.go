// Package record takes structs for rows.
package record

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/crisol/crisol/sdk/go/internal/message"
	"github.com/crisol/crisol/sdk/go/internal/stage"
)

// Codec takes T for a row. All rows pass through one variable: it is not for use by several goroutines.
type Codec[T any] struct {
	// Columns are those of T, in the order of its fields.
	Columns []stage.Column
	schema  *arrow.Schema
	slot    *T
	node    *structNode
	cell    structCell
}

var codecs sync.Map

// Of is the codec of T, made once.
func Of[T any]() (*Codec[T], error) {
	t := reflect.TypeFor[T]()
	if found, ok := codecs.Load(t); ok {
		return found.(*Codec[T]), nil
	}
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%s is no struct: a row is one", t)
	}
	node, err := structOf(t)
	if err != nil {
		return nil, err
	}
	slot := new(T)
	made := &Codec[T]{slot: slot, node: node, cell: node.bind(reflect.ValueOf(slot).Elem()).(structCell)}
	fields := make([]arrow.Field, len(node.fields))
	for i, field := range node.fields {
		made.Columns = append(made.Columns, stage.Column{Name: field.name, Type: field.node.name(), Nullable: field.node.nullable()})
		fields[i] = arrow.Field{Name: field.name, Type: field.node.dataType(), Nullable: field.node.nullable()}
	}
	made.schema = arrow.NewSchema(fields, nil)
	codecs.Store(t, made)
	return made, nil
}

// Names are those of the columns.
func (c *Codec[T]) Names() []string {
	names := make([]string, len(c.Columns))
	for i, column := range c.Columns {
		names[i] = column.Name
	}
	return names
}

// JSON reads a message that is one object and nothing else. Texts are parts of the message.
func (c *Codec[T]) JSON(text string) (T, *Fault) {
	p := &parser{text: text}
	var none T
	*c.slot = none
	if p.peek() != '{' {
		return none, p.expected("an object")
	}
	seen, fault := c.cell.fields(p)
	if fault == nil {
		fault = p.end()
	}
	if fault == nil {
		fault = c.cell.absent(seen)
	}
	if fault != nil {
		return none, fault
	}
	return *c.slot, nil
}

// Writer collects rows.
type Writer[T any] struct {
	codec   *Codec[T]
	builder *array.RecordBuilder
	writers []func()
	index   []int32
}

// Writer makes one.
func (c *Codec[T]) Writer() *Writer[T] {
	builder := array.NewRecordBuilder(memory.DefaultAllocator, c.schema)
	writers := make([]func(), len(c.cell.cells))
	for i, cell := range c.cell.cells {
		writers[i] = cell.writer(builder.Field(i))
	}
	return &Writer[T]{codec: c, builder: builder, writers: writers}
}

// Add appends a row that belongs to an input row, or a group.
func (w *Writer[T]) Add(row T, index int) {
	*w.codec.slot = row
	for _, write := range w.writers {
		write()
	}
	w.index = append(w.index, int32(index))
}

// Rows are how many there are.
func (w *Writer[T]) Rows() int { return len(w.index) }

// Message gives the rows, with what they belong to as a last column of this name, and begins anew.
func (w *Writer[T]) Message(name string) ([]byte, error) {
	batch := w.builder.NewRecordBatch()
	index := w.index
	w.index = nil
	return message.Write(message.Indexed(batch, name, index))
}

// Reader reads the rows of a batch that has the columns of T first.
type Reader[T any] struct {
	codec   *Codec[T]
	readers []func(int) bool
}

// Reader ties the codec to a batch.
func (c *Codec[T]) Reader(batch arrow.RecordBatch) *Reader[T] {
	readers := make([]func(int) bool, len(c.cell.cells))
	for i, cell := range c.cell.cells {
		readers[i] = cell.reader(batch.Column(i))
	}
	return &Reader[T]{c, readers}
}

// Row gives a row; the name of a field that may not be null and is, if there is one.
func (r *Reader[T]) Row(row int) (*T, string) {
	for i, read := range r.readers {
		if !read(row) {
			return nil, r.codec.Columns[i].Name
		}
	}
	return r.codec.slot, ""
}

// Input tells whether columns can be read as T.
func (c *Codec[T]) Input(input []stage.Column) error {
	for _, wanted := range c.Columns {
		found := false
		for _, column := range input {
			if column.Name != wanted.Name {
				continue
			}
			if found = true; column.Type != wanted.Type {
				return fmt.Errorf("column `%s` is %s, not %s", column.Name, column.Type, wanted.Type)
			}
		}
		if !found {
			return fmt.Errorf("there is no column `%s`", wanted.Name)
		}
	}
	return nil
}
