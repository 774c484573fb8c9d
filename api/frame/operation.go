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

// Operation is a row of the table of operations: it has all properties of one operation of the API. The router,
// authentication, limits, decoding, metrics, the OpenAPI document and the tests all read this row. So an operation is
// added by adding a row to the table.
type Operation struct {
	// Method and Path identify the operation in requests. Path is below /v1 and has `{name}` for each parameter.
	Method string
	Path   string
	// Root means that Path is not below /v1. Browsers call most of these operations, for example to send the events of
	// a page.
	Root bool
	// ID is the operationId. It is unique, and names the operation in metrics and logs.
	ID string
	// Tag groups operations in documents.
	Tag string
	// Doc describes the operation in one sentence.
	Doc string
	// Scope defines who may call the operation.
	Scope access.Scope
	// Status is the success status.
	Status int
	// BodyLimit is the largest size of the body in bytes, both compressed and decompressed. 0 means that the operation
	// has no body.
	BodyLimit int
	// Accepts are the accepted media types of the body. A body without a media type is read as the first of these
	// types.
	Accepts []string
	// Strict means that unknown members of the body are errors. Operations of the contract ignore unknown members,
	// because clients of other versions send them. Our own operations on the protection of people's data are strict, so
	// that a misspelled setting is noticed.
	Strict bool
	// Timeout limits the time that an operation may take; 0 means Config.OperationTimeout. See Unbounded for operations
	// without a limit.
	Timeout time.Duration
	// Tail means that the last path parameter matches the rest of the path, including slashes.
	Tail bool
	// Produces has the media types of the answer, for operations that do not answer with JSON.
	Produces []string
	// Redirects means that an operation with the response type Page may redirect the browser with 303.
	Redirects bool
	// Rate is the class whose rate limit applies to the operation.
	Rate access.RateClass
	// CORS means that pages of any origin may call the operation with a token.
	CORS bool
	// Watched means that the function's context is canceled when the client closes the connection before it gets the
	// answer.
	Watched bool
	// Conditional means that the answer is 304 if the client already has the answer. It is allowed only for GET with
	// the response type Encoded.
	Conditional bool
	// Handler is the function with its request and response types.
	Handler Handler
}

// Route returns the operation's full path on the server.
func (op *Operation) Route() string {
	if op.Root {
		return op.Path
	}
	return "/v1" + op.Path
}

// Unbounded is the Timeout of an operation that itself limits how long it waits. For events, this saves a timer in each
// request.
const Unbounded time.Duration = -1

// ResourceBodyLimit is the BodyLimit of operations whose body is one resource.
const ResourceBodyLimit = 1 << 20

// PublicBodyLimit is the largest BodyLimit of operations that need no token.
const PublicBodyLimit = 256 << 10

// MediaJSON is the default media type of bodies.
var MediaJSON = []string{"application/json"}

// MediaAny accepts a body of any media type. A page of another origin can then send the body with a type for which the
// browser needs no preflight request.
var MediaAny = []string{"*/*"}

// Table has the operations that a server serves, and the vocabulary for the rules of their requests.
type Table struct {
	Operations   []Operation
	Vocabularies []rules.Vocabulary
	// Files are files that are served at the root of the server.
	Files []Static
	// Pages has the pages that describe the operations to people. It is nil if the API has no such pages.
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

// checkTable returns one error about all invalid rows. The server does not start with an invalid row.
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
		// Two rows whose paths differ only in the names of parameters would match the same requests.
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
