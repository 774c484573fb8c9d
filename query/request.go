package query

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// Bounds of one request. They keep the statement small; the engine's own
// limits keep its work small.
const (
	maxColumns = 50    // entries of select, and of groupBy
	maxFilters = 100   // entries of where
	maxValues  = 10000 // values of all filters together
	maxDepth   = 16    // nesting of the body
	maxLimit   = 1000  // rows of a result
)

// request is an aggregate request: well-formed, but its names mean nothing yet.
type request struct {
	selects, groups []columnRequest
	filters         []filterRequest
	order           *orderRequest
	bounds          rangeRequest
	limit           int
}

type columnRequest struct {
	node
	name   string
	extras map[string]node
}

type filterRequest struct {
	columnRequest
	operator *node // nil if absent
	values   []node
}

type orderRequest struct {
	by        columnRequest
	direction *node
}

// rangeRequest is a preset, or from and to.
type rangeRequest struct {
	node
	preset   string
	from, to node
}

// node is one JSON value of the body and the path to it.
type node struct {
	path string
	raw  json.RawMessage
}

func (n node) invalid(problem string, allowed ...string) error {
	return schema.Invalid(n.path, problem, allowed...)
}

// refuse is the answer to a value that the column table does not take.
func (n node) refuse(err error) error {
	if e, ok := errors.AsType[*insights.MemberError](err); ok {
		return unknownMember(n.path, e.Member, e.Known)
	}
	if e, ok := errors.AsType[*insights.WordError](err); ok {
		return n.invalid(unknown(e.What, e.Word, e.Known), e.Known...)
	}
	return n.invalid(err.Error())
}

func (n node) isNull() bool { return string(bytes.TrimSpace(n.raw)) == "null" }

// object reads an object's members. Members that are null are left out: null
// is how many clients say "absent".
func (n node) object(known ...string) (map[string]node, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(n.raw, &raw); err != nil || raw == nil {
		return nil, n.invalid("must be an object")
	}
	members := make(map[string]node, len(raw))
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		member := node{at(n.path, name), raw[name]}
		if !slices.Contains(known, name) {
			return nil, unknownMember(n.path, name, known)
		}
		if !member.isNull() {
			members[name] = member
		}
	}
	return members, nil
}

func unknownMember(path, name string, known []string) error {
	const shown = 64
	if len(name) > shown {
		// A path is for people: one of kilobytes helps nobody.
		return schema.Invalid(path, "has an unknown member "+quoteShort(name), known...)
	}
	return schema.Invalid(at(path, name), didYouMean("is not a known member", name, known), known...)
}

func (n node) array(most int) ([]node, error) {
	var raw []json.RawMessage
	if err := json.Unmarshal(n.raw, &raw); err != nil || raw == nil {
		return nil, n.invalid("must be an array")
	}
	if len(raw) > most {
		return nil, n.invalid(fmt.Sprintf("must have at most %d entries, not %d", most, len(raw)))
	}
	list := make([]node, len(raw))
	for i := range raw {
		list[i] = node{nth(n.path, i), raw[i]}
	}
	return list, nil
}

func (n node) text() (string, error) {
	var s *string
	if err := json.Unmarshal(n.raw, &s); err != nil || s == nil {
		return "", n.invalid("must be a string")
	}
	return *s, nil
}

func (n node) integer(least, most int) (int, error) {
	var f float64
	err := json.Unmarshal(n.raw, &f)
	if err != nil || n.isNull() || f != math.Trunc(f) || f < float64(least) || f > float64(most) {
		return 0, n.invalid("must be an integer from " + strconv.Itoa(least) + " to " + strconv.Itoa(most))
	}
	return int(f), nil
}

// columnMembers and filterMembers are the members of a column and of a filter.
var columnMembers, filterMembers = func() (column, filter []string) {
	column, filter = []string{"column"}, []string{"column", "operator", "values"}
	for _, extra := range insights.Extras {
		column = append(column, extra.Name)
		if extra.Required {
			filter = append(filter, extra.Name)
		}
	}
	return column, filter
}()

// decode reads a request's form: types of members, unknown members, counts.
func decode(body []byte) (request, error) {
	r := request{limit: maxLimit}
	if err := checkJSON(body); err != nil {
		return r, err
	}
	root := node{raw: body}
	members, err := root.object("select", "where", "groupBy", "order", "range", "limit")
	if err != nil {
		return r, err
	}
	if r.selects, err = decodeColumns(members["select"]); err != nil {
		return r, err
	}
	if r.groups, err = decodeColumns(members["groupBy"]); err != nil {
		return r, err
	}
	if r.filters, err = decodeFilters(members["where"]); err != nil {
		return r, err
	}
	if order, ok := members["order"]; ok {
		if r.order, err = decodeOrder(order); err != nil {
			return r, err
		}
	}
	bounds, ok := members["range"]
	if !ok {
		return r, schema.Invalid("range", "is required", Presets()...)
	}
	if r.bounds, err = decodeRange(bounds); err != nil {
		return r, err
	}
	if limit, ok := members["limit"]; ok {
		r.limit, err = limit.integer(1, maxLimit)
	}
	return r, err
}

// checkJSON refuses what is not JSON and what nests deeper than any request.
func checkJSON(body []byte) error {
	depth, inText := 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return schema.BadRequest("the body nests deeper than " + strconv.Itoa(maxDepth) + " levels")
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	if !json.Valid(body) {
		return schema.BadRequest("the body must be a JSON object")
	}
	return nil
}

func decodeColumns(n node) ([]columnRequest, error) {
	if n.raw == nil {
		return nil, nil
	}
	list, err := n.array(maxColumns)
	if err != nil {
		return nil, err
	}
	columns := make([]columnRequest, len(list))
	for i, entry := range list {
		if columns[i], err = decodeColumn(entry); err != nil {
			return nil, err
		}
	}
	return columns, nil
}

func decodeColumn(n node) (columnRequest, error) {
	members, err := n.object(columnMembers...)
	if err != nil {
		return columnRequest{}, err
	}
	return columnOf(n, members)
}

// columnOf takes the column's name; what is left of members are its extras.
func columnOf(n node, members map[string]node) (columnRequest, error) {
	c := columnRequest{node: n, extras: members}
	name, ok := members["column"]
	if !ok {
		return c, schema.Invalid(at(n.path, "column"), "is required")
	}
	delete(members, "column")
	var err error
	c.name, err = name.text()
	return c, err
}

func decodeFilters(n node) ([]filterRequest, error) {
	if n.raw == nil {
		return nil, nil
	}
	list, err := n.array(maxFilters)
	if err != nil {
		return nil, err
	}
	filters, left := make([]filterRequest, len(list)), maxValues
	for i, entry := range list {
		members, err := entry.object(filterMembers...)
		if err != nil {
			return nil, err
		}
		f := &filters[i]
		values, ok := members["values"]
		if !ok {
			return nil, schema.Invalid(at(entry.path, "values"), "is required")
		}
		if f.values, err = values.array(left); err != nil {
			return nil, err
		}
		left -= len(f.values)
		if operator, ok := members["operator"]; ok {
			f.operator = &operator
		}
		delete(members, "values")
		delete(members, "operator")
		if f.columnRequest, err = columnOf(entry, members); err != nil {
			return nil, err
		}
	}
	return filters, nil
}

func decodeOrder(n node) (*orderRequest, error) {
	members, err := n.object("by", "direction")
	if err != nil {
		return nil, err
	}
	by, ok := members["by"]
	if !ok {
		return nil, schema.Invalid(at(n.path, "by"), "is required")
	}
	o := &orderRequest{}
	if direction, ok := members["direction"]; ok {
		o.direction = &direction
	}
	o.by, err = decodeColumn(by)
	return o, err
}

func decodeRange(n node) (rangeRequest, error) {
	r := rangeRequest{node: n}
	var err error
	switch raw := bytes.TrimSpace(n.raw); raw[0] {
	case '"':
		r.preset, err = n.text()
		return r, err
	case '{':
	default:
		return r, n.invalid("must be a preset or an object with from and to", Presets()...)
	}
	members, err := n.object("from", "to")
	if err != nil {
		return r, err
	}
	// In this order, so that the same request gets the same answer.
	for _, bound := range []struct {
		name string
		to   *node
	}{{"from", &r.from}, {"to", &r.to}} {
		member, ok := members[bound.name]
		if !ok {
			return r, schema.Invalid(at(n.path, bound.name), "is required")
		}
		*bound.to = member
	}
	return r, nil
}
