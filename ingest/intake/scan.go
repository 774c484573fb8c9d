package intake

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// maxDepth limits how deeply values nest, including skipped values.
const maxDepth = 256

// scanner reads JSON (RFC 8259) from the front of `data`. Like encoding/json it replaces invalid UTF-8 and lone
// surrogates by U+FFFD; FuzzScan compares scanner with encoding/json.
//
// A returned string shares the memory of `data`, or of `scratch` if it had escape sequences. Both are reused after the
// request, so the encoder copies every string that is stored. When `scratch` grows, it may get new memory. Earlier
// strings still refer to the old memory, which does not change.
type scanner struct {
	data    []byte
	pos     int
	scratch []byte
}

// text returns bytes as a string, without a copy. The bytes must not change while the string is used.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// peek skips white space and returns the next byte without consuming it. At the end of `data` it returns 0. No JSON
// value begins with 0, so callers need no special case for the end.
func (s *scanner) peek() byte {
	for s.pos < len(s.data) {
		c := s.data[s.pos]
		if c > ' ' {
			return c
		}
		if c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			return 0
		}
		s.pos++
	}
	return 0
}

// take consumes the next byte after white space if it is c, and reports whether it was.
func (s *scanner) take(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.pos++
	return true
}

// ended reports whether the rest of `data` is only white space.
func (s *scanner) ended() bool { return s.peek() == 0 && s.pos == len(s.data) }

// more reports whether an open object or array has another element. Call it before each element, with `first` = true
// for the first element. `ok` is false after a syntax error.
func (s *scanner) more(first bool, end byte) (more, ok bool) {
	c := s.peek()
	if c == end {
		s.pos++
		return false, true
	}
	if first {
		return true, true
	}
	if c != ',' {
		return false, false
	}
	s.pos++
	// A comma must be followed by an element, so `[1,]` is an error.
	return true, s.peek() != end
}

// key reads an object member's name and the colon after it.
func (s *scanner) key() (string, bool) {
	if s.peek() != '"' {
		return "", false
	}
	name, ok := s.str()
	return name, ok && s.take(':')
}

const (
	lows  = 0x0101010101010101
	highs = 0x8080808080808080
)

// plain returns the index of the first byte at or after i that is not plain. Plain bytes are ASCII characters except
// quotes, backslashes and control characters.
func plain(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		quote := x ^ lows*'"'
		slash := x ^ lows*'\\'
		// Each term sets the high bit of the bytes that are not plain. The subtraction's borrow can also mark a plain
		// byte, but only after a byte that is correctly marked. So the first mark is always correct.
		marks := (x | (x-lows*0x20)&^x | (quote-lows)&^quote | (slash-lows)&^slash) & highs
		if marks != 0 {
			return i + bits.TrailingZeros64(marks)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < 0x20 || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

// str reads the string at the scanner's position. The caller has checked that the next byte is the opening quote.
func (s *scanner) str() (string, bool) {
	start := s.pos + 1
	for i := start; ; {
		i = plain(s.data, i)
		if i >= len(s.data) {
			return "", false
		}
		switch c := s.data[i]; {
		case c == '"':
			s.pos = i + 1
			return text(s.data[start:i]), true
		case c == '\\':
			return s.unescape(start, i)
		case c < 0x20:
			return "", false
		default:
			r, size := utf8.DecodeRune(s.data[i:])
			if r == utf8.RuneError && size == 1 {
				return s.unescape(start, i)
			}
			i += size
		}
	}
}

// unescape copies a string to `scratch` and decodes its escape sequences. data[start:i] has no escape sequence.
func (s *scanner) unescape(start, i int) (string, bool) {
	from := len(s.scratch)
	s.scratch = append(s.scratch, s.data[start:i]...)
	for {
		next := plain(s.data, i)
		s.scratch = append(s.scratch, s.data[i:next]...)
		i = next
		if i >= len(s.data) {
			return "", false
		}
		switch c := s.data[i]; {
		case c == '"':
			s.pos = i + 1
			return text(s.scratch[from:]), true
		case c < 0x20:
			return "", false
		case c != '\\':
			r, size := utf8.DecodeRune(s.data[i:])
			s.scratch = utf8.AppendRune(s.scratch, r)
			i += size
		default:
			size := s.escape(i)
			if size == 0 {
				return "", false
			}
			i += size
		}
	}
}

// escape appends the character of the escape sequence at i. It returns the sequence's length, or 0 if the sequence is
// invalid.
func (s *scanner) escape(i int) int {
	if i+1 >= len(s.data) {
		return 0
	}
	var c byte
	switch s.data[i+1] {
	case '"', '\\', '/':
		c = s.data[i+1]
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		r, ok := s.hex(i + 2)
		if !ok {
			return 0
		}
		size := 6
		if utf16.IsSurrogate(r) {
			low, ok := s.hex(i + 8)
			if pair := utf16.DecodeRune(r, low); ok && s.data[i+6] == '\\' && s.data[i+7] == 'u' && pair != utf8.RuneError {
				r, size = pair, 12
			} else {
				r = utf8.RuneError
			}
		}
		s.scratch = utf8.AppendRune(s.scratch, r)
		return size
	default:
		return 0
	}
	s.scratch = append(s.scratch, c)
	return 2
}

// hex reads four hexadecimal digits.
func (s *scanner) hex(i int) (r rune, ok bool) {
	if i+4 > len(s.data) {
		return 0, false
	}
	for _, c := range s.data[i : i+4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// word reads a literal name (true, false or null).
func (s *scanner) word(w string) bool {
	if len(s.data)-s.pos < len(w) || string(s.data[s.pos:s.pos+len(w)]) != w {
		return false
	}
	s.pos += len(w)
	return true
}

// number reads a number and returns its text.
func (s *scanner) number() (string, bool) {
	start := s.pos
	digits := func() bool {
		from := s.pos
		for s.pos < len(s.data) && s.data[s.pos]-'0' <= 9 {
			s.pos++
		}
		return s.pos > from
	}
	at := func(a, b byte) bool {
		if s.pos < len(s.data) && (s.data[s.pos] == a || s.data[s.pos] == b) {
			s.pos++
			return true
		}
		return false
	}
	at('-', '-')
	if !at('0', '0') && !digits() {
		return "", false
	}
	if at('.', '.') && !digits() {
		return "", false
	}
	if at('e', 'E') {
		at('+', '-')
		if !digits() {
			return "", false
		}
	}
	return text(s.data[start:s.pos]), true
}

// skip reads a value of any type. It checks the syntax and does not store the value.
func (s *scanner) skip(depth int) bool {
	switch c := s.peek(); c {
	case '"':
		return s.skipString()
	case '{', '[':
		s.pos++
		if depth >= maxDepth {
			return false
		}
		for first := true; ; first = false {
			more, ok := s.more(first, c+2) // '}' is '{'+2, ']' is '['+2
			if !ok || !more {
				return ok
			}
			if c == '{' && !(s.skipString() && s.take(':')) {
				return false
			}
			if !s.skip(depth + 1) {
				return false
			}
		}
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	default:
		_, ok := s.number()
		return ok
	}
}

// skipString reads a string and does not store it.
func (s *scanner) skipString() bool {
	if s.peek() != '"' {
		return false
	}
	kept := len(s.scratch)
	_, ok := s.str()
	s.scratch = s.scratch[:kept]
	return ok
}
