package record

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/crisol/crisol/sdk/go/internal/types"
)

// Most fields of a struct; a message's are marked in one word.
const fieldsMax = 64

type field struct {
	name string
	at   int
	node node
}

// A struct: a struct column, or a row.
type structNode struct {
	fields []field
	index  map[string]int
}

func structOf(t reflect.Type) (*structNode, error) {
	found := &structNode{index: map[string]int{}}
	for i := range t.NumField() {
		of := t.Field(i)
		name, words, _ := strings.Cut(of.Tag.Get("crisol"), ",")
		if name == "-" {
			continue
		}
		if !of.IsExported() {
			return nil, fmt.Errorf("%s.%s is not exported; `crisol:\"-\"` leaves it out", t, of.Name)
		}
		if name == "" {
			name = of.Name
		}
		node, err := nodeOf(of.Type, words)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", t, of.Name, err)
		}
		if _, twice := found.index[name]; twice {
			return nil, fmt.Errorf("%s: column %s is there twice", t, name)
		}
		found.index[name] = len(found.fields)
		found.fields = append(found.fields, field{name, i, node})
	}
	if len(found.fields) == 0 || len(found.fields) > fieldsMax {
		return nil, fmt.Errorf("%s has %d fields; 1 to %d are possible", t, len(found.fields), fieldsMax)
	}
	return found, nil
}

func (n *structNode) name() string {
	words := make([]string, len(n.fields))
	for i, field := range n.fields {
		words[i] = types.Quoted(field.name) + ":" + field.node.name()
	}
	return "struct<" + strings.Join(words, ",") + ">"
}

func (n *structNode) nullable() bool { return false }

func (n *structNode) dataType() arrow.DataType {
	fields := make([]arrow.Field, len(n.fields))
	for i, field := range n.fields {
		fields[i] = arrow.Field{Name: field.name, Type: field.node.dataType(), Nullable: true}
	}
	return arrow.StructOf(fields...)
}

func (n *structNode) bind(slot reflect.Value) cell {
	cells := make([]cell, len(n.fields))
	for i, field := range n.fields {
		cells[i] = field.node.bind(slot.Field(field.at))
	}
	return structCell{n, cells}
}

type structCell struct {
	of    *structNode
	cells []cell
}

func (c structCell) writer(b array.Builder) func() {
	builder := b.(*array.StructBuilder)
	writers := make([]func(), len(c.cells))
	for i, cell := range c.cells {
		writers[i] = cell.writer(builder.FieldBuilder(i))
	}
	return func() {
		builder.Append(true)
		for _, write := range writers {
			write()
		}
	}
}

func (c structCell) reader(a arrow.Array) func(int) bool {
	values := a.(*array.Struct)
	readers := make([]func(int) bool, len(c.cells))
	for i, cell := range c.cells {
		readers[i] = cell.reader(values.Field(i))
	}
	return func(i int) bool {
		if !values.IsValid(i) {
			return false
		}
		for _, read := range readers {
			if !read(i) {
				return false
			}
		}
		return true
	}
}

func (c structCell) null() bool { return false }

func (c structCell) clear() {
	for _, cell := range c.cells {
		cell.clear()
	}
}

// Fields may come in any order and be absent; others are skipped.
func (c structCell) json(p *parser) *Fault {
	if p.peek() != '{' {
		return p.mismatch("an object")
	}
	seen, fault := c.fields(p)
	if fault != nil {
		return fault
	}
	return c.absent(seen)
}

// Reads the fields, and gives those that are there and not null where they may not be.
func (c structCell) fields(p *parser) (uint64, *Fault) {
	var seen, nulls uint64
	fault := p.object(func(name string) *Fault {
		at, known := c.of.index[name]
		if !known {
			return p.skip(0)
		}
		if seen&(1<<at) != 0 {
			return (&Fault{Text: "it is there twice"}).in(name)
		}
		seen |= 1 << at
		if fault := readJSON(c.cells[at], p); fault != nil {
			if fault.Null && fault.Field == "" {
				// What else is wrong with the message comes first.
				nulls |= 1 << at
				return nil
			}
			return fault.in(name)
		}
		return nil
	})
	return seen &^ nulls, fault
}

// Fields that were not there are null, if they may be.
func (c structCell) absent(seen uint64) *Fault {
	for at, cell := range c.cells {
		if seen&(1<<at) == 0 && !cell.null() {
			return (&Fault{Text: "it is null or absent", Null: true}).in(c.of.fields[at].name)
		}
	}
	return nil
}

var decimalWords = regexp.MustCompile(`^decimal\((\d{1,2}),(\d{1,2})\)$`)

func decimalOf(words string) (node, error) {
	found := decimalWords.FindStringSubmatch(words)
	if found == nil {
		return nil, fmt.Errorf("a Decimal needs its type in the tag, `crisol:\"price,decimal(18,2)\"`; it says %q", words)
	}
	precision, _ := strconv.Atoi(found[1])
	scale, _ := strconv.Atoi(found[2])
	if precision < 1 || precision > 38 || scale > precision {
		return nil, fmt.Errorf("%s: 1 to 38 digits, at most as many after the point", words)
	}
	return decimalNode(words, int32(precision), int32(scale)), nil
}
