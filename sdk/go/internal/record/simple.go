package record

import (
	"reflect"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/crisol/crisol/sdk/go/internal/value"
)

// A column whose values are one value of Go each: T in a struct, V in the array.
type simple[T, V any] struct {
	words string
	arrow arrow.DataType
	// Both ways between the two.
	to   func(T) V
	from func(V) T
	// Reads a value that is not null.
	parse func(*parser) (T, *Fault)
}

type valued[V any] interface {
	arrow.Array
	Value(int) V
}

type appending[V any] interface{ Append(V) }

func (n *simple[T, V]) name() string             { return n.words }
func (n *simple[T, V]) dataType() arrow.DataType { return n.arrow }
func (n *simple[T, V]) nullable() bool           { return false }

func (n *simple[T, V]) bind(slot reflect.Value) cell {
	// A type that an author has derived has the same form in memory.
	pointer := slot.Addr().Convert(reflect.TypeFor[*T]()).Interface().(*T)
	return simpleCell[T, V]{n, pointer}
}

type simpleCell[T, V any] struct {
	of   *simple[T, V]
	slot *T
}

func (c simpleCell[T, V]) writer(b array.Builder) func() {
	builder, to := b.(appending[V]), c.of.to
	return func() { builder.Append(to(*c.slot)) }
}

func (c simpleCell[T, V]) reader(a arrow.Array) func(int) bool {
	values, from, whole := a.(valued[V]), c.of.from, a.NullN() == 0
	return func(i int) bool {
		if whole || values.IsValid(i) {
			*c.slot = from(values.Value(i))
			return true
		}
		return false
	}
}

func (c simpleCell[T, V]) json(p *parser) *Fault {
	p.space()
	read, fault := c.of.parse(p)
	*c.slot = read
	return fault
}

func (c simpleCell[T, V]) null() bool { return false }

func (c simpleCell[T, V]) clear() {
	var zero T
	*c.slot = zero
}

func same[T any](v T) T { return v }

func plain[T any](words string, t arrow.DataType, parse func(*parser) (T, *Fault)) node {
	return &simple[T, T]{words, t, same[T], same[T], parse}
}

func simpleNode(kind reflect.Kind) node {
	switch kind {
	case reflect.String:
		return plain("string", arrow.BinaryTypes.String, parseString)
	case reflect.Bool:
		return plain("boolean", arrow.FixedWidthTypes.Boolean, parseBool)
	case reflect.Int8:
		return plain("tinyint", arrow.PrimitiveTypes.Int8, parseInt[int8](8, "a tinyint"))
	case reflect.Int16:
		return plain("smallint", arrow.PrimitiveTypes.Int16, parseInt[int16](16, "a smallint"))
	case reflect.Int32:
		return plain("int", arrow.PrimitiveTypes.Int32, parseInt[int32](32, "an int"))
	case reflect.Int64:
		return plain("bigint", arrow.PrimitiveTypes.Int64, parseInt[int64](64, "a bigint"))
	case reflect.Float32:
		return plain("float", arrow.PrimitiveTypes.Float32, parseFloat[float32](32, "a float"))
	case reflect.Float64:
		return plain("double", arrow.PrimitiveTypes.Float64, parseFloat[float64](64, "a double"))
	}
	return nil
}

func binaryNode() node {
	return plain("binary", arrow.BinaryTypes.Binary, func(p *parser) ([]byte, *Fault) {
		return nil, p.mismatch("a binary, which JSON does not have")
	})
}

func timestampNode() node {
	t := arrow.FixedWidthTypes.Timestamp_us
	to := func(v value.Timestamp) arrow.Timestamp { return arrow.Timestamp(v) }
	from := func(v arrow.Timestamp) value.Timestamp { return value.Timestamp(v) }
	return &simple[value.Timestamp, arrow.Timestamp]{"timestamp", t, to, from, parseText("a timestamp", value.ParseTimestamp)}
}

func dateNode() node {
	to := func(v value.Date) arrow.Date32 { return arrow.Date32(v) }
	from := func(v arrow.Date32) value.Date { return value.Date(v) }
	return &simple[value.Date, arrow.Date32]{"date", arrow.FixedWidthTypes.Date32, to, from, parseText("a date", value.ParseDate)}
}

func decimalNode(words string, precision, scale int32) node {
	t := &arrow.Decimal128Type{Precision: precision, Scale: scale}
	to := func(v value.Decimal) decimal128.Num { return v.Rescale(scale) }
	from := func(v decimal128.Num) value.Decimal { return value.DecimalFrom(v, scale) }
	wanted := "a " + words
	parse := func(p *parser) (value.Decimal, *Fault) {
		quoted := p.peek() == '"'
		text, fault := numberOrString(p, wanted)
		if fault != nil {
			return value.Decimal{}, fault
		}
		read, ok := value.ParseDecimal(text, precision, scale)
		if !ok && quoted {
			text = strconv.Quote(text)
		}
		if !ok {
			return read, wrong(text, wanted)
		}
		return read, nil
	}
	return &simple[value.Decimal, decimal128.Num]{words, t, to, from, parse}
}

func numberOrString(p *parser, wanted string) (string, *Fault) {
	switch c := p.peek(); {
	case c == '"':
		return p.str()
	case c == '-' || c-'0' <= 9:
		return p.number()
	}
	return "", p.mismatch(wanted)
}

func parseString(p *parser) (string, *Fault) {
	if p.peek() != '"' {
		return "", p.mismatch("a string")
	}
	return p.str()
}

func parseBool(p *parser) (bool, *Fault) {
	switch p.peek() {
	case 't':
		return true, p.word("true")
	case 'f':
		return false, p.word("false")
	}
	return false, p.mismatch("a boolean")
}

func parseNumber(p *parser, wanted string) (string, *Fault) {
	if c := p.peek(); c != '-' && c-'0' > 9 {
		return "", p.mismatch(wanted)
	}
	return p.number()
}

func parseInt[T int8 | int16 | int32 | int64](bits int, wanted string) func(*parser) (T, *Fault) {
	return func(p *parser) (T, *Fault) {
		text, fault := parseNumber(p, wanted)
		if fault != nil {
			return 0, fault
		}
		read, err := strconv.ParseInt(text, 10, bits)
		if err != nil {
			return 0, wrong(text, wanted)
		}
		return T(read), nil
	}
}

func parseFloat[T float32 | float64](bits int, wanted string) func(*parser) (T, *Fault) {
	return func(p *parser) (T, *Fault) {
		text, fault := parseNumber(p, wanted)
		if fault != nil {
			return 0, fault
		}
		// Out of range is an infinity, as other readers have it.
		read, _ := strconv.ParseFloat(text, bits)
		return T(read), nil
	}
}

func parseText[T any](wanted string, parse func(string) (T, bool)) func(*parser) (T, *Fault) {
	return func(p *parser) (T, *Fault) {
		var none T
		if p.peek() != '"' {
			return none, p.mismatch(wanted)
		}
		text, fault := p.str()
		if fault != nil {
			return none, fault
		}
		read, ok := parse(text)
		if !ok {
			return none, wrong(strconv.Quote(text), wanted)
		}
		return read, nil
	}
}
