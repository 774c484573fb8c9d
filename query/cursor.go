package query

import (
	"hash/fnv"
	"strconv"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/schema/sqltree"
)

// A cursor names the last row of a page by what rows are ordered by. It also holds
// the time at which the first page was asked for, so that a preset's range stays
// the same, a hash of the plan, so that it does not work with another request, and how
// different values were counted: counts of other pages would be in another order.

const cursorList = "aggregate/"

// cursorTime gives the time that a request's presets end at, in whole milliseconds:
// that of its cursor, if it has one, else now.
func cursorTime(site string, r request, now time.Time) (at time.Time, keys []string, err error) {
	if r.cursor == nil || *r.cursor == "" {
		return now, nil, nil
	}
	keys, err = schema.PageKeys(cursorList+site, *r.cursor, 0)
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

// hash tells the plans of different requests apart. The pages of a request may
// differ in their limits.
func (p plan) hash() string {
	p.limit = 0
	h := fnv.New64a()
	_, _ = h.Write([]byte(p.String())) // a hash never fails to write
	return strconv.FormatUint(h.Sum64(), 36)
}

// continued is the plan of the rows after a cursor, whose keys are the plan's mark, how
// it counted, and a key for each term of the order.
func (p plan) continued(keys []string) (plan, error) {
	if keys == nil {
		return p, nil
	}
	if len(keys) != 2+len(p.order) || keys[0] != p.mark {
		return p, errCursor()
	}
	counting, err := strconv.Atoi(keys[1])
	_, estimate := errorBounds[insights.Counting(counting)]
	if err != nil || counting != int(insights.CountExact) && (!estimate || p.exact) {
		return p, errCursor()
	}
	p.env.Counting, p.counted = insights.Counting(counting), true
	for i, t := range p.order {
		value, ok := parseKey(t.key(), keys[2+i])
		if !ok {
			return p, errCursor()
		}
		p.after = append(p.after, value)
	}
	return p, nil
}

// cursor continues after the row whose keys were scanned into targets.
func (p plan) cursor(targets []any) string {
	keys := []string{strconv.FormatInt(p.now.UnixMilli(), 10), p.mark, strconv.Itoa(int(p.env.Counting))}
	for _, target := range targets {
		keys = append(keys, keyText(target))
	}
	return schema.PageToken(cursorList+p.site, keys...)
}

// keyText writes a key.
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

// tupleKey names a list of texts inside a key.
const tupleKey = "tuple"

// leadingTexts are what tells tuples apart: the rest of a place follows from its cell.
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

// parseKey reads what keyText wrote for a target of the same type.
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
	case *[]any: // of a pair of texts: other tuples are ranked
		var texts []string
		texts, err = schema.PageKeys(tupleKey, text, 2)
		if len(texts) != 2 {
			return k, false
		}
		k.typ, k.value = sqltree.TupleOf(sqltree.T("String"), sqltree.T("String")), sqltree.Tuple{texts[0], texts[1]}
	}
	return k, err == nil
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
		key := func() sqltree.Expr { return sqltree.Param(k.typ, k.value) }
		rest = sqltree.AnyOf(sqltree.Bin(beyond, value, key()), sqltree.AllOf(sqltree.Bin(sqltree.Eq, value, key()), rest))
	}
	return rest
}
