package frame

import (
	"context"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema"
)

func TestTableIsChecked(t *testing.T) {
	t.Parallel()
	good := func() Operation {
		return Operation{
			Method: "GET", Path: "/things", ID: "listThings", Tag: "things", Doc: "List things.", Scope: access.AnyUser(), Status: 200,
			Handler: Handle(func(context.Context, *access.Caller, *struct{}) (schema.User, error) { return schema.User{}, nil }),
		}
	}
	if err := checkTable([]Operation{good()}); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(op *Operation){
		"scope is missing":                   func(op *Operation) { op.Scope = access.Scope{} },
		"doc line":                           func(op *Operation) { op.Doc = "" },
		"tag":                                func(op *Operation) { op.Tag = "" },
		"operationId must match":             func(op *Operation) { op.ID = "" },
		"function is missing":                func(op *Operation) { op.Handler = Handler{} },
		"is no success":                      func(op *Operation) { op.Status = 404 },
		"NoContent":                          func(op *Operation) { op.Status = 204 },
		"method is not one":                  func(op *Operation) { op.Method = "get" },
		"below /v1":                          func(op *Operation) { op.Path = "/v1/things" },
		"body limit":                         func(op *Operation) { op.BodyLimit = 1 },
		"303 and the response type Redirect": func(op *Operation) { op.Status = 302 },
		"Page redirects or not":              func(op *Operation) { op.Redirects = true },
		"without a token is at most": func(op *Operation) {
			op.Scope, op.BodyLimit, op.Accepts = access.Public(), PublicBodyLimit+1, MediaForm
			op.Handler = Handle(func(context.Context, *access.Caller, *struct {
				Body []byte `body:"raw"`
			}) (schema.User, error) {
				return schema.User{}, nil
			})
		},
		"scope needs {siteId}":      func(op *Operation) { op.Scope = access.Having(access.RightView, access.OnSite) },
		"scope names no single":     func(op *Operation) { op.Scope, op.Path = access.Having(0, access.OnSite), "/{siteId}" },
		"a site key opens a site's": func(op *Operation) { op.Scope = access.AnyUser().OrSiteKey() },
	} {
		op := good()
		spoil(&op)
		if err := checkTable([]Operation{op}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	other := good()
	other.ID = "other"
	if err := checkTable([]Operation{good(), other}); err == nil || !strings.Contains(err.Error(), "method and path are taken") {
		t.Errorf("same route: got %v", err)
	}
	other = good()
	other.Path = "/others"
	if err := checkTable([]Operation{good(), other}); err == nil || !strings.Contains(err.Error(), "operationId is taken") {
		t.Errorf("same id: got %v", err)
	}
}

// TestRequestsAreBindable checks that the server does not start if the request type has a field that cannot be filled
// from a request.
func TestRequestsAreBindable(t *testing.T) {
	t.Parallel()
	for problem, handler := range map[string]Handler{
		"field A does not say where its value comes from": Handle(func(context.Context, *access.Caller, *struct{ A string }) (schema.User, error) {
			return schema.User{}, nil
		}),
		`binds "a", which is not in the path`: Handle(func(context.Context, *access.Caller, *struct {
			A string `path:"a"`
		}) (schema.User, error) {
			return schema.User{}, nil
		}),
		"field A: cannot bind": Handle(func(context.Context, *access.Caller, *struct {
			A map[string]int `query:"a"`
		}) (schema.User, error) {
			return schema.User{}, nil
		}),
		"field A: field B of a form has no name": Handle(func(context.Context, *access.Caller, *struct {
			A struct{ B string } `body:"form"`
		}) (schema.User, error) {
			return schema.User{}, nil
		}),
		"cannot bind a body": Handle(func(context.Context, *access.Caller, *struct {
			A string `body:"raw"`
		}) (schema.User, error) {
			return schema.User{}, nil
		}),
	} {
		op := Operation{
			Method: "POST", Path: "/x", ID: "x", Tag: "things", Doc: "Do it.", Scope: access.AnyUser(), Status: 200, Handler: handler,
		}
		if strings.Contains(problem, "body") || strings.Contains(problem, "form") {
			op.BodyLimit, op.Accepts = 1, []string{"text/plain"}
		}
		if _, err := (&frame{}).prepare(Table{Operations: []Operation{op}}); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: got %v", problem, err)
		}
	}
}
