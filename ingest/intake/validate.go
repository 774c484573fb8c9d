package intake

import (
	"strconv"
	"strings"

	"github.com/octavo-docs/octavo/schema/insights"
)

// The bounds of what is sent, in bytes after unescaping. Filters of queries
// take values of the same lengths.
const (
	maxID      = 256
	maxText    = 8192
	maxToken   = 1 << 16
	maxComment = 512 // characters

	maxClaims     = 100
	maxClaimName  = 256 // with its path
	maxClaimBytes = 16 << 10
	maxClaimDepth = 8
)

const maxEvents = insights.MaxMessageEvents

var displaySite, _ = insights.DisplayContexts.Code("site")

func itoa(n int) string { return strconv.Itoa(n) }

func words(e *insights.Enum) string { return strings.Join(e.Words(), ", ") }

// fail refuses the current event.
func (d *decoder) fail(reason *insights.Reason, field, problem string) *insights.Refusal {
	return insights.RefuseEvent(reason, d.index, field, problem)
}

func (d *decoder) missing(field string) *insights.Refusal {
	return d.fail(insights.MissingField, field, "is required")
}

// wrong refuses a value of the wrong shape. The value is skipped first, since
// a body that is no JSON at all is refused as that.
func (d *decoder) wrong(field, problem string) *insights.Refusal {
	if !d.skip(4) {
		return d.syntax("")
	}
	return d.fail(insights.InvalidField, field, problem)
}

// syntax refuses the body. An empty problem is a syntax error at pos.
func (d *decoder) syntax(problem string) *insights.Refusal {
	if problem == "" {
		problem = "is not valid JSON near byte " + itoa(min(d.pos, len(d.data)))
	}
	e := insights.Refuse(insights.NotJSON, "", problem)
	e.Message = "the body " + problem
	return e
}

// object takes an opening brace; null is an object without members.
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
	return false, d.wrong(field, "must be an object")
}

// str reads a string of at most limit bytes; null is the same as absent, "".
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
	return d.wrong(field, "must be a string")
}

// str255 reads what is short by nature: ids, words, languages.
func (d *decoder) str255(dst *string, field string) *insights.Refusal {
	return d.str(dst, field, maxID)
}

// id reads an id that must not be empty; null is found missing later.
func (d *decoder) id(dst *string, field string) *insights.Refusal {
	empty := d.peek() == '"'
	if err := d.str(dst, field, maxID); err != nil {
		return err
	}
	if empty && *dst == "" {
		return d.fail(insights.InvalidField, field, "must not be empty")
	}
	return nil
}

// url reads an absolute URL, or "" or null for none.
func (d *decoder) url(dst *string, field string) *insights.Refusal {
	if err := d.str(dst, field, maxText); err != nil {
		return err
	}
	if *dst != "" && !absolute(*dst) {
		return d.fail(insights.InvalidField, field, "must be an absolute URL such as https://docs.example.com/page")
	}
	return nil
}

// enum reads a word of a set; null is the same as absent, 0.
func (d *decoder) enum(dst *insights.Code, set *insights.Enum, field string) *insights.Refusal {
	var word string
	sent := d.peek() == '"'
	if d.peek() != '"' && d.peek() != 'n' {
		return d.wrong(field, "must be one of "+words(set))
	}
	if err := d.str255(&word, field); err != nil {
		return err
	}
	code, ok := set.Code(word)
	if sent && !ok {
		return d.fail(insights.InvalidField, field, "must be one of "+words(set))
	}
	*dst = code
	return nil
}

// absolute reports whether s starts as a URL with a scheme does. It is not
// stricter, since what a browser shows as its address is worth counting.
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
