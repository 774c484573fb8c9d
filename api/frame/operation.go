package frame

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame/rules"
)

// Operation is one row of the table, with all properties of one operation. The router, authentication, limits,
// decoding, metrics, the OpenAPI document and the tests all read the row. So an operation is added by adding a row.
type Operation struct {
	// Method and Path identify the route; Path is below /v1 and has `{name}` for each parameter.
	Method string
	Path   string
	// Root puts Path at the root, for requests that browsers of front ends send there.
	Root bool
	// ID is the operationId: unique, and the operation's label in metrics and logs.
	ID string
	// Tag groups operations in documents.
	Tag string
	// Doc describes the operation in one sentence.
	Doc string
	// Scope defines the callers of the operation.
	Scope access.Scope
	// Status is the success status.
	Status int
	// BodyLimit bounds the body in bytes, both as sent and when inflated. 0 means that there is no body.
	BodyLimit int
	// Accepts are the accepted media types of the body. A body without a media type is read as the first of these
	// types.
	Accepts []string
	// Strict refuses unknown members of the body. Operations of the contract ignore unknown members, because clients of
	// other versions send them. Our settings that protect people's data are strict: a misspelled setting must not seem
	// to be set.
	Strict bool
	// Timeout bounds the function; 0 means Config.OperationTimeout. Unbounded means that the function limits itself.
	Timeout time.Duration
	// Tail lets the last path parameter match the rest of the path, including slashes.
	Tail bool
	// Produces are the media types of the answer, for operations with the response type File, or Encoded in another
	// format than JSON. Other operations answer JSON.
	Produces []string
	// Redirects lets the response type Page redirect the browser with 303.
	Redirects bool
	// Rate is the class whose rate limit applies to the operation.
	Rate access.RateClass
	// CORS lets pages of any origin call the operation with a token.
	CORS bool
	// Watched ends the function's context when the client closes the connection before it has the answer.
	Watched bool
	// Conditional answers 304 if the client already has the answer. It is allowed only for GET and the response type
	// Encoded.
	Conditional bool
	// Handler is the function with its request and response types.
	Handler Handler
}

// Route is the operation's full path on the server.
func (op *Operation) Route() string {
	if op.Root {
		return op.Path
	}
	return "/v1" + op.Path
}

// Unbounded is the Timeout of an operation that limits its waits itself. It saves a timer on the hot path of events.
const Unbounded time.Duration = -1

// ResourceBodyLimit is the BodyLimit of operations whose body is one resource.
const ResourceBodyLimit = 1 << 20

// PublicBodyLimit is the largest BodyLimit of operations that need no token.
const PublicBodyLimit = 256 << 10

// MediaJSON is the default media type of bodies.
var MediaJSON = []string{"application/json"}

// MediaAny accepts a body of every media type. For most types, browsers send a preflight request before they send the
// body to another origin.
var MediaAny = []string{"*/*"}

// Table has the operations that a server serves, and the vocabulary for the rules of their requests.
type Table struct {
	Operations   []Operation
	Vocabularies []rules.Vocabulary
	// Files are served at the root.
	Files []Static
	// Pages describe the table to people. A table without pages has nil.
	Pages *Pages
}

// Vocabulary joins all of the table's vocabularies.
func (t Table) Vocabulary() (rules.Vocabulary, error) {
	return rules.Join(append([]rules.Vocabulary{rules.Common}, t.Vocabularies...)...)
}

// Join makes one table from several tables.
func Join(parts ...Table) Table {
	var all Table
	for _, part := range parts {
		all.Operations = append(all.Operations, part.Operations...)
		all.Vocabularies = append(all.Vocabularies, part.Vocabularies...)
		all.Files = append(all.Files, part.Files...)
	}
	return all
}

var (
	operationID = regexp.MustCompile(`^[a-z][A-Za-z0-9]*$`)
	PathParam   = regexp.MustCompile(`\{([^}]*)\}`)
	methods     = map[string]bool{
		http.MethodGet: true, http.MethodPost: true, http.MethodPut: true, http.MethodPatch: true, http.MethodDelete: true,
	}
)

// checkTable finds every invalid row. An invalid table fails the start, not the first request.
func checkTable(table []Operation) error {
	var problems []error
	seenID, seenRoute := map[string]bool{}, map[string]bool{}
	for _, op := range table {
		report := func(format string, args ...any) {
			problems = append(problems, fmt.Errorf("operation %q (%s %s): "+format, append([]any{op.ID, op.Method, op.Path}, args...)...))
		}
		if !operationID.MatchString(op.ID) {
			report("operationId must match %s", operationID)
		}
		if seenID[op.ID] {
			report("operationId is taken")
		}
		seenID[op.ID] = true
		// Rows whose paths differ only in the names of their parameters are one route.
		route := op.Method + " " + PathParam.ReplaceAllString(op.Path, "{}")
		if seenRoute[route] {
			report("method and path are taken")
		}
		seenRoute[route] = true
		if !methods[op.Method] {
			report("method is not one of the contract's")
		}
		if op.Conditional && (op.Method != http.MethodGet || op.Handler.Response != reflect.TypeFor[Encoded]()) {
			report("only GET with the response type Encoded is conditional")
		}
		if op.Tail && !strings.HasSuffix(op.Path, "}") {
			report("the path must end with the parameter that takes its tail")
		}
		if !strings.HasPrefix(op.Path, "/") || strings.HasPrefix(op.Path, "/v1/") {
			report("path must start with a slash and be below /v1")
		}
		if op.Tag == "" || !strings.HasSuffix(op.Doc, ".") {
			report("tag and doc line are required, and a doc line is a sentence")
		}
		if err := op.Scope.Check(op.Path); err != nil {
			report("%w", err)
		}
		if op.Handler.invoke == nil {
			report("function is missing")
			continue
		}
		if err := checkStatus(op); err != nil {
			report("%w", err)
		}
		if err := checkBody(op); err != nil {
			report("%w", err)
		}
	}
	return errors.Join(problems...)
}

func checkStatus(op Operation) error {
	bodiless := op.Handler.Response == reflect.TypeFor[NoContent]()
	file := op.Handler.Response == reflect.TypeFor[File]()
	redirect := op.Handler.Response == reflect.TypeFor[Redirect]()
	switch {
	case op.Redirects && op.Handler.Response != reflect.TypeFor[Page]():
		return errors.New("only the response type Page redirects or not")
	case redirect != (op.Status == http.StatusFound || op.Status == http.StatusSeeOther):
		return errors.New("302 or 303 and the response type Redirect go together")
	case op.pixel() != slices.Equal(op.Produces, mediaPixel):
		return errors.New("the response type Pixel and its media type go together")
	case file != (len(op.Produces) > 0) && op.Handler.Response != reflect.TypeFor[Encoded]() && !op.pixel():
		return errors.New("the response type File and the media types that are produced go together")
	case !redirect && (op.Status < 200 || op.Status > 299):
		return fmt.Errorf("status %d is no success", op.Status)
	case (op.Status == http.StatusNoContent) != bodiless:
		return errors.New("204 and the response type NoContent go together")
	}
	return nil
}

func checkBody(op Operation) error {
	hasBody := false
	for i := range op.Handler.Request.NumField() {
		if _, ok := op.Handler.Request.Field(i).Tag.Lookup("body"); ok {
			hasBody = true
		}
	}
	if hasBody != (op.BodyLimit > 0) || hasBody != (len(op.Accepts) > 0) {
		return errors.New("a body in the request type, a body limit and accepted media types go together")
	}
	if op.Scope.Public && op.BodyLimit > PublicBodyLimit {
		return errors.New("a body without a token is at most " + byteSize(PublicBodyLimit))
	}
	return nil
}
