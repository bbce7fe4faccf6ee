package record

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Deepest nesting of what is skipped.
const depthMax = 200

// Most characters of a value that a message shows.
const shownMax = 60

// Fault is why a message is not what a record says.
type Fault struct {
	// Field is its path, "items[2].sku"; empty: the message as a whole.
	Field string
	// Column is the first name of the path.
	Column string
	// Text is what is wrong.
	Text string
	// Null is true when a field that may not be null is, or is absent.
	Null bool
}

func (f *Fault) Error() string {
	if f.Field == "" {
		return f.Text
	}
	return "`" + f.Field + "`: " + f.Text
}

// Puts a name before the path of a fault.
func (f *Fault) in(name string) *Fault {
	f.Column = name
	switch {
	case f.Field == "":
		f.Field = name
	case f.Field[0] == '[':
		f.Field = name + f.Field
	default:
		f.Field = name + "." + f.Field
	}
	return f
}

// A pull parser over one message.
type parser struct {
	text string
	at   int
}

func (p *parser) space() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

// The next character that is no space; 0 at the end.
func (p *parser) peek() byte {
	p.space()
	if p.at >= len(p.text) {
		return 0
	}
	return p.text[p.at]
}

func (p *parser) expected(what string) *Fault {
	if strings.TrimSpace(p.text) == "" {
		return &Fault{Text: "the message is empty"}
	}
	character := utf8.RuneCountInString(p.text[:min(p.at, len(p.text))]) + 1
	return &Fault{Text: fmt.Sprintf("not a JSON object: expected %s at character %d", what, character)}
}

func (p *parser) eat(c byte, what string) *Fault {
	if p.peek() != c {
		return p.expected(what)
	}
	p.at++
	return nil
}

// Calls of with the name of each field of an object, whose value it has to read.
func (p *parser) object(of func(name string) *Fault) *Fault {
	if fault := p.eat('{', "an object"); fault != nil {
		return fault
	}
	if p.peek() == '}' {
		p.at++
		return nil
	}
	for {
		if p.peek() != '"' {
			return p.expected("a name in quotes")
		}
		name, fault := p.str()
		if fault != nil {
			return fault
		}
		if fault := p.eat(':', "`:`"); fault != nil {
			return fault
		}
		if fault := of(name); fault != nil {
			return fault
		}
		switch p.peek() {
		case ',':
			p.at++
		case '}':
			p.at++
			return nil
		default:
			return p.expected("`,` or `}`")
		}
	}
}

// Calls of for each element of an array, which it has to read.
func (p *parser) array(of func(at int) *Fault) *Fault {
	if fault := p.eat('[', "an array"); fault != nil {
		return fault
	}
	if p.peek() == ']' {
		p.at++
		return nil
	}
	for at := 0; ; at++ {
		if fault := of(at); fault != nil {
			return fault
		}
		switch p.peek() {
		case ',':
			p.at++
		case ']':
			p.at++
			return nil
		default:
			return p.expected("`,` or `]`")
		}
	}
}

// There is nothing but space left.
func (p *parser) end() *Fault {
	if p.peek() != 0 || p.at < len(p.text) {
		return p.expected("the end")
	}
	return nil
}

// A string, whose quote comes next: a part of the message, unless it has escapes.
func (p *parser) str() (string, *Fault) {
	start := p.at + 1
	for i := start; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == '"':
			p.at = i + 1
			return p.text[start:i], nil
		case c == '\\':
			return p.escaped(start, i)
		case c < 0x20:
			p.at = i
			return "", p.expected("no control character in a string")
		}
	}
	p.at = len(p.text)
	return "", p.expected("the end of a string")
}

func (p *parser) escaped(start, at int) (string, *Fault) {
	out := append(make([]byte, 0, at-start+32), p.text[start:at]...)
	for at < len(p.text) {
		switch c := p.text[at]; {
		case c == '"':
			p.at = at + 1
			return string(out), nil
		case c < 0x20:
			p.at = at
			return "", p.expected("no control character in a string")
		case c != '\\':
			out = append(out, c)
			at++
		default:
			character, length := p.escape(at)
			if length == 0 {
				p.at = at
				return "", p.expected("an escape of JSON")
			}
			out = utf8.AppendRune(out, character)
			at += length
		}
	}
	p.at = len(p.text)
	return "", p.expected("the end of a string")
}

// The character of an escape, and how long that is; 0: it is none.
func (p *parser) escape(at int) (rune, int) {
	if at+1 >= len(p.text) {
		return 0, 0
	}
	if short := strings.IndexByte(`"\/bfnrt`, p.text[at+1]); short >= 0 {
		return rune("\"\\/\b\f\n\r\t"[short]), 2
	}
	first, ok := p.unit(at)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(first) {
		return first, 6
	}
	second, ok := p.unit(at + 6)
	if pair := utf16.DecodeRune(first, second); ok && pair != utf8.RuneError {
		return pair, 12
	}
	return 0, 0
}

// The four digits of \u0000.
func (p *parser) unit(at int) (rune, bool) {
	if at+6 > len(p.text) || p.text[at] != '\\' || p.text[at+1] != 'u' {
		return 0, false
	}
	value, err := strconv.ParseUint(p.text[at+2:at+6], 16, 16)
	return rune(value), err == nil && p.text[at+2] != '+' && p.text[at+2] != '-' && p.text[at+2] != '_'
}

// The text of a number, which comes next.
func (p *parser) number() (string, *Fault) {
	start, at := p.at, p.at
	digits := func() bool {
		from := at
		for at < len(p.text) && p.text[at]-'0' <= 9 {
			at++
		}
		return at > from
	}
	if at < len(p.text) && p.text[at] == '-' {
		at++
	}
	whole := at
	good := digits() && (p.text[whole] != '0' || at == whole+1)
	if good && at < len(p.text) && p.text[at] == '.' {
		at++
		good = digits()
	}
	if good && at < len(p.text) && (p.text[at] == 'e' || p.text[at] == 'E') {
		at++
		if at < len(p.text) && (p.text[at] == '+' || p.text[at] == '-') {
			at++
		}
		good = digits()
	}
	p.at = at
	if !good {
		return "", p.expected("a number")
	}
	return p.text[start:at], nil
}

func (p *parser) word(word string) *Fault {
	if !strings.HasPrefix(p.text[p.at:], word) {
		return p.expected("a value")
	}
	p.at += len(word)
	return nil
}

// Whether null comes next; it is read then.
func (p *parser) null() (bool, *Fault) {
	if p.peek() != 'n' {
		return false, nil
	}
	return true, p.word("null")
}

// Reads any value.
func (p *parser) skip(depth int) *Fault {
	if depth > depthMax {
		return p.expected("less nesting")
	}
	switch c := p.peek(); {
	case c == '"':
		_, fault := p.str()
		return fault
	case c == '{':
		return p.object(func(string) *Fault { return p.skip(depth + 1) })
	case c == '[':
		return p.array(func(int) *Fault { return p.skip(depth + 1) })
	case c == 't':
		return p.word("true")
	case c == 'f':
		return p.word("false")
	case c == 'n':
		return p.word("null")
	case c == '-' || c-'0' <= 9:
		_, fault := p.number()
		return fault
	}
	return p.expected("a value")
}

// What comes next is a value of another kind.
func (p *parser) mismatch(wanted string) *Fault {
	p.space()
	start := p.at
	if fault := p.skip(0); fault != nil {
		return fault
	}
	return wrong(p.text[start:p.at], wanted)
}

func wrong(found, wanted string) *Fault {
	if utf8.RuneCountInString(found) > shownMax {
		found = string([]rune(found)[:shownMax]) + "…"
	}
	return &Fault{Text: found + " is not " + wanted}
}
