package insights

import (
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema/sqltree"
)

// This file has the columns that group events by page, for lists of pages. Requests cannot name these columns.

// These members identify a page in requests and responses: the page of a space, or the path of its addresses.
const (
	SpaceMember = "space"
	PageMember  = "page"
	PathMember  = "path"
)

// PageKey is the column of an event's page. This is a page of a space or, for an event outside of all spaces, the
// canonical path of the address. Its value has a space, a page and a path. For a page of a space the path is "". If the
// page key is a path, the space and the page are "". An event of a space without a page has no page key.
var PageKey = &Column{
	Name: "page key", Roles: Group, Value: pageKeyValue{}, Null: Excluded,
	Expr: func(Arguments, Env) sqltree.Expr {
		return pageKey(sqltree.Col("space"), sqltree.Col("page"), canonicalPath(sqltree.Col("url")))
	},
	HasValue: func() sqltree.Expr { return sqltree.AnyOf(outsideSpaces(), notEmpty("page")()) },
	Grouped: &Grouped{
		Keys: func() []sqltree.Expr {
			hash := func(e sqltree.Expr) sqltree.Expr { return sqltree.Call("sipHash64", e) }
			return []sqltree.Expr{hash(sqltree.Col("space")), sqltree.Call("if", outsideSpaces(),
				hash(canonicalPath(sqltree.Col("url"))), hash(sqltree.Col("page")))}
		},
		Value: func() sqltree.Expr {
			some := func(e sqltree.Expr) sqltree.Expr { return sqltree.Call("any", e) }
			return pageKey(some(sqltree.Col("space")), some(sqltree.Col("page")),
				some(canonicalPath(sqltree.Col("url"))))
		},
	},
}

// PageHash returns the expression for a hash of an event's page key. Pages with different keys have different hashes,
// see [KeyOfGroup].
func PageHash() sqltree.Expr { return KeyOfGroup(PageKey.Grouped.Keys()) }

// PageViewed returns the condition that an event is a view of a page with a page key.
func PageViewed() sqltree.Expr { return sqltree.AllOf(isPageView(), PageKey.HasValue()) }

// OfPage returns the condition that an event is about a page of a space.
func OfPage(space, page string) sqltree.Expr {
	text := func(name, value string) sqltree.Expr {
		return sqltree.Bin(sqltree.Eq, sqltree.Col(name), sqltree.Param(sqltree.T("String"), value))
	}
	return sqltree.AllOf(text("space", space), text("page", page))
}

// AtPath returns the condition that an event's address has a path, with or without a slash at its end. The condition
// first searches the address for the text of the path, which is much cheaper than computing the address's path. The
// path is computed only for addresses that contain this text.
func AtPath(path string) sqltree.Expr {
	text := ""
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
		text = path // "" for "/", because an address such as https://example.com has the path "/" too
	}
	param := func(value string) sqltree.Expr { return sqltree.Param(sqltree.T("String"), value) }
	url := sqltree.Col("url")
	return sqltree.AllOf(
		sqltree.Bin(sqltree.Gt, sqltree.Call("position", url, param(text)), sqltree.Int(0)),
		sqltree.Bin(sqltree.Eq, canonicalPath(url), param(path)))
}

// LastSeen returns expressions for a group of events with the same page key. They give the space, the page, the path
// and the title of the last of these events.
func LastSeen() []sqltree.Expr {
	last := func(e sqltree.Expr) sqltree.Expr {
		return sqltree.Call("argMax", sqltree.Call("toString", e), SentNumber())
	}
	return []sqltree.Expr{
		last(sqltree.Col("space")),
		last(sqltree.Call("if", outsideSpaces(), sqltree.Str(""), sqltree.Col("page"))),
		last(canonicalPath(sqltree.Col("url"))), last(sqltree.Col("page_title")),
	}
}

func outsideSpaces() sqltree.Expr {
	return sqltree.Bin(sqltree.Eq, sqltree.Col("space"), sqltree.Str(""))
}

func pageKey(space, page, path sqltree.Expr) sqltree.Expr {
	none := sqltree.Str("")
	return sqltree.Call("if", sqltree.Bin(sqltree.Eq, space, none), sqltree.Call("tuple", none, none, path),
		sqltree.Call("tuple", space, page, none))
}

// canonicalPath returns the expression for the path of a URL, without a slash at its end.
func canonicalPath(url sqltree.Expr) sqltree.Expr {
	path := urlPath(url)
	letters := sqltree.Call("length", path)
	slash := sqltree.Call("endsWith", path, sqltree.Str("/"))
	return sqltree.Call("if", sqltree.AllOf(sqltree.Bin(sqltree.Gt, letters, sqltree.Int(1)), slash),
		sqltree.Call("substring", path, sqltree.Int(1), sqltree.Bin(sqltree.Sub, letters, sqltree.Int(1))), path)
}

// pageKeyValue is a tuple of three texts. No request or response contains such a value.
type pageKeyValue struct{}

func (pageKeyValue) Shape() string                     { return "page" }
func (pageKeyValue) Type() sqltree.Type                { return sqltree.T("Tuple(String,String,String)") }
func (pageKeyValue) New() any                          { return new([]any) }
func (pageKeyValue) Parse(jsontext.Value) (any, error) { return nil, errors.New("has no filter") }
func (pageKeyValue) Append(dst []byte, scanned any) []byte {
	separator := byte('[')
	for _, text := range *scanned.(*[]any) {
		dst = AppendText(append(dst, separator), text.(string))
		separator = ','
	}
	return append(dst, ']')
}

// LastTitle is the column with the title of a group's last event that has a title. If several such events have the same
// time, the value is the title that comes last in the alphabet.
var LastTitle = func() *Column {
	c := metric("last title", textValue{}, nil, "The title of the last event.", func(env Env) sqltree.Expr {
		return sqltree.Call("tupleElement", lastTitle.count(env), sqltree.Int(2))
	}, lastTitle)
	return &c
}()

// lastTitle is the aggregate with the time and the title of the last event that has a title.
var lastTitle = &Counter{
	Name: "last_title", last: true, is: notEmpty("page_title"), value: func() sqltree.Expr {
		return sqltree.Call("tuple", TimeExpr(), sqltree.Call("toString", sqltree.Col("page_title")))
	},
}
