package openapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/octavo-docs/octavo/api/remote/outbound"
	"github.com/octavo-docs/octavo/schema"
)

// Limits bound the resources that one specification may use.
type Limits struct {
	// Whole bounds the time in which all documents are fetched. Each bounds the time in which one document is fetched.
	Whole, Each time.Duration
	// Documents bounds the number of documents to which the specification refers. Bytes bounds the size of all
	// documents together.
	Documents int
	Bytes     int64
}

// DefaultLimits are the limits that Octavo uses.
var DefaultLimits = Limits{Whole: time.Minute, Each: 20 * time.Second, Documents: 50, Bytes: 2 * MaxText}

const maxRedirects = 5

// Fetcher fetches specifications from URLs that users name.
type Fetcher struct {
	client interface {
		Do(*http.Request) (*http.Response, error)
	}
	limits Limits
}

// NewFetcher returns a Fetcher. It opens no connection.
func NewFetcher(guard *outbound.Guard, l Limits) *Fetcher {
	return &Fetcher{limits: l, client: guard.Client(outbound.Limits{
		TLS: l.Each / 2, Headers: l.Each, Whole: l.Each, Redirects: maxRedirects, WireBytes: MaxText, Bytes: MaxText,
	})}
}

// Fetched is the result of a fetch.
type Fetched struct {
	// Unchanged is true if all documents are unchanged. Document is then empty.
	Unchanged bool
	// Document is the specification as JSON. It contains all parts of other documents to which it refers.
	Document []byte
	// Sources are the documents that were read. The specification comes first.
	Sources []schema.OpenAPISourceState
}

// Fetch reads the specification at an address, and the documents of the same origin to which it refers. `known` has the
// Sources of the previous result. With these, servers may answer that nothing has changed. The error is Problems, or
// the error of a cancelled context.
func (f *Fetcher) Fetch(ctx context.Context, address string, known []schema.OpenAPISourceState) (Fetched, error) {
	whole, cancel := context.WithTimeout(ctx, f.limits.Whole)
	defer cancel()
	fetched, err := f.fetch(whole, address, known)
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return Fetched{}, ctx.Err()
	}
	if err == nil {
		return fetched, nil
	}
	if problems, ok := errors.AsType[Problems](err); ok {
		return Fetched{}, problems
	}
	return Fetched{}, asProblems(err)
}

func (f *Fetcher) fetch(ctx context.Context, address string, known []schema.OpenAPISourceState) (Fetched, error) {
	target, err := url.Parse(address)
	if err != nil {
		return Fetched{}, &Problem{Text: "is at no address that can be read", Code: schema.SpecFetchError}
	}
	target.Fragment = ""
	// If a document has no validators, it must be read again. All documents are then read without a check whether they
	// have changed. A check and a read would be two requests for one document.
	if len(known) == 0 || known[0].URL != target.String() || slices.ContainsFunc(known, withoutValidators) {
		known = []schema.OpenAPISourceState{{}}
	}
	first, err := f.get(ctx, target, known[0])
	if err != nil {
		return Fetched{}, err
	}
	if first.unchanged {
		if f.allUnchanged(ctx, known[1:]) {
			return Fetched{Unchanged: true, Sources: known}, nil
		}
		if first, err = f.get(ctx, target, schema.OpenAPISourceState{}); err != nil {
			return Fetched{}, err
		}
	}
	r := &reading{fetcher: f, ctx: ctx, origins: []*url.URL{target, first.url}, left: f.limits.Bytes}
	root, err := r.read(first)
	if err != nil {
		return Fetched{}, err
	}
	document, err := finish(root, r.load)
	return Fetched{Document: document, Sources: r.sources}, err
}

func withoutValidators(one schema.OpenAPISourceState) bool { return one.ETag+one.LastModified == "" }

// allUnchanged asks the servers whether all documents are unchanged. If the answer for one document does not say this,
// the result is false.
func (f *Fetcher) allUnchanged(ctx context.Context, known []schema.OpenAPISourceState) bool {
	return !slices.ContainsFunc(known, func(one schema.OpenAPISourceState) bool {
		target, err := url.Parse(one.URL)
		if err != nil {
			return true
		}
		got, err := f.get(ctx, target, one)
		return err != nil || !got.unchanged
	})
}

// reading is the state of one call of Fetch.
type reading struct {
	fetcher *Fetcher
	ctx     context.Context // context of Fetch, for the callbacks of the walk
	origins []*url.URL
	left    int64
	sources []schema.OpenAPISourceState
}

// load reads a document to which another document refers.
func (r *reading) load(target *url.URL) (*source, error) {
	switch {
	case target.Scheme != "http" && target.Scheme != "https":
		return nil, &Problem{Text: "only http and https addresses are read", Code: schema.SpecFetchError}
	case !slices.ContainsFunc(r.origins, func(one *url.URL) bool { return outbound.SameOrigin(one, target) }):
		return nil, &Problem{Text: "it is on another host than the specification, and only those of the same are read", Code: schema.SpecFetchError}
	case len(r.sources) > r.fetcher.limits.Documents:
		return nil, &Problem{Text: fmt.Sprintf("there are more than %d documents", r.fetcher.limits.Documents), Code: schema.SpecFetchError}
	}
	got, err := r.fetcher.get(r.ctx, target, schema.OpenAPISourceState{})
	if err != nil {
		return nil, err
	}
	return r.read(got)
}

func (r *reading) read(got answer) (*source, error) {
	r.sources = append(r.sources, got.state)
	if r.left -= int64(len(got.body)); r.left < 0 {
		return nil, &Problem{Text: fmt.Sprintf("all documents together are larger than %d MiB", r.fetcher.limits.Bytes>>20), Code: schema.SpecFetchError}
	}
	root, err := parseText(got.body)
	return &source{url: got.url, root: root}, err
}

// answer is the answer of a server for an address.
type answer struct {
	unchanged bool
	body      []byte
	url       *url.URL // address after redirects
	state     schema.OpenAPISourceState
}

// get reads one document. If the server says that the document is unchanged, it does not read the body.
func (f *Fetcher) get(ctx context.Context, target *url.URL, known schema.OpenAPISourceState) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return answer{}, &Problem{Text: "is at no address that can be read", Code: schema.SpecFetchError}
	}
	request.Header.Set("Accept", "application/json, application/yaml, text/yaml, */*;q=0.5")
	request.Header.Set("User-Agent", "Octavo")
	for name, value := range map[string]string{"If-None-Match": known.ETag, "If-Modified-Since": known.LastModified} {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	response, err := f.client.Do(request)
	if err != nil {
		return answer{}, unreachable(err)
	}
	defer func() { _ = response.Body.Close() }() // the body was already read
	if response.StatusCode == http.StatusNotModified && !withoutValidators(known) {
		return answer{unchanged: true}, nil
	}
	if response.StatusCode != http.StatusOK {
		return answer{}, &Problem{
			Text: fmt.Sprintf("%s answered %d", target.Hostname(), response.StatusCode), Code: schema.SpecFetchError,
			Retryable: response.StatusCode >= 500 || response.StatusCode == http.StatusTooManyRequests || response.StatusCode == http.StatusRequestTimeout,
		}
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, unreachable(err)
	}
	return answer{body: body, url: response.Request.URL, state: schema.OpenAPISourceState{
		URL: target.String(), ETag: short(response.Header.Get("ETag")), LastModified: short(response.Header.Get("Last-Modified")),
	}}, nil
}

// short returns a validator, or "" if it cannot be stored. A validator cannot be stored if it is too long, or if it is
// not valid UTF-8. HTTP allows invalid UTF-8 in headers, but JSON does not.
func short(validator string) string {
	if len(validator) > 500 || !utf8.ValidString(validator) {
		return ""
	}
	return validator
}

func unreachable(err error) error {
	e := outbound.Explain(err)
	code := schema.SpecFetchError
	if e.Reason == outbound.TimedOut {
		code = schema.SpecFetchTimeout
	}
	return &Problem{Text: e.Error(), Code: code, Retryable: e.Reason.Retryable}
}
