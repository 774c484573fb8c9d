package condition

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/dop251/goja/token"
)

// undefined is JavaScript's undefined, for example the value of a missing member. JavaScript's null is nil in Go.
type undefined struct{}

// evaluation is the state of one evaluation of a condition. If JavaScript would throw an error, the operation sets
// `failed`, and the condition's result is false.
type evaluation struct {
	claims map[string]any
	failed bool
}

func (e *evaluation) fail() any {
	e.failed = true
	return undefined{}
}

// validText replaces lone surrogates, because claims are UTF-8 and cannot contain them.
func validText(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// fromClaim converts a Go value in the claims to a value of the evaluator.
func fromClaim(value any) any {
	switch value := value.(type) {
	case int:
		return float64(value)
	case int32:
		return float64(value)
	case int64:
		return float64(value)
	case uint64:
		return float64(value)
	case float32:
		return float64(value)
	case []string:
		list := make([]any, len(value))
		for i, item := range value {
			list[i] = item
		}
		return list
	case nil, bool, float64, string, []any, map[string]any, undefined:
		return value
	}
	return undefined{}
}

func nullish(value any) bool {
	_, missing := value.(undefined)
	return missing || value == nil
}

func truthy(value any) bool {
	switch value := value.(type) {
	case nil, undefined:
		return false
	case bool:
		return value
	case float64:
		return value != 0 && !math.IsNaN(value)
	case string:
		return value != ""
	}
	return true
}

// member reads an own property of a value. Values inherit no properties, so a property that the value itself does not
// have is undefined.
func member(value any, name string) any {
	switch value := value.(type) {
	case map[string]any:
		if found, ok := value[name]; ok {
			return fromClaim(found)
		}
	case []any:
		if name == "length" {
			return float64(len(value))
		}
		if i, ok := arrayIndex(name); ok && i < len(value) {
			return fromClaim(value[i])
		}
	case string:
		if name == "length" {
			return float64(unitsOf(value))
		}
		units := utf16.Encode([]rune(value))
		if i, ok := arrayIndex(name); ok && i < len(units) {
			return string(utf16.Decode(units[i : i+1]))
		}
	}
	return undefined{}
}

func arrayIndex(name string) (int, bool) {
	i, err := strconv.Atoi(name)
	return i, err == nil && i >= 0 && strconv.Itoa(i) == name
}

// unitsOf is the length of a string in JavaScript: in UTF-16 code units.
func unitsOf(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

var decimal = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$`)

func (e *evaluation) toNumber(value any) float64 {
	switch value := value.(type) {
	case nil:
		return 0
	case bool:
		if value {
			return 1
		}
		return 0
	case float64:
		return value
	case string:
		return stringToNumber(strings.TrimSpace(value))
	case []any, map[string]any:
		e.fail()
	}
	return math.NaN()
}

func stringToNumber(s string) float64 {
	switch {
	case s == "":
		return 0
	case decimal.MatchString(s):
		number, _ := strconv.ParseFloat(s, 64) // if out of range, it is infinite, as in JavaScript
		return number
	case strings.TrimPrefix(s, "+") == "Infinity":
		return math.Inf(1)
	case s == "-Infinity":
		return math.Inf(-1)
	case len(s) > 2 && s[0] == '0' && strings.ContainsRune("xXoObB", rune(s[1])) && !strings.Contains(s, "_"):
		if number, err := strconv.ParseUint(s, 0, 64); err == nil {
			return float64(number)
		}
	}
	return math.NaN()
}

func (e *evaluation) toString(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case undefined:
		return "undefined"
	case bool:
		return strconv.FormatBool(value)
	case string:
		return value
	case float64:
		return numberToString(value)
	}
	e.fail()
	return ""
}

func numberToString(n float64) string {
	switch size := math.Abs(n); {
	case n == 0:
		return "0"
	case math.IsInf(n, 1):
		return "Infinity"
	case math.IsInf(n, -1):
		return "-Infinity"
	case math.IsNaN(n) || size >= 1e-6 && size < 1e21:
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(n, 'e', -1, 64), "e")
	return mantissa + "e" + exponent[:1] + strings.TrimLeft(exponent[1:], "0")
}

// strictly implements the operator ===. Arrays and objects are never equal, even to themselves, because values have no
// identity in this package.
func strictly(a, b any) bool {
	switch a := a.(type) {
	case nil:
		return b == nil
	case undefined:
		_, ok := b.(undefined)
		return ok
	case bool:
		other, ok := b.(bool)
		return ok && a == other
	case float64:
		other, ok := b.(float64)
		return ok && a == other
	case string:
		other, ok := b.(string)
		return ok && a == other
	}
	return false
}

// loosely implements the operator ==.
func loosely(e *evaluation, a, b any) bool {
	switch {
	case nullish(a) || nullish(b):
		return nullish(a) && nullish(b)
	case compound(a) || compound(b):
		return false
	case sameKind(a, b):
		return strictly(a, b)
	}
	return e.toNumber(a) == e.toNumber(b)
}

func compound(value any) bool {
	switch value.(type) {
	case []any, map[string]any:
		return true
	}
	return false
}

func sameKind(a, b any) bool {
	_, aText := a.(string)
	_, bText := b.(string)
	_, aBool := a.(bool)
	_, bBool := b.(bool)
	return aText == bText && aBool == bBool
}

// compare returns the order of two values. It returns false if the values have no order.
func (e *evaluation) compare(a, b any) (int, bool) {
	x, xText := a.(string)
	y, yText := b.(string)
	if xText && yText {
		return slices.Compare(utf16.Encode([]rune(x)), utf16.Encode([]rune(y))), true
	}
	m, n := e.toNumber(a), e.toNumber(b)
	switch {
	case m < n:
		return -1, true
	case m > n:
		return 1, true
	}
	return 0, m == n
}

// unaries has a row for each operator with one operand.
var unaries = map[token.Token]func(e *evaluation, value any) any{
	token.NOT:   func(_ *evaluation, value any) any { return !truthy(value) },
	token.MINUS: func(e *evaluation, value any) any { return -e.toNumber(value) },
	token.PLUS:  func(e *evaluation, value any) any { return e.toNumber(value) },
}

// binaries has a row for each operator that evaluates both of its operands.
var binaries = map[token.Token]func(e *evaluation, a, b any) any{
	token.EQUAL:            func(e *evaluation, a, b any) any { return loosely(e, a, b) },
	token.NOT_EQUAL:        func(e *evaluation, a, b any) any { return !loosely(e, a, b) },
	token.STRICT_EQUAL:     func(_ *evaluation, a, b any) any { return strictly(a, b) },
	token.STRICT_NOT_EQUAL: func(_ *evaluation, a, b any) any { return !strictly(a, b) },
	token.LESS:             func(e *evaluation, a, b any) any { order, ok := e.compare(a, b); return ok && order < 0 },
	token.LESS_OR_EQUAL:    func(e *evaluation, a, b any) any { order, ok := e.compare(a, b); return ok && order <= 0 },
	token.GREATER:          func(e *evaluation, a, b any) any { order, ok := e.compare(a, b); return ok && order > 0 },
	token.GREATER_OR_EQUAL: func(e *evaluation, a, b any) any { order, ok := e.compare(a, b); return ok && order >= 0 },
	token.PLUS:             add,
	token.MINUS:            func(e *evaluation, a, b any) any { return e.toNumber(a) - e.toNumber(b) },
	token.MULTIPLY:         func(e *evaluation, a, b any) any { return e.toNumber(a) * e.toNumber(b) },
	token.SLASH:            func(e *evaluation, a, b any) any { return e.toNumber(a) / e.toNumber(b) },
	token.REMAINDER:        func(e *evaluation, a, b any) any { return math.Mod(e.toNumber(a), e.toNumber(b)) },
	token.IN:               in,
}

func add(e *evaluation, a, b any) any {
	_, aText := a.(string)
	_, bText := b.(string)
	if aText || bText {
		return e.toString(a) + e.toString(b)
	}
	return e.toNumber(a) + e.toNumber(b)
}

func in(e *evaluation, key, value any) any {
	name := e.toString(key)
	switch value := value.(type) {
	case map[string]any:
		_, ok := value[name]
		return ok
	case []any:
		i, ok := arrayIndex(name)
		return ok && i < len(value) || name == "length"
	}
	return e.fail()
}

// method is a function of a value.
type method struct {
	arguments int
	call      func(e *evaluation, on, argument any) any
}

// methods has a row for each method.
var methods = map[string]method{
	"includes":    {1, func(e *evaluation, on, argument any) any { return e.find(on, argument, true) >= 0 }},
	"indexOf":     {1, func(e *evaluation, on, argument any) any { return float64(e.find(on, argument, false)) }},
	"startsWith":  {1, ofStrings(func(s, argument string) any { return strings.HasPrefix(s, argument) })},
	"endsWith":    {1, ofStrings(func(s, argument string) any { return strings.HasSuffix(s, argument) })},
	"toLowerCase": {0, ofStrings(func(s, _ string) any { return strings.ToLower(s) })},
	"toUpperCase": {0, ofStrings(func(s, _ string) any { return strings.ToUpper(s) })},
}

func ofStrings(f func(s, argument string) any) func(e *evaluation, on, argument any) any {
	return func(e *evaluation, on, argument any) any {
		s, ok := on.(string)
		if !ok {
			return e.fail()
		}
		return f(s, e.toString(argument))
	}
}

// find returns the index of a value in an array or of a text in a text, or -1. If `nan` is true, `find` matches NaN in
// an array, as JavaScript's method `includes` does and `indexOf` does not.
func (e *evaluation) find(on, wanted any, nan bool) int {
	switch on := on.(type) {
	case string:
		i := strings.Index(on, e.toString(wanted))
		if i > 0 {
			i = unitsOf(on[:i])
		}
		return i
	case []any:
		n, isNumber := wanted.(float64)
		return slices.IndexFunc(on, func(item any) bool {
			item = fromClaim(item)
			other, ok := item.(float64)
			return strictly(item, wanted) || nan && isNumber && ok && math.IsNaN(n) && math.IsNaN(other)
		})
	}
	e.fail()
	return -1
}
