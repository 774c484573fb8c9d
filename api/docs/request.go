package docs

import (
	"regexp"
	"strings"

	"github.com/octavo-docs/octavo/api/frame"
)

// request is an example request, before it is written in a programming language.
type request struct {
	Method string
	// Path has the pieces of the path, which begins at the root of the server.
	Path  []piece
	Query string
	// Token is true if the operation needs a token.
	Token bool
	// Media is the media type of Body; both are empty if there is no body.
	Media, Body string
	// Answers is set if the answer has a body. JSON is set if this body is JSON.
	Answers, JSON bool
	// V1 is true if the operation's path is below /v1.
	V1 bool
	// Call is the method of the published client, or "".
	Call string
}

// piece is a part of a path: a text, or an environment variable.
type piece struct {
	Text     string
	Variable bool
}

// variables has, by path parameter, the environment variable that quickstart.env sets.
var variables = map[string]string{"organizationId": "OCTAVO_ORG", "siteId": "OCTAVO_SITE"}

var wordEnd = regexp.MustCompile(`([a-z])([A-Z])`)

// placeholder returns the placeholder of a path parameter in examples, such as SITE_SPACE_ID for siteSpaceId.
func placeholder(name string) string {
	return strings.ToUpper(wordEnd.ReplaceAllString(name, "${1}_$2"))
}

// piecesOf splits a route at its parameters.
func piecesOf(route string) (list []piece) {
	text := func(s string) {
		if last := len(list) - 1; last >= 0 && !list[last].Variable {
			list[last].Text += s
		} else if s != "" {
			list = append(list, piece{Text: s})
		}
	}
	at := 0
	for _, found := range frame.PathParam.FindAllStringSubmatchIndex(route, -1) {
		text(route[at:found[0]])
		name := route[found[2]:found[3]]
		if variable, ok := variables[name]; ok {
			list = append(list, piece{Text: variable, Variable: true})
		} else {
			text(placeholder(name))
		}
		at = found[1]
	}
	text(route[at:])
	return list
}

// requestOf makes the request of an operation's example.
func requestOf(op *frame.Operation, ex example, call string) request {
	r := request{
		Method: op.Method, Path: piecesOf(op.Route()), Query: ex.Query, Token: !op.Scope.Public,
		Answers: ex.Media != "", JSON: ex.Media == "application/json", V1: !op.Root, Call: call,
	}
	switch {
	case ex.Form != "":
		r.Media, r.Body = frame.MediaForm[0], ex.Form
	case len(ex.Body) > 0:
		r.Media, r.Body = frame.MediaJSON[0], pretty(ex.Body)
	}
	return r
}

// target returns the path and the query string.
func (r *request) target() []piece {
	if r.Query == "" {
		return r.Path
	}
	return append(r.Path[:len(r.Path):len(r.Path)], piece{Text: "?" + r.Query})
}
