package query

import (
	"hash/fnv"
	"strconv"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// A cursor identifies the last row of a page by its sort keys. It also has the time of the request for the first page.
// So a preset's range is the same on all pages. A hash of the plan prevents the use of the cursor with another request.
// A cursor also records the counting method for distinct values, because another method could order the rows
// differently.

const cursorList = "aggregate/"

// cursorTime returns the time at which a request's presets end, in whole milliseconds. It is the cursor's time, or
// `now` without a cursor. `keys` are the cursor's other keys, at least one. Without a cursor, `keys` is nil.
func cursorTime(list, cursor string, now time.Time) (at time.Time, keys []string, err error) {
	if cursor == "" {
		return now, nil, nil
	}
	keys, err = schema.PageKeys(list, cursor, 0)
	if err != nil || len(keys) < 2 {
		return now, nil, errCursor()
	}
	millis, err := strconv.ParseInt(keys[0], 10, 64)
	if at = time.UnixMilli(millis).UTC(); err != nil || at.After(now) {
		return now, nil, errCursor()
	}
	return at, keys[1:], nil
}

func errCursor() error { return schema.Invalid("cursor", "is not a cursor of this request") }

// hash returns a hash that differs between the plans of different requests. It leaves out the limit, because the pages
// of one request may have different limits.
func (p plan) hash() string {
	p.limit = 0
	return hashOf(p.String())
}

func hashOf(description string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(description)) // writing to a hash never fails
	return strconv.FormatUint(h.Sum64(), 36)
}

// countedAs makes the plan use the previous page's counting method. `text` is a cursor's text.
func (p *plan) countedAs(text string) error {
	counting, err := strconv.Atoi(text)
	_, estimate := errorBounds[insights.Counting(counting)]
	if err != nil || counting != int(insights.CountExact) && (!estimate || p.exact) {
		return errCursor()
	}
	p.env.Counting, p.counted = insights.Counting(counting), true
	return nil
}

// continued returns the plan of the rows after a cursor. `keys` are the plan's mark (a hash), its counting method, and
// a key for each term of the order.
func (p plan) continued(keys []string) (plan, error) {
	if keys == nil {
		return p, nil
	}
	if len(keys) != 2+len(p.order) || keys[0] != p.mark {
		return p, errCursor()
	}
	if err := p.countedAs(keys[1]); err != nil {
		return p, err
	}
	for i, t := range p.order {
		value, ok := parseKey(t.key(), keys[2+i])
		if !ok {
			return p, errCursor()
		}
		p.after = append(p.after, value)
	}
	return p, nil
}

// cursor returns the cursor that continues after the row whose keys were scanned into `targets`.
func (p plan) cursor(targets []any) string {
	keys := []string{strconv.FormatInt(p.now.UnixMilli(), 10), p.mark, strconv.Itoa(int(p.env.Counting))}
	for _, target := range targets {
		keys = append(keys, keyText(target))
	}
	return schema.PageToken(cursorList+p.site, keys...)
}

// keyText writes a sort key as text.
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
		return schema.PageToken(tupleKey, leadingTexts(*v)...)
	}
	return ""
}

// tupleKey is the list name in a page token. A sort key that is a tuple is encoded as a page token of its leading
// texts.
const tupleKey = "tuple"

// leadingTexts returns a tuple's leading texts, which identify the tuple. The first text of a geographic point is its
// H3 cell, which determines the point's other elements.
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

// parseKey parses the text that keyText wrote for a target of the same type.
func parseKey(target any, text string) (k sortKey, ok bool) {
	var err error
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
		t := time.UnixMilli(millis)
		if first, last := insights.TimeBounds(); t.Before(first.Add(-insights.BucketReach)) || t.After(last.Add(insights.BucketReach)) {
			return k, false
		}
		k.typ, k.value = insights.TimeType(), insights.FormatTime(t)
	case *[]any: // a pair of texts; other tuples sort by their rank
		var texts []string
		texts, err = schema.PageKeys(tupleKey, text, 2)
		if len(texts) != 2 {
			return k, false
		}
		k.typ, k.value = sqltree.TupleOf(sqltree.T("String"), sqltree.T("String")), sqltree.Tuple{texts[0], texts[1]}
	}
	return k, err == nil
}

// following returns the condition that a row comes after the keys in this order. `ranks` are the expressions that the
// order's terms sort by.
func following(order []term, after []sortKey, ranks []sqltree.Expr) sqltree.Expr {
	rest := sqltree.Int(0)
	for i := len(order) - 1; i >= 0; i-- {
		k, value, beyond := after[i], ranks[i], sqltree.Gt
		if order[i].desc {
			beyond = sqltree.Lt
		}
		key := func() sqltree.Expr { return sqltree.Param(k.typ, k.value) }
		rest = sqltree.AnyOf(sqltree.Bin(beyond, value, key()), sqltree.AllOf(sqltree.Bin(sqltree.Eq, value, key()), rest))
	}
	return rest
}
