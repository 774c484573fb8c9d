package query

import (
	"errors"
	"hash/fnv"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// A cursor names the last row of a page by what rows are ordered by. It also holds
// the time at which the first page was asked for, so that a preset's range stays
// the same, and a hash of the plan, so that it does not work with another request.

const cursorList = "aggregate/"

// cursorTime gives the time that a request's presets end at: that of its cursor,
// if it has one.
func cursorTime(site string, r request, now time.Time) (at time.Time, keys []string, err error) {
	if r.cursor == nil || *r.cursor == "" {
		return now, nil, nil
	}
	keys, err = schema.PageKeys(cursorList+site, *r.cursor, 0)
	if err != nil || len(keys) < 2 {
		return now, nil, errCursor()
	}
	millis, err := strconv.ParseInt(keys[0], 10, 64)
	if at = time.UnixMilli(millis).UTC(); err != nil || at.After(ceil(now)) {
		return now, nil, errCursor()
	}
	return at, keys[1:], nil
}

func errCursor() error { return schema.Invalid("cursor", "is not a cursor of this request") }

// mark tells the plans of different requests apart. The pages of a request may
// differ in their limits.
func (p plan) mark() string {
	p.limit, p.after = 0, nil
	h := fnv.New64a()
	_, _ = h.Write([]byte(p.String())) // a hash never fails to write
	return strconv.FormatUint(h.Sum64(), 36)
}

// continued is the plan of the rows after a cursor, whose keys are the plan's mark
// and a key for each term of the order.
func (p plan) continued(keys []string) (plan, error) {
	if keys == nil {
		return p, nil
	}
	if keys[0] != p.mark() || len(keys) != 1+len(p.order) {
		return p, errCursor()
	}
	for i, t := range p.order {
		value, err := parseKey(t.key(), keys[1+i])
		if err != nil {
			return p, errCursor()
		}
		p.after = append(p.after, value)
	}
	return p, nil
}

// cursor continues after the row whose keys were scanned into targets.
func (p plan) cursor(targets []any) string {
	keys := []string{strconv.FormatInt(p.now.UnixMilli(), 10), p.mark()}
	for _, target := range targets {
		keys = append(keys, keyText(target))
	}
	return schema.PageToken(cursorList+p.site, keys...)
}

// key is a pointer to scan what the term sorts by into.
func (t term) key() any {
	if t.column.Rank != nil {
		return t.column.Rank.New()
	}
	return t.column.Value.New()
}

// rank reads what the term sorts by, given its column's alias.
func (t term) rank(value sqltree.Expr) sqltree.Expr {
	if t.column.Rank != nil {
		return t.column.Rank.Of(value)
	}
	return value
}

// keyText writes a key. Those of tuples are their leading texts: the rest of a place
// follows from its cell.
func keyText(target any) string {
	switch v := target.(type) {
	case *string:
		return *v
	case *uint64:
		return strconv.FormatUint(*v, 10)
	case *int64:
		return strconv.FormatInt(*v, 10)
	case *uint8:
		return strconv.Itoa(int(*v))
	case *time.Time:
		return strconv.FormatInt(v.UnixMilli(), 10)
	case *[]any:
		text, _ := json.Marshal(leadingTexts(*v)) // texts always marshal
		return string(text)
	}
	return ""
}

func leadingTexts(tuple []any) (texts []string) {
	for _, e := range tuple {
		s, ok := e.(string)
		if !ok {
			break
		}
		texts = append(texts, s)
	}
	return texts
}

// sortKey is a key as a parameter.
type sortKey struct {
	of    func(value sqltree.Expr) sqltree.Expr // the part of the value that is compared; nil for all
	typ   sqltree.Type
	value any
}

var errKey = errors.New("is not a key")

// parseKey reads what keyText wrote for a target of the same type.
func parseKey(target any, text string) (k sortKey, err error) {
	switch target.(type) {
	case *string:
		k.typ, k.value = sqltree.T("String"), text
	case *uint64:
		k.typ = sqltree.T("UInt64")
		k.value, err = strconv.ParseUint(text, 10, 64)
	case *int64:
		k.typ = sqltree.T("Int64")
		k.value, err = strconv.ParseInt(text, 10, 64)
	case *uint8:
		k.typ = sqltree.T("UInt8")
		k.value, err = strconv.ParseUint(text, 10, 8)
	case *time.Time:
		var millis int64
		millis, err = strconv.ParseInt(text, 10, 64)
		k.typ, k.value = insights.TimeType(), insights.FormatTime(time.UnixMilli(millis))
	case *[]any:
		var texts []string
		err = json.Unmarshal([]byte(text), &texts)
		switch len(texts) {
		case 1:
			k.typ, k.value = sqltree.T("String"), texts[0]
			k.of = func(value sqltree.Expr) sqltree.Expr { return sqltree.Call("tupleElement", value, sqltree.Int(1)) }
		case 2:
			k.typ, k.value = sqltree.T("Tuple(String,String)"), sqltree.Tuple{texts[0], texts[1]}
		default:
			err = errKey
		}
	}
	return k, err
}

// following is the condition "the row comes after the keys in this order", where
// ranks read what the order's terms sort by.
func following(order []term, after []sortKey, ranks []sqltree.Expr) sqltree.Expr {
	rest := sqltree.Int(0)
	for i := len(order) - 1; i >= 0; i-- {
		k, value, beyond := after[i], ranks[i], sqltree.Gt
		if order[i].desc {
			beyond = sqltree.Lt
		}
		if k.of != nil {
			value = k.of(value)
		}
		key := func() sqltree.Expr { return sqltree.Param(k.typ, k.value) }
		rest = sqltree.AnyOf(sqltree.Bin(beyond, value, key()), sqltree.AllOf(sqltree.Bin(sqltree.Eq, value, key()), rest))
	}
	return rest
}
