package query

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// These are the limits of a request. They limit the length of the statement. The engine's own limits limit the work.
const (
	maxColumns = 50    // entries of select, and of groupBy
	maxFilters = 100   // entries of where and of its nested groups together
	maxValues  = 10000 // values of all filters together
	maxLimit   = 1000  // rows of a result

	MaxSegments = 10 // saved segments of a request
)

// request is an aggregate request: well-formed, but with unresolved names.
type request struct {
	scopeRequest
	selects, groups []columnRequest
	order           *orderRequest
	compare         *rangeRequest // nil means no comparison
	accuracy        string
	fill            bool
	others          bool
	count           bool
	limit           int
	cursor          *string // nil means that the answer has no cursor
}

// reach has the data that a request can read: a site, its saved segments, and the caller's view of the site. Each
// request applies its reach once, between decoding and resolving: see [scopeRequest.narrow] and [scopeRequest.when].
type reach struct {
	site  Site
	saved func(id string) (where []byte, err error) // saved finds a saved segment; nil means that the site has none
	// where has the conditions of the view and of its segments. They are joined with the request's `where` by AND.
	where  []conditionRequest
	ranges []rangeRequest // ranges of the view; nil means all time
	zone   *time.Location // time zone in which the days of the ranges begin
	now    time.Time      // the time at which presets of the view's ranges end
	view   string         // the view's ranges as text, for keys; "" if there are none
	days   string         // first moments of the view's presets that begin with a day, for keys
	shared bool           // whether the caller sees a view
}

// scopeRequest has the members that the requests of all reports have.
type scopeRequest struct {
	reach     reach
	filters   []conditionRequest
	segments  []string // ids of saved segments
	timeRange rangeRequest
	timezone  string
	weekStart string
	left      whereBudget // budget for the request's remaining conditions
}

var scopeMembers = []string{"where", "segments", "range", "timezone", "weekStart"}

// decode reads a request's body, which must be an object. `decode` reads scopeMembers itself, and calls `read` for the
// other members. Then it adds the conditions of the request's segments and of the caller's view.
func (q *scopeRequest) decode(
	of reach, body []byte, members []string, read func(r *reader, name string) error,
) error {
	if err := checkJSON(body, maxDepth); err != nil {
		return err
	}
	*q = scopeRequest{
		reach: of, timezone: of.site.timezone(), weekStart: of.site.weekStart(),
		left: whereBudget{maxFilters, maxValues},
	}
	r, ranged := newReader(body), false
	err := r.object(members, func(name string) (err error) {
		switch name {
		case "where":
			q.filters, err = r.conditions(name, &q.left)
		case "segments":
			q.segments, err = r.texts(MaxSegments)
		case "range":
			ranged = true
			q.timeRange, err = r.timeRange(name, Presets())
		case "timezone":
			q.timezone, err = r.text()
		case "weekStart":
			q.weekStart, err = r.text()
		default:
			err = read(r, name)
		}
		return err
	})
	if err == nil && !ranged {
		err = schema.Invalid("range", "is required", Presets()...)
	}
	if err != nil {
		return err
	}
	return q.narrow()
}

// narrow adds conditions to the request's `where`: the conditions of the request's segments, and of the caller's view.
func (q *scopeRequest) narrow() error {
	for i, id := range q.segments {
		list, err := q.reach.segment(nth("segments", i), id, &q.left)
		if err != nil {
			return err
		}
		q.filters = append(q.filters, list...)
	}
	q.filters = append(q.filters, q.reach.where...)
	return nil
}

// segment returns the conditions of a saved segment. `path` is the segment's place in the request.
func (r reach) segment(path, id string, left *whereBudget) ([]conditionRequest, error) {
	if r.saved == nil {
		return nil, unknownSegment(path)
	}
	where, err := r.saved(id)
	if schema.IsCode(err, schema.CodeNotFound) {
		return nil, unknownSegment(path)
	}
	if err != nil {
		return nil, err
	}
	if err := checkJSON(where, maxDepth); err != nil {
		return nil, schema.Invalid(path, "has filters that this version does not read")
	}
	return newReader(where).conditions(at(path, "where"), left)
}

func unknownSegment(path string) error {
	return schema.Invalid(path, "is not the id of a saved segment that you see on this site")
}

// keyed returns the key of a report: its description without times, the request's range, and the data about the scope
// that the description does not contain. Such data are the site's own hosts, and the first moments of presets that
// begin with a day. With each new day, such a preset is another range.
func keyed(timeless fmt.Stringer, of scope, asked rangeRequest) string {
	first := ""
	if !of.first.IsZero() {
		first = " from " + insights.FormatTime(of.first)
	}
	return timeless.String() + "range: " + asked.String() + first + of.days + "\n" + hostsKey(of.env.Hosts)
}

type columnRequest struct {
	place
	name   string
	named  bool
	extras map[string]jsontext.Value
}

// conditionRequest is an entry of `where`: a filter, or a group of conditions.
type conditionRequest struct {
	filterRequest
	joined string // the joining word of a group
	list   []conditionRequest
}

type filterRequest struct {
	columnRequest
	operator string
	values   []jsontext.Value
}

type orderRequest struct {
	by        columnRequest
	direction string
}

// place is a column's position in the body. It is an entry of a list, or a single member if `index` is -1. The path is
// computed only for errors.
type place struct {
	path  string
	index int
}

func (p place) String() string {
	if p.index < 0 {
		return p.path
	}
	return nth(p.path, p.index)
}

func (p place) member(name string) string { return at(p.String(), name) }

var (
	requestMembers = []string{
		"select", "where", "segments", "groupBy", "order", "range", "limit", "timezone", "weekStart", "accuracy",
		"fill", "compare", "cursor", "others", "count",
	}
	orderMembers = []string{"by", "direction"}
	groupMembers = Joints()
)

// columnMembers and filterMembers are derived from insights.Extras.
var columnMembers, filterMembers = func() (column, filter []string) {
	column, filter = []string{"column"}, []string{"column", "operator", "values"}
	for _, extra := range insights.Extras {
		column = append(column, extra.Name)
		if extra.Required {
			filter = append(filter, extra.Name)
		}
	}
	return column, append(filter, groupMembers...)
}()

// decode reads a request and checks its form: types of members, unknown members, and the number of entries.
func decode(of reach, body []byte) (request, error) {
	q := request{accuracy: accuracies[0], limit: maxLimit}
	err := q.decode(of, body, requestMembers, func(r *reader, name string) (err error) {
		switch name {
		case "select":
			q.selects, err = r.columns(name)
		case "groupBy":
			q.groups, err = r.columns(name)
		case "order":
			q.order, err = r.order(name)
		case "compare":
			var t rangeRequest
			t, err = r.timeRange(name, Comparisons())
			q.compare = &t
		case "accuracy":
			q.accuracy, err = r.text()
		case "fill":
			q.fill, err = r.flag()
		case "others":
			q.others, err = r.flag()
		case "count":
			q.count, err = r.flag()
		case "cursor":
			var cursor string
			cursor, err = r.text()
			q.cursor = &cursor
		case "limit":
			q.limit, err = r.integer(1, maxLimit)
		}
		return err
	})
	return q, err
}

func (r *reader) columns(path string) ([]columnRequest, error) {
	var columns []columnRequest
	err := r.array(maxColumns, func(i int) error {
		c, err := r.column(place{path, i})
		columns = append(columns, c)
		return err
	})
	return columns, err
}

func (r *reader) column(p place) (columnRequest, error) {
	c := columnRequest{place: p}
	err := r.object(columnMembers, func(name string) error { return c.read(r, name) })
	if err != nil {
		return c, err
	}
	return c, c.requireName()
}

// read reads a member that columns and filters share.
func (c *columnRequest) read(r *reader, name string) (err error) {
	if name == "column" {
		c.named = true
		c.name, err = r.text()
		return err
	}
	if c.extras == nil {
		c.extras = map[string]jsontext.Value{}
	}
	c.extras[name] = r.value()
	return nil
}

func (c *columnRequest) requireName() error {
	if c.named {
		return nil
	}
	return schema.Invalid(c.member("column"), "is required")
}

// whereBudget has the numbers of entries and values that the remaining part of `where` may have.
type whereBudget struct{ entries, values int }

func (r *reader) conditions(path string, left *whereBudget) ([]conditionRequest, error) {
	list := []conditionRequest{}
	err := r.array(maxFilters, func(i int) error {
		if left.entries--; left.entries < 0 {
			return schema.Invalid(nth(path, i), fmt.Sprintf("is one too many: a request must have at most %d conditions and groups of them", maxFilters))
		}
		c, err := r.condition(place{path, i}, left)
		list = append(list, c)
		return err
	})
	return list, err
}

func (r *reader) condition(p place, left *whereBudget) (conditionRequest, error) {
	c := conditionRequest{filterRequest: filterRequest{columnRequest: columnRequest{place: p}, operator: insights.OpIn.Word}}
	valued, first := false, ""
	err := r.object(filterMembers, func(name string) (err error) {
		if grouped := slices.Contains(groupMembers, name); first != "" && (grouped || c.joined != "") {
			return schema.Invalid(c.member(name), "cannot stand beside "+first)
		} else if first = name; grouped {
			c.joined = name
			c.list, err = r.conditions(c.member(name), left)
			return err
		}
		switch name {
		case "operator":
			c.operator, err = r.text()
		case "values":
			valued, c.values = true, nil
			err = r.array(left.values, func(int) error {
				c.values = append(c.values, r.value())
				left.values--
				return nil
			})
		default:
			err = c.read(r, name)
		}
		return err
	})
	switch {
	case err != nil || c.joined != "":
		return c, err
	case !valued:
		return c, schema.Invalid(c.member("values"), "is required")
	}
	return c, c.requireName()
}

func (r *reader) order(path string) (*orderRequest, error) {
	o, ordered := &orderRequest{direction: directions[0]}, false
	err := r.object(orderMembers, func(name string) (err error) {
		if name == "direction" {
			o.direction, err = r.text()
			return err
		}
		ordered = true
		o.by, err = r.column(place{at(path, name), -1})
		return err
	})
	if err == nil && !ordered {
		err = schema.Invalid(at(path, "by"), "is required")
	}
	return o, err
}

func (r *reader) flag() (bool, error) {
	if kind := r.PeekKind(); kind != jsontext.KindTrue && kind != jsontext.KindFalse {
		return false, r.refuse("must be true or false")
	}
	token, _ := r.ReadToken()
	return token.Bool(), nil
}

func (r *reader) integer(least, most int64) (int, error) {
	n, ok := insights.Integer(r.value(), least, most)
	if !ok {
		return 0, r.invalid("must be an integer from " + strconv.FormatInt(least, 10) + " to " + strconv.FormatInt(most, 10))
	}
	return int(n), nil
}

// accuracyExact is the accuracy that forbids estimates.
const accuracyExact = "exact"

var accuracies = []string{"auto", accuracyExact}

// Accuracies returns the allowed words of `accuracy`, the default first.
func Accuracies() []string { return accuracies }

// directions are the words of order.direction, the default first.
var directions = []string{"asc", "desc"}

// conditionsOf reads an object whose only member is `where`, with conditions on events.
func (r *reader) conditionsOf(path string, left *whereBudget) (list []conditionRequest, err error) {
	err = r.object([]string{"where"}, func(name string) (err error) {
		list, err = r.conditions(at(path, name), left)
		return err
	})
	return list, err
}

// texts reads a list of at most `most` texts. It returns an empty list and never nil.
func (r *reader) texts(most int) ([]string, error) {
	list := []string{}
	err := r.array(most, func(int) error {
		text, err := r.text()
		list = append(list, text)
		return err
	})
	return list, err
}
