package record

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/crisol/crisol/sdk/go/internal/value"
)

// A type of Go and the column that it is.
type node interface {
	// The words of contracts for it.
	name() string
	dataType() arrow.DataType
	nullable() bool
	// Ties it to a variable, which all rows pass through: nothing has to be looked up for each value.
	bind(slot reflect.Value) cell
}

// A variable that values of a column pass through.
type cell interface {
	// Gives what appends the variable to a builder of this column's type.
	writer(b array.Builder) func()
	// Gives what loads row i of an array into the variable; false: it is null and may not be.
	reader(a arrow.Array) func(i int) bool
	// Reads a value that is not null into the variable.
	json(p *parser) *Fault
	// Sets it null; false: it may not be.
	null() bool
	// Sets it to its zero value: nothing of one row is left in the next.
	clear()
}

var (
	binaryType    = reflect.TypeFor[[]byte]()
	decimalType   = reflect.TypeFor[value.Decimal]()
	timestampType = reflect.TypeFor[value.Timestamp]()
	dateType      = reflect.TypeFor[value.Date]()
	valuePackage  = decimalType.PkgPath()
)

// The column that a type is; words are those of a tag, for the types that need them.
func nodeOf(t reflect.Type, words string) (node, error) {
	switch t {
	case binaryType:
		return binaryNode(), nil
	case decimalType:
		return decimalOf(words)
	case timestampType:
		return timestampNode(), nil
	case dateType:
		return dateNode(), nil
	}
	if t.PkgPath() == valuePackage {
		if strings.HasPrefix(t.Name(), "Null[") {
			inner, err := nodeOf(t.Field(0).Type, words)
			return nullNode{inner}, err
		}
		if strings.HasPrefix(t.Name(), "Map[") {
			return mapOf(t, words)
		}
	}
	switch t.Kind() {
	case reflect.Slice:
		element, err := nodeOf(t.Elem(), words)
		return listNode{element}, err
	case reflect.Struct:
		return structOf(t)
	}
	if simple := simpleNode(t.Kind()); simple != nil {
		return simple, nil
	}
	return nil, fmt.Errorf("%s is no type of a column", t)
}

// A value that may be null.
type nullNode struct{ inner node }

func (n nullNode) name() string             { return n.inner.name() }
func (n nullNode) dataType() arrow.DataType { return n.inner.dataType() }
func (n nullNode) nullable() bool           { return true }

func (n nullNode) bind(slot reflect.Value) cell {
	return nullCell{n.inner.bind(slot.Field(0)), slot.Field(1).Addr().Interface().(*bool)}
}

type nullCell struct {
	inner cell
	valid *bool
}

func (c nullCell) writer(b array.Builder) func() {
	write := c.inner.writer(b)
	return func() {
		if *c.valid {
			write()
		} else {
			b.AppendNull()
		}
	}
}

func (c nullCell) reader(a arrow.Array) func(int) bool {
	read := c.inner.reader(a)
	if a.NullN() == 0 {
		return func(i int) bool {
			*c.valid = true
			return read(i)
		}
	}
	return func(i int) bool {
		if a.IsValid(i) {
			*c.valid = true
			return read(i)
		}
		return c.null()
	}
}

func (c nullCell) json(p *parser) *Fault {
	*c.valid = true
	return c.inner.json(p)
}

func (c nullCell) null() bool {
	c.clear()
	return true
}

func (c nullCell) clear() {
	*c.valid = false
	c.inner.clear()
}

// Reads a value that may be null as JSON has it.
func readJSON(c cell, p *parser) *Fault {
	null, fault := p.null()
	if fault != nil {
		return fault
	}
	if !null {
		return c.json(p)
	}
	if c.null() {
		return nil
	}
	return &Fault{Text: "it is null or absent", Null: true}
}
