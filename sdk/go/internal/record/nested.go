package record

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// A slice: a list column.
type listNode struct{ element node }

func (n listNode) name() string   { return "array<" + n.element.name() + ">" }
func (n listNode) nullable() bool { return false }
func (n listNode) dataType() arrow.DataType {
	return arrow.ListOfField(arrow.Field{Name: "element", Type: n.element.dataType(), Nullable: true})
}

func (n listNode) bind(slot reflect.Value) cell {
	element := reflect.New(slot.Type().Elem()).Elem()
	return listCell{slot, element, n.element.bind(element)}
}

// The elements pass through a variable of their own.
type listCell struct {
	slot, element reflect.Value
	cell          cell
}

func (c listCell) writer(b array.Builder) func() {
	builder := b.(*array.ListBuilder)
	write := c.cell.writer(builder.ValueBuilder())
	return func() {
		builder.Append(true)
		for i := range c.slot.Len() {
			c.element.Set(c.slot.Index(i))
			write()
		}
	}
}

func (c listCell) reader(a arrow.Array) func(int) bool {
	list := a.(array.ListLike)
	read := c.cell.reader(list.ListValues())
	return func(i int) bool {
		if !list.IsValid(i) {
			return false
		}
		start, end := list.ValueOffsets(i)
		// A slice of its own: the last row's may have been kept.
		values := reflect.MakeSlice(c.slot.Type(), int(end-start), int(end-start))
		for at := start; at < end; at++ {
			if !read(int(at)) {
				return false
			}
			values.Index(int(at - start)).Set(c.element)
		}
		c.slot.Set(values)
		return true
	}
}

func (c listCell) json(p *parser) *Fault {
	if p.peek() != '[' {
		return p.mismatch("an array")
	}
	values := reflect.MakeSlice(c.slot.Type(), 0, 4)
	fault := p.array(func(at int) *Fault {
		if fault := readJSON(c.cell, p); fault != nil {
			return fault.in(fmt.Sprintf("[%d]", at))
		}
		values = reflect.Append(values, c.element)
		return nil
	})
	c.slot.Set(values)
	return fault
}

func (c listCell) null() bool { return false }
func (c listCell) clear()     { c.slot.SetZero() }

// A Map: a map column.
type mapNode struct{ key, value node }

func mapOf(t reflect.Type, words string) (node, error) {
	entry := t.Elem()
	key, err := nodeOf(entry.Field(0).Type, "")
	if err != nil {
		return nil, err
	}
	if key.nullable() {
		return nil, fmt.Errorf("%s: keys of a map are never null", t)
	}
	value, err := nodeOf(entry.Field(1).Type, words)
	return mapNode{key, value}, err
}

func (n mapNode) name() string   { return "map<" + n.key.name() + "," + n.value.name() + ">" }
func (n mapNode) nullable() bool { return false }
func (n mapNode) dataType() arrow.DataType {
	return arrow.MapOf(n.key.dataType(), n.value.dataType())
}

func (n mapNode) bind(slot reflect.Value) cell {
	entry := reflect.New(slot.Type().Elem()).Elem()
	return mapCell{slot, entry, n.key.bind(entry.Field(0)), n.value.bind(entry.Field(1))}
}

type mapCell struct {
	slot, entry reflect.Value
	key, value  cell
}

func (c mapCell) writer(b array.Builder) func() {
	builder := b.(*array.MapBuilder)
	key, value := c.key.writer(builder.KeyBuilder()), c.value.writer(builder.ItemBuilder())
	return func() {
		builder.Append(true)
		for i := range c.slot.Len() {
			c.entry.Set(c.slot.Index(i))
			key()
			value()
		}
	}
}

func (c mapCell) reader(a arrow.Array) func(int) bool {
	entries := a.(*array.Map)
	key, value := c.key.reader(entries.Keys()), c.value.reader(entries.Items())
	return func(i int) bool {
		if !entries.IsValid(i) {
			return false
		}
		start, end := entries.ValueOffsets(i)
		values := reflect.MakeSlice(c.slot.Type(), int(end-start), int(end-start))
		for at := start; at < end; at++ {
			if !key(int(at)) || !value(int(at)) {
				return false
			}
			values.Index(int(at - start)).Set(c.entry)
		}
		c.slot.Set(values)
		return true
	}
}

func (c mapCell) json(p *parser) *Fault {
	if p.peek() != '{' {
		return p.mismatch("an object")
	}
	values := reflect.MakeSlice(c.slot.Type(), 0, 4)
	seen := map[string]bool{}
	fault := p.object(func(name string) *Fault {
		if seen[name] {
			return (&Fault{Text: "the key is there twice"}).in("[" + strconv.Quote(name) + "]")
		}
		seen[name] = true
		if c.entry.Field(0).Kind() != reflect.String {
			return &Fault{Text: "keys of maps in JSON are strings"}
		}
		c.entry.Field(0).SetString(name)
		if fault := readJSON(c.value, p); fault != nil {
			return fault.in("[" + strconv.Quote(name) + "]")
		}
		values = reflect.Append(values, c.entry)
		return nil
	})
	c.slot.Set(values)
	return fault
}

func (c mapCell) null() bool { return false }
func (c mapCell) clear()     { c.slot.SetZero() }
