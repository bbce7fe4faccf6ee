// Package types reads the words of contracts for types of columns.
package types

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

var simple = map[string]arrow.DataType{
	"string": arrow.BinaryTypes.String, "binary": arrow.BinaryTypes.Binary, "boolean": arrow.FixedWidthTypes.Boolean,
	"tinyint": arrow.PrimitiveTypes.Int8, "smallint": arrow.PrimitiveTypes.Int16, "int": arrow.PrimitiveTypes.Int32,
	"bigint": arrow.PrimitiveTypes.Int64, "float": arrow.PrimitiveTypes.Float32, "double": arrow.PrimitiveTypes.Float64,
	"date": arrow.FixedWidthTypes.Date32, "timestamp": arrow.FixedWidthTypes.Timestamp_us,
}

// Parse gives the Arrow type of words in the form in which a host writes them.
func Parse(words string) (arrow.DataType, error) {
	p := &parser{words, words}
	found, err := p.dataType()
	if err == nil && p.rest != "" {
		err = p.wrong("the end")
	}
	return found, err
}

// Name gives the words for an Arrow type; false for one that contracts do not have.
func Name(t arrow.DataType) (string, bool) {
	for words, of := range simple {
		if arrow.TypeEqual(of, t) {
			return words, true
		}
	}
	switch t := t.(type) {
	case *arrow.Decimal128Type:
		return fmt.Sprintf("decimal(%d,%d)", t.Precision, t.Scale), true
	case *arrow.ListType:
		element, ok := Name(t.Elem())
		return "array<" + element + ">", ok
	case *arrow.MapType:
		key, ok := Name(t.KeyType())
		value, also := Name(t.ItemType())
		return "map<" + key + "," + value + ">", ok && also
	case *arrow.StructType:
		fields := make([]string, t.NumFields())
		for i, field := range t.Fields() {
			words, ok := Name(field.Type)
			if !ok {
				return "", false
			}
			fields[i] = Quoted(field.Name) + ":" + words
		}
		return "struct<" + strings.Join(fields, ",") + ">", true
	}
	return "", false
}

// Quoted gives the name of a field as it stands in a type.
func Quoted(name string) string {
	plain := name != ""
	for _, c := range name {
		plain = plain && isPlain(c)
	}
	if plain {
		return name
	}
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}

func isPlain(c rune) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

type parser struct{ whole, rest string }

func (p *parser) wrong(wanted string) error {
	return fmt.Errorf("type `%s`: expected %s at `%s`", p.whole, wanted, p.rest)
}

func (p *parser) eat(text string) error {
	rest, found := strings.CutPrefix(p.rest, text)
	if !found {
		return p.wrong("`" + text + "`")
	}
	p.rest = rest
	return nil
}

func (p *parser) word() string {
	end := strings.IndexAny(p.rest, "<>(),:`")
	if end < 0 {
		end = len(p.rest)
	}
	word := p.rest[:end]
	p.rest = p.rest[end:]
	return word
}

func (p *parser) dataType() (arrow.DataType, error) {
	switch word := p.word(); word {
	case "decimal":
		return p.decimal()
	case "array":
		element, err := p.within(1)
		if err != nil {
			return nil, err
		}
		return arrow.ListOfField(arrow.Field{Name: "element", Type: element[0], Nullable: true}), nil
	case "map":
		both, err := p.within(2)
		if err != nil {
			return nil, err
		}
		return arrow.MapOf(both[0], both[1]), nil
	case "struct":
		return p.fields()
	default:
		if found, ok := simple[word]; ok {
			return found, nil
		}
		return nil, fmt.Errorf("type `%s`: `%s` is not known", p.whole, word)
	}
}

// So many types in angle brackets.
func (p *parser) within(count int) ([]arrow.DataType, error) {
	var found []arrow.DataType
	for i := range count {
		open := "<"
		if i > 0 {
			open = ","
		}
		if err := p.eat(open); err != nil {
			return nil, err
		}
		of, err := p.dataType()
		if err != nil {
			return nil, err
		}
		found = append(found, of)
	}
	return found, p.eat(">")
}

func (p *parser) decimal() (arrow.DataType, error) {
	numbers, rest, closed := strings.Cut(strings.TrimPrefix(p.rest, "("), ")")
	precision, scale, both := strings.Cut(numbers, ",")
	digits, err := strconv.ParseInt(precision, 10, 32)
	places, also := strconv.ParseInt(scale, 10, 32)
	if !closed || !both || err != nil || also != nil {
		return nil, p.wrong("`(precision,scale)`")
	}
	p.rest = rest
	return &arrow.Decimal128Type{Precision: int32(digits), Scale: int32(places)}, nil
}

func (p *parser) fields() (arrow.DataType, error) {
	var fields []arrow.Field
	open := "<"
	for {
		if err := p.eat(open); err != nil {
			return nil, err
		}
		name, err := p.fieldName()
		if err != nil {
			return nil, err
		}
		if err := p.eat(":"); err != nil {
			return nil, err
		}
		of, err := p.dataType()
		if err != nil {
			return nil, err
		}
		fields = append(fields, arrow.Field{Name: name, Type: of, Nullable: true})
		if strings.HasPrefix(p.rest, ">") {
			return arrow.StructOf(fields...), p.eat(">")
		}
		open = ","
	}
}

func (p *parser) fieldName() (string, error) {
	if !strings.HasPrefix(p.rest, "`") {
		return p.word(), nil
	}
	var name strings.Builder
	for i := 1; i < len(p.rest); i++ {
		if p.rest[i] != '`' {
			name.WriteByte(p.rest[i])
		} else if i+1 < len(p.rest) && p.rest[i+1] == '`' {
			name.WriteByte('`')
			i++
		} else {
			p.rest = p.rest[i+1:]
			return name.String(), nil
		}
	}
	return "", p.wrong("a closing backtick")
}
