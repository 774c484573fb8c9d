package docs

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
)

// operation is an operation in the form that pages display.
type operation struct {
	ID, Method, Path, Doc string
	// Page is the name of the page that shows the operation.
	Page string
	Who  string
	// Origin is a key of origins.
	Origin string
	Params []member
	// Media are the media types of the operation's body, or "" if it has no body.
	Media  string
	Body   []member
	More   int // More is the number of members of the body that are not listed.
	Limits []string
	// Errors are the statuses with which the operation can fail.
	Errors   []int
	Status   int
	Example  request
	Snippets []snippet
	// Answer is the answer in the example, or "" if it has no body. Left is the number of entries that are omitted from
	// the list in this answer.
	Answer string
	Left   int
	// Token is true if the operation needs a token.
	Token bool
}

// snippet is the example request in a programming language.
type snippet struct{ ID, Title, Fence, Code string }

// StatusText returns the success status and its name, such as "200 OK".
func (o operation) StatusText() string {
	return strconv.Itoa(o.Status) + " " + http.StatusText(o.Status)
}

// Badge returns the text and the explanation of the badge for the operation's origin.
func (o operation) Badge() struct{ Label, Doc string } { return origins[o.Origin] }

// sources has the data for making the pages of operations.
type sources struct {
	document document
	examples map[string]example
	client   map[string]known
	meanings map[string]meaning
}

// meaning is a row of meanings.txt.
type meaning struct{ Text, Unit string }

//go:embed meanings.txt
var meaningsFile string

func readMeanings() (map[string]meaning, error) {
	all := map[string]meaning{}
	for line := range strings.Lines(meaningsFile) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, text, found := strings.Cut(line, ": ")
		name, unit, _ := strings.Cut(strings.TrimSuffix(name, "]"), " [")
		if _, taken := all[name]; taken || !found {
			return nil, fmt.Errorf("cannot read meanings.txt: %q", line)
		}
		all[name] = meaning{Text: text, Unit: unit}
	}
	return all, nil
}

// describe collects all that a page shows about an operation.
func (s *sources) describe(op *frame.Operation) (operation, error) {
	of, err := s.document.operation(op.Path, op.Method)
	if err != nil {
		return operation{}, err
	}
	ex := s.examples[op.ID]
	origin := s.client[routeKey(op.Method, op.Path)]
	o := operation{
		ID: op.ID, Method: op.Method, Path: op.Route(), Doc: op.Doc, Page: op.Tag, Who: op.Scope.String(),
		Origin: cmp.Or(origin.Origin, originOwn), Status: op.Status, Limits: limitsOf(op), Token: !op.Scope.Public,
		Example: requestOf(op, ex, origin.Call), Left: ex.Left,
	}
	for _, p := range of.Parameters {
		o.Params = append(o.Params, s.mean(op.ID, member{
			Name: p.Name, In: p.In, Type: s.document.typeOf(p.Schema), Bounds: s.document.boundsOf(p.Schema),
			Required: p.Required, Meaning: s.document.descriptionOf(p.Schema),
		}))
	}
	if of.RequestBody != nil {
		o.Media = strings.Join(op.Accepts, ", ")
		body, more := s.document.membersOf(of.RequestBody.Content[op.Accepts[0]].Schema)
		for _, m := range body {
			o.Body = append(o.Body, s.mean(op.ID, m))
		}
		o.More = more
	}
	for _, status := range slices.Sorted(maps.Keys(of.Responses)) {
		if code, err := strconv.Atoi(status); err == nil && code >= http.StatusBadRequest {
			o.Errors = append(o.Errors, code)
		}
	}
	for _, w := range writers {
		o.Snippets = append(o.Snippets, snippet{w.ID, w.Title, w.Fence, w.write(&o.Example)})
	}
	if len(ex.Answer) > 0 {
		o.Answer = pretty(ex.Answer)
	}
	return o, nil
}

// mean adds the meaning from meanings.txt to a parameter or member. A meaning for this operation has precedence over a
// meaning for the name alone. If the OpenAPI document states a default, the default follows the meaning.
func (s *sources) mean(operation string, m member) member {
	if m.Deep {
		return m
	}
	known, ok := s.meanings[operation+"/"+m.Name]
	if !ok {
		known = s.meanings[m.Name]
	}
	if m.Meaning == "" || strings.HasPrefix(m.Meaning, "Default: ") {
		m.Meaning = strings.TrimSpace(known.Text + " " + m.Meaning)
	}
	if known.Unit != "" {
		m.Type += ", " + known.Unit
	}
	return m
}

// limitsOf returns sentences about an operation's limits.
func limitsOf(op *frame.Operation) (list []string) {
	if op.BodyLimit > 0 {
		list = append(list, "body of at most "+bytesText(op.BodyLimit))
	}
	switch {
	case op.Scope.Key:
		list = append(list, "requests count against the key and its daily cap")
	case op.Scope.Public:
		list = append(list, "requests count against the caller's address")
	case op.Rate == access.RateEvents:
		list = append(list, "requests count against the token's allowance for events")
	}
	if op.Strict {
		list = append(list, "unknown members of the body are refused")
	}
	if op.Conditional {
		list = append(list, "answers 304 to If-None-Match")
	}
	if op.CORS {
		list = append(list, "pages of any origin may call it")
	}
	if op.Timeout > 0 {
		list = append(list, "takes at most "+op.Timeout.String())
	}
	return list
}

func bytesText(n int) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// memberTable is a table of parameters or members.
type memberTable struct {
	Title, Operation string
	Rows             []member
}

// Table returns the data of a table with this title and these rows.
func (o operation) Table(title string, rows []member) memberTable {
	return memberTable{Title: title, Operation: o.ID, Rows: rows}
}
