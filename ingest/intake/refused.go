package intake

import (
	"bytes"

	"github.com/octavo-docs/octavo/schema/insights"
)

// refusedEvents is how many events the body has that request refused with err.
// It takes up where the decoder stopped: nothing but the bad event is read
// twice.
func (d *decoder) refusedEvents(err *insights.Refusal) int {
	switch {
	case d.current == outside:
		return d.index
	case err.Reason == insights.NotJSON:
		return d.index + 1 // the one that cannot be read is one
	}
	return d.index + countElements(d.data[d.current:])
}

// countElements counts an array's elements from the first one in data to the
// array's end. It looks for what separates them and checks nothing else.
func countElements(data []byte) int {
	count, depth := 1, 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			if i = endOfString(data, i); i < 0 {
				return count
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return count
			}
			depth--
		case ',':
			if depth == 0 {
				count++
			}
		}
	}
	return count
}

// endOfString finds the quote that ends the string that begins at start, -1 if
// none does.
func endOfString(data []byte, start int) int {
	for i := start + 1; ; i++ {
		n := bytes.IndexByte(data[i:], '"')
		if n < 0 {
			return -1
		}
		i += n
		before := i
		for data[before-1] == '\\' {
			before--
		}
		if (i-before)%2 == 0 {
			return i
		}
	}
}
