package intake

import (
	"math"
	"strconv"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// These are the limits of sent values, in bytes after unescaping. The filters of queries accept values of up to the
// same lengths.
const (
	maxID      = 256
	maxText    = 8192
	maxToken   = 1 << 16
	maxComment = 512 // largest number of characters, not of bytes

	maxClaims     = 100
	maxClaimName  = 256 // length of a claim's name with the names of the objects that contain it
	maxClaimBytes = 16 << 10
	maxClaimDepth = 8
)

const maxEvents = insights.MaxMessageEvents

var displaySite, _ = insights.DisplayContexts.Code("site")

func itoa(n int) string { return strconv.Itoa(n) }

func wordList(e *insights.Enum) string { return strings.Join(e.Words(), ", ") }

// fail returns the refusal of a request for a problem of its current event.
func (d *decoder) fail(reason *insights.Reason, field, problem string) *insights.Refusal {
	return insights.RefuseEvent(reason, d.index, field, problem)
}

func (d *decoder) missing(field string) *insights.Refusal {
	return d.fail(insights.MissingField, field, "is required")
}

// wrongType returns the refusal of a value of the wrong JSON type. It reads the value first. If the value is not valid
// JSON, the refusal is about the syntax.
func (d *decoder) wrongType(field, problem string) *insights.Refusal {
	if !d.skip(4) {
		return d.syntax("")
	}
	return d.fail(insights.InvalidField, field, problem)
}

// syntax returns the refusal of the whole body. If `problem` is empty, it describes a syntax error at the scanner's
// position.
func (d *decoder) syntax(problem string) *insights.Refusal {
	if problem == "" {
		problem = schema.NotJSON(d.data, int64(d.pos))
	}
	e := insights.Refuse(insights.NotJSON, "", problem)
	e.Message = "the body " + problem
	return e
}

// object consumes an opening brace, and `open` is true. `null` counts as an object without members, and `open` is
// false.
func (d *decoder) object(field string) (open bool, err *insights.Refusal) {
	switch d.peek() {
	case '{':
		d.pos++
		return true, nil
	case 'n':
		if !d.word("null") {
			return false, d.syntax("")
		}
		return false, nil
	}
	return false, d.wrongType(field, "must be an object")
}

// str reads a string of at most `limit` bytes. It stores "" for null, as for an absent member.
func (d *decoder) str(dst *string, field string, limit int) *insights.Refusal {
	switch d.peek() {
	case '"':
		s, ok := d.scanner.str()
		if !ok {
			return d.syntax("")
		}
		if len(s) > limit {
			return d.fail(insights.TooLong, field, "must have at most "+itoa(limit)+" bytes")
		}
		*dst = s
		return nil
	case 'n':
		if !d.word("null") {
			return d.syntax("")
		}
		*dst = ""
		return nil
	}
	return d.wrongType(field, "must be a string")
}

// shortStr reads a string of at most maxID bytes, for example an id, a word or a language.
func (d *decoder) shortStr(dst *string, field string) *insights.Refusal {
	return d.str(dst, field, maxID)
}

// nonEmpty reads a string that may be null or absent, but must not be empty.
func (d *decoder) nonEmpty(dst *string, field string, limit int) *insights.Refusal {
	sent := d.peek() == '"'
	err := d.str(dst, field, limit)
	if err == nil && sent && *dst == "" {
		return d.fail(insights.InvalidField, field, "must not be empty")
	}
	return err
}

// url reads an absolute URL; "" and null mean no URL.
func (d *decoder) url(dst *string, field string) *insights.Refusal {
	if err := d.str(dst, field, maxText); err != nil {
		return err
	}
	if *dst != "" && !absolute(*dst) {
		return d.fail(insights.InvalidField, field, "must be an absolute URL such as https://docs.example.com/page")
	}
	return nil
}

// enum reads a word of an enumeration. It stores 0 for null, as for an absent member.
func (d *decoder) enum(dst *insights.Code, set *insights.Enum, field string) *insights.Refusal {
	var word string
	sent := d.peek() == '"'
	if d.peek() != '"' && d.peek() != 'n' {
		return d.wrongType(field, "must be one of "+wordList(set))
	}
	if err := d.shortStr(&word, field); err != nil {
		return err
	}
	code, ok := set.Code(word)
	if sent && !ok {
		return d.fail(insights.InvalidField, field, "must be one of "+wordList(set))
	}
	*dst = code
	return nil
}

// measured reads an integer from `least` to `most`. It accepts every JSON notation of the integer, for example 1e2 for
// 100. It stores 0 for null, as for an absent member.
func (d *decoder) measured(dst *insights.Measured, field string, least, most int) *insights.Refusal {
	c := d.peek()
	if c == 'n' {
		if !d.word("null") {
			return d.syntax("")
		}
		*dst = 0
		return nil
	}
	if c != '-' && (c < '0' || c > '9') {
		return d.wrongType(field, integerProblem(least, most))
	}
	raw, ok := d.number()
	if !ok {
		return d.syntax("")
	}
	n, err := strconv.ParseFloat(raw, 64)
	if err != nil || n != math.Trunc(n) || n < float64(least) || n > float64(most) {
		return d.fail(insights.InvalidField, field, integerProblem(least, most))
	}
	*dst = insights.MeasuredAs(uint32(n))
	return nil
}

func integerProblem(least, most int) string {
	return "must be an integer from " + itoa(least) + " to " + itoa(most)
}

// absolute reports whether s starts with a URL scheme. It checks nothing else, because every address that a browser
// shows should be counted.
func absolute(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c|0x20 >= 'a' && c|0x20 <= 'z':
		case i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
		case c == ':':
			return i > 0 && i+1 < len(s)
		default:
			return false
		}
	}
	return false
}
