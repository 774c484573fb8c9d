package insights

import (
	"errors"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema/sqltree"
)

// pageValue is {page, space}, or null for an event outside of all spaces.
type pageValue struct{}

const pageShape = `object {page: string or null, space: string}, {page: null} or null`

// noPage is the value of a filter that selects events without a page, inside or outside of spaces.
type noPage struct{}

func (noPage) String() string { return "no page" }

func (pageValue) Shape() string      { return pageShape }
func (pageValue) Type() sqltree.Type { return sqltree.T("Tuple(String,String)") }
func (pageValue) New() any           { return new([]any) }

func (pageValue) Parse(raw jsontext.Value) (any, error) {
	if isNull(raw) {
		return sqltree.Tuple{"", ""}, nil
	}
	var v struct {
		Page  jsontext.Value `json:"page"`
		Space *string        `json:"space"`
	}
	err := parseObject(raw, &v, "page", "space")
	if err == nil && v.Space == nil && isNull(v.Page) {
		return noPage{}, nil
	}
	page := ""
	if err == nil && len(v.Page) > 0 && !isNull(v.Page) {
		page, err = parseString(v.Page)
	}
	if err != nil || v.Space == nil || *v.Space == "" {
		return nil, memberOr(err, "must be an "+pageShape)
	}
	if len(page) > maxText || len(*v.Space) > maxText {
		return nil, errors.New("must not have ids of over " + strconv.Itoa(maxText) + " bytes")
	}
	return sqltree.Tuple{*v.Space, page}, nil
}

// oneOf returns the condition that `value` is one of `values`. The value noPage matches all rows without a page.
func (p pageValue) oneOf(value sqltree.Expr, values []any) sqltree.Expr {
	pages := slices.DeleteFunc(slices.Clone(values), func(v any) bool { return v == any(noPage{}) })
	in := sqltree.Bin(sqltree.In, value, sqltree.Param(sqltree.ArrayOf(p.Type()), pages))
	if len(pages) == len(values) {
		return in
	}
	page := sqltree.Call("tupleElement", value, sqltree.Int(2))
	return sqltree.AnyOf(sqltree.Bin(sqltree.Eq, page, sqltree.Str("")), in)
}

func (pageValue) Append(dst []byte, scanned any) []byte {
	pair := *scanned.(*[]any)
	space, page := pair[0].(string), pair[1].(string)
	if space == "" {
		return append(dst, "null"...)
	}
	dst = append(dst, `{"page":`...)
	dst = textValue{null: true}.Append(dst, &page)
	dst = append(dst, `,"space":`...)
	dst = AppendText(dst, space)
	return append(dst, '}')
}

// memberOr returns `err` if it is about an unknown member, because `err` is then more specific than `problem`.
// Otherwise it returns an error with the text `problem`.
func memberOr(err error, problem string) error {
	if e, ok := errors.AsType[*MemberError](err); ok {
		return e
	}
	return errors.New(problem)
}

// pointValue is {latitude, longitude, h3}, or null if the place is unknown.
type pointValue struct{}

const pointShape = `object {latitude: number, longitude: number, h3: string} or null`

var h3Index = regexp.MustCompile(`^8[0-9a-f]{14}$`)

func (pointValue) Shape() string      { return pointShape }
func (pointValue) Type() sqltree.Type { return typeString }
func (pointValue) New() any           { return new([]any) }

// Parse reads the cell's index, because the coordinates in responses are only the centre of the cell.
func (pointValue) Parse(raw jsontext.Value) (any, error) {
	if isNull(raw) {
		return "", nil
	}
	var v struct {
		Latitude  any    `json:"latitude"`
		Longitude any    `json:"longitude"`
		H3        string `json:"h3"`
	}
	if err := parseObject(raw, &v, "latitude", "longitude", "h3"); err != nil || !h3Index.MatchString(v.H3) {
		return nil, memberOr(err, "must be an "+pointShape+", with h3 as a result gave it")
	}
	return v.H3, nil
}

func (pointValue) Append(dst []byte, scanned any) []byte {
	cell := *scanned.(*[]any)
	index, lat, lon := cell[0].(string), cell[1].(float64), cell[2].(float64)
	if index == "" || math.IsNaN(lat) || math.IsNaN(lon) {
		return append(dst, "null"...)
	}
	dst = append(dst, `{"latitude":`...)
	dst = strconv.AppendFloat(dst, lat, 'f', 6, 64)
	dst = append(dst, `,"longitude":`...)
	dst = strconv.AppendFloat(dst, lon, 'f', 6, 64)
	dst = append(dst, `,"h3":`...)
	dst = AppendText(dst, index)
	return append(dst, '}')
}

// linkValue is a content reference, stored as canonical JSON.
type linkValue struct{}

func (linkValue) Shape() string      { return "content reference (object with kind)" }
func (linkValue) Type() sqltree.Type { return typeString }
func (linkValue) New() any           { return new(string) }

func (linkValue) Parse(raw jsontext.Value) (any, error) {
	ref, canonical, err := ParseContentRef(raw)
	if err != nil {
		return nil, err
	}
	names := contentRefMembers[LinkKinds.Word(ref.Kind)].names
	if len(ref.unknown) > 0 {
		return nil, &MemberError{slices.Min(slices.Collect(maps.Keys(ref.unknown))), append([]string{"kind"}, names...)}
	}
	return canonical, nil
}

func (linkValue) Append(dst []byte, scanned any) []byte {
	return append(dst, *scanned.(*string)...)
}

// contentRefMembers has the string members of each kind of content reference. The first `required` names are names of
// required members.
var contentRefMembers = map[string]struct {
	required int
	names    []string
}{
	"file":             {1, []string{"file", "space"}},
	"url":              {1, []string{"url"}},
	"page":             {1, []string{"page", "space"}},
	"anchor":           {1, []string{"anchor", "space", "page"}},
	"user":             {1, []string{"user"}},
	"collection":       {1, []string{"collection"}},
	"space":            {1, []string{"space"}},
	"reusable-content": {1, []string{"reusableContent", "space"}},
	"openapi":          {1, []string{"spec"}},
	"tag":              {1, []string{"tag", "space"}},
}

// ContentRef is a link target. Members has all members except `kind`.
type ContentRef struct {
	Kind    Code // LinkKinds
	Members map[string]string
	unknown map[string]jsontext.Value // members that the kind does not have
}

// ParseContentRef reads a content reference and returns its canonical JSON. The canonical JSON has only the known
// members, sorted by name, so that equal targets have equal texts. An error has the name of the wrong member.
func ParseContentRef(raw []byte) (ContentRef, string, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(raw, &members, JSONOptions); err != nil || members == nil {
		return ContentRef{}, "", errors.New("must be a content reference, an object with kind")
	}
	take := func(name string) (s string, sent bool) {
		m, ok := members[name]
		delete(members, name)
		if !ok || isNull(m) {
			return "", false
		}
		s, err := parseText(m)
		if err != nil {
			s = ""
		}
		return s, true
	}
	kind, _ := take("kind")
	known, ok := contentRefMembers[kind]
	if !ok {
		return ContentRef{}, "", errors.New("kind must be " + enumValue{enum: LinkKinds}.Shape())
	}
	ref := ContentRef{Kind: LinkKinds.codeOf(kind), Members: map[string]string{}, unknown: members}
	for i, name := range known.names {
		switch s, sent := take(name); {
		case s != "":
			ref.Members[name] = s
		case sent || i < known.required:
			return ContentRef{}, "", errors.New(name + " must be a non-empty string of at most " + strconv.Itoa(maxText) + " bytes")
		}
	}
	return ref, ref.canonical(kind), nil
}

func (r ContentRef) canonical(kind string) string {
	b := AppendText([]byte(`{"kind":`), kind)
	for _, name := range slices.Sorted(maps.Keys(r.Members)) {
		b = append(AppendText(append(b, ','), name), ':')
		b = AppendText(b, r.Members[name])
	}
	return string(append(b, '}'))
}

// ratingValue is the value of a metric that consists of several counts, such as {ok, good, bad}.
type ratingValue struct{ names []string }

func (v ratingValue) Shape() string {
	s := "object {"
	for i, name := range v.names {
		if i > 0 {
			s += ", "
		}
		s += name + ": number"
	}
	return s + "}"
}
func (ratingValue) Type() sqltree.Type { return sqltree.T("String") }
func (ratingValue) New() any           { return new([]any) }

func (v ratingValue) Parse(jsontext.Value) (any, error) {
	return nil, errors.New("has no filter")
}

func (v ratingValue) Append(dst []byte, scanned any) []byte {
	counts := *scanned.(*[]any)
	dst = append(dst, '{')
	for i, name := range v.names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '"')
		dst = append(dst, name...)
		dst = append(dst, `":`...)
		dst = strconv.AppendUint(dst, counts[i].(uint64), 10)
	}
	return append(dst, '}')
}
