package query

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// These constants are the largest and the default number of pages before the page of the request, and of pages after
// it.
const (
	MaxTransitions     = 100
	DefaultTransitions = 10
)

// transitions is a compiled request for the pages before and after a page. Like a plan it is an immutable value.
//
// The page views of a session that meet the conditions form a sequence. They are ordered by time, and page views of one
// moment in the order in which they were sent. Two neighbours of the sequence with different pages are a transition.
type transitions struct {
	scope
	page  pageTarget
	limit int
	// everySession is set if the page's sessions are too many to be found by their keys.
	everySession bool
}

// pageTarget is the page of transitions: a page of a space or, if `space` is "", all pages with a path.
type pageTarget struct{ space, page, path string }

func (t pageTarget) String() string {
	if t.space == "" {
		return fmt.Sprintf("path %q", t.path)
	}
	return fmt.Sprintf("%q in space %q", t.page, t.space)
}

var (
	transitionsMembers = append([]string{insights.PageMember, "limit"}, scopeMembers...)
	targetMembers      = []string{insights.SpaceMember, insights.PageMember, insights.PathMember}
)

func compileTransitions(of reach, body []byte, now time.Time) (t transitions, err error) {
	var q scopeRequest
	named := false
	t.limit = DefaultTransitions
	err = q.decode(of, body, transitionsMembers, func(r *reader, name string) (err error) {
		switch name {
		case insights.PageMember:
			named = true
			t.page, err = r.pageTarget(name)
		case "limit":
			t.limit, err = r.integer(1, MaxTransitions)
		}
		return err
	})
	if err == nil && !named {
		err = schema.Invalid(insights.PageMember, "is required")
	}
	if err != nil {
		return t, err
	}
	if t.scope, err = q.scope(now); err != nil {
		return t, err
	}
	t.scope = t.joining(nil)
	timeless := t
	timeless.scope = t.timeless()
	t.key = keyed(timeless, t.scope, q.timeRange)
	return t, nil
}

// pageTarget reads the object that names a page: its space and id, or its path.
func (r *reader) pageTarget(path string) (t pageTarget, err error) {
	given := map[string]string{}
	err = r.object(targetMembers, func(name string) (err error) {
		given[name], err = r.text()
		return err
	})
	if err != nil {
		return t, err
	}
	t = pageTarget{given[insights.SpaceMember], given[insights.PageMember], given[insights.PathMember]}
	_, byPath := given[insights.PathMember]
	switch {
	case byPath && len(given) > 1:
		return t, schema.Invalid(at(path, insights.PathMember), "cannot stand beside space and page")
	case byPath && !strings.HasPrefix(t.path, "/"):
		return t, schema.Invalid(at(path, insights.PathMember), "must begin with a slash")
	case !byPath && t.space == "":
		return t, schema.Invalid(at(path, insights.SpaceMember), "is required with page, or use path")
	case !byPath && t.page == "":
		return t, schema.Invalid(at(path, insights.PageMember), "is required with space")
	}
	return t, nil
}

// String describes the transitions, like a plan's String.
func (t transitions) String() string {
	b := t.describe()
	b.line(insights.PageMember, t.page.String())
	b.line("limit", strconv.Itoa(t.limit))
	return b.String()
}

// sessionScopes returns the scope, because all numbers are about sessions.
func (t transitions) sessionScopes() []scope { return []scope{t.scope} }

func (t transitions) weigh(q *query) {
	refs := []ref{{column: insights.PageKey}, {column: insights.Datetime}}
	// once for the page's sessions, and once for the views of these sessions
	q.weigh(refs, insights.CountExact, t.scope, t.scope)
}
