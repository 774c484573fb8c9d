package join

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
)

// value is a text, a word, a ref, an array or a dict.
type (
	value any
	// text is a string as it is in the file, with its brackets.
	text []byte
	// word is a number, a name with its slash, or a keyword.
	word  string
	ref   int
	array []value
	dict  []entry
	entry struct {
		key   string
		value value
	}
)

func (d dict) get(key string) value {
	for _, e := range d {
		if e.key == key {
			return e.value
		}
	}
	return nil
}

// set replaces a member of a dictionary, or adds it.
func (d dict) set(key string, v value) dict {
	for i := range d {
		if d[i].key == key {
			d[i].value = v
			return d
		}
	}
	return append(d, entry{key, v})
}

func (d dict) without(key string) dict {
	for i := range d {
		if d[i].key == key {
			return append(d[:i:i], d[i+1:]...)
		}
	}
	return d
}

func number(v value) (int, bool) {
	w, ok := v.(word)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(string(w))
	return n, err == nil
}

func numeral(n int) word { return word(strconv.Itoa(n)) }

var errForm = errors.New("join: a part is not in the form that the renderer writes")

// maxNesting bounds the nesting of values.
const maxNesting = 64

// parser reads values from the text of an object.
type parser struct {
	from []byte
	at   int
}

func isBlank(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

func isEnd(c byte) bool { return isBlank(c) || bytes.IndexByte([]byte("()<>[]/%"), c) >= 0 }

func (p *parser) blanks() {
	for p.at < len(p.from) {
		switch c := p.from[p.at]; {
		case isBlank(c):
			p.at++
		case c == '%':
			for p.at < len(p.from) && p.from[p.at] != '\n' && p.from[p.at] != '\r' {
				p.at++
			}
		default:
			return
		}
	}
}

// eat advances over the text `what` if this text comes next. It reports whether the text came next.
func (p *parser) eat(what string) bool {
	p.blanks()
	if !bytes.HasPrefix(p.from[p.at:], []byte(what)) {
		return false
	}
	p.at += len(what)
	return true
}

func (p *parser) value(depth int) (value, error) {
	p.blanks()
	if p.at >= len(p.from) || depth > maxNesting {
		return nil, errForm
	}
	switch {
	case p.eat("<<"):
		return p.dict(depth)
	case p.eat("["):
		made := array{}
		for !p.eat("]") {
			v, err := p.value(depth + 1)
			if err != nil {
				return nil, err
			}
			made = append(made, v)
		}
		return made, nil
	case p.from[p.at] == '(' || p.from[p.at] == '<':
		return p.text()
	}
	w := p.word()
	if w == "" {
		return nil, fmt.Errorf("%w: %.20q", errForm, p.from[p.at:])
	}
	n, whole := number(w)
	if !whole || n < 0 {
		return w, nil
	}
	// A reference to an object consists of two numbers and an R.
	before := p.at
	if p.blanks(); p.word() == "0" {
		if p.blanks(); p.word() == "R" {
			return ref(n), nil
		}
	}
	p.at = before
	return w, nil
}

func (p *parser) word() word {
	start := p.at
	if p.at < len(p.from) && p.from[p.at] == '/' {
		p.at++
	}
	for p.at < len(p.from) && !isEnd(p.from[p.at]) {
		p.at++
	}
	return word(p.from[start:p.at])
}

func (p *parser) dict(depth int) (value, error) {
	made := dict{}
	for !p.eat(">>") {
		p.blanks()
		key := p.word()
		if len(key) < 2 || key[0] != '/' {
			return nil, errForm
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		made = append(made, entry{string(key[1:]), v})
	}
	return made, nil
}

func (p *parser) text() (value, error) {
	start := p.at
	if p.from[p.at] == '<' {
		n := bytes.IndexByte(p.from[p.at:], '>')
		if n < 0 {
			return nil, errForm
		}
		p.at += n + 1
		return text(p.from[start:p.at]), nil
	}
	for open := 0; p.at < len(p.from); p.at++ {
		switch p.from[p.at] {
		case '\\':
			p.at++
		case '(':
			open++
		case ')':
			if open--; open == 0 {
				p.at++
				return text(p.from[start:p.at]), nil
			}
		}
	}
	return nil, errForm
}

var escapes = map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', 'f': '\f'}

// bytes returns the decoded bytes of a string.
func (t text) bytes() []byte {
	inner := t[1 : len(t)-1]
	if t[0] == '<' {
		digits := bytes.Join(bytes.Fields(inner), nil)
		if len(digits)%2 == 1 {
			digits = append(digits, '0')
		}
		made := make([]byte, len(digits)/2)
		n, _ := hex.Decode(made, digits) // Decode stops at an invalid digit
		return made[:n]
	}
	made := make([]byte, 0, len(inner))
	for i := 0; i < len(inner); i++ {
		c := inner[i]
		if c != '\\' || i+1 == len(inner) {
			made = append(made, c)
			continue
		}
		i++
		c = inner[i]
		switch known, ok := escapes[c]; {
		case ok:
			made = append(made, known)
		case c >= '0' && c <= '7':
			code := 0
			for n := 0; n < 3 && i < len(inner) && inner[i] >= '0' && inner[i] <= '7'; n++ {
				code = 8*code + int(inner[i]-'0')
				i++
			}
			i--
			made = append(made, byte(code))
		case c != '\n':
			made = append(made, c)
		}
	}
	return made
}

// written returns bytes in the form of a hexadecimal string.
func written(b []byte) text {
	return text(append(hex.AppendEncode([]byte{'<'}, b), '>'))
}

// appendValue writes a value. For a reference, it writes the reference that `to` returns, or null if `to` returns 0.
func appendValue(out []byte, v value, to func(ref) ref) []byte {
	switch v := v.(type) {
	case text:
		return append(out, v...)
	case word:
		return append(out, v...)
	case ref:
		if n := to(v); n != 0 {
			return append(strconv.AppendInt(out, int64(n), 10), " 0 R"...)
		}
		return append(out, "null"...)
	case array:
		out = append(out, '[')
		for i, item := range v {
			if i > 0 {
				out = append(out, ' ')
			}
			out = appendValue(out, item, to)
		}
		return append(out, ']')
	case dict:
		out = append(out, "<<"...)
		for _, e := range v {
			out = append(append(append(out, '/'), e.key...), ' ')
			out = appendValue(out, e.value, to)
		}
		return append(out, ">>"...)
	}
	return append(out, "null"...)
}
