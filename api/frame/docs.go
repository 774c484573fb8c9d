package frame

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/swaggest/swgui"
	"github.com/swaggest/swgui/v5emb"
	"github.com/valyala/fasthttp"

	"github.com/octavo-docs/octavo/schema"
)

// docs are the pages that describe the table: the OpenAPI document, and a page to browse it and try operations out.
// They need no token: everything in them is in the repository.
type docs struct {
	// document describes the table at its first call, because few servers ever need it. All answers share the bytes, so
	// that unread answers take no memory.
	document func() (described, error)
	browser  http.Handler
	// assets caches the requested files of the page, by path and encoding. They are part of the program.
	assets sync.Map
}

// described is the OpenAPI document, plain and compressed.
type described struct{ plain, compressed []byte }

func newDocs(describe func() ([]byte, error), baseURL string) (*docs, error) {
	base, err := url.Parse(baseURL)
	if err != nil {
		return nil, fmt.Errorf("cannot use base URL: %w", err)
	}
	// A proxy may serve this server below a prefix that only browsers see.
	prefix := strings.TrimRight(base.Path, "/")
	browser := v5emb.NewHandlerWithConfig(swgui.Config{
		Title: "Octavo API", SwaggerJSON: prefix + "/v1/openapi.json", BasePath: prefix + "/docs/", InternalBasePath: "/docs/",
		HideCurl: false,
		SettingsUI: map[string]string{
			"docExpansion": `"none"`,
			"filter":       "true",
		},
	})
	policy, err := contentPolicy(browser, base)
	if err != nil {
		return nil, err
	}
	return &docs{
		document: sync.OnceValues(func() (described, error) {
			plain, err := describe()
			if err != nil {
				return described{}, err
			}
			return described{plain, fasthttp.AppendGzipBytesLevel(nil, plain, fasthttp.CompressBestCompression)}, nil
		}),
		browser: withPolicy(browser, policy),
	}, nil
}

// inlineScript is a script in the page itself.
var inlineScript = regexp.MustCompile(`(?s)<script>(.*?)</script>`)

// contentPolicy lets the page run its own scripts and call the service, and nothing else: inline scripts are allowed by
// their hash.
func contentPolicy(browser http.Handler, base *url.URL) (string, error) {
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "/docs", nil)
	if err != nil {
		return "", err
	}
	page := &pageBuffer{header: http.Header{}}
	browser.ServeHTTP(page, request)
	scripts := "'self'"
	for _, script := range inlineScript.FindAllSubmatch(page.Bytes(), -1) {
		sum := sha256.Sum256(script[1])
		scripts += " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; script-src " + scripts + "; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
		"font-src 'self'; connect-src 'self' " + base.Scheme + "://" + base.Host +
		"; frame-ancestors 'none'; base-uri 'none'; form-action 'none'", nil
}

// browse serves the page and its files. All answers share the bytes of a file.
func (d *docs) browse(ctx *fasthttp.RequestCtx) {
	compressed := ctx.Request.Header.HasAcceptEncoding("gzip")
	key := strconv.FormatBool(compressed) + string(ctx.Path())
	found, ok := d.assets.Load(key)
	if !ok {
		page := &pageBuffer{header: http.Header{}, status: http.StatusOK}
		request := &http.Request{Method: http.MethodGet, URL: &url.URL{Path: string(ctx.Path())}, Header: http.Header{}}
		if compressed {
			request.Header.Set("Accept-Encoding", "gzip")
		}
		d.browser.ServeHTTP(page, request)
		found = page
		// Other paths are not cached: they get the page or a small error, and their number is unlimited.
		if page.status == http.StatusOK && page.Len() > freeAnswer {
			d.assets.Store(key, page)
		}
	}
	page := found.(*pageBuffer)
	for name, values := range page.header {
		for _, value := range values {
			ctx.Response.Header.Add(name, value)
		}
	}
	ctx.SetStatusCode(page.status)
	ctx.Response.SetBodyRaw(page.Bytes())
}

// pageBuffer captures what the page's handler answers. Nothing changes it afterwards.
type pageBuffer struct {
	bytes.Buffer
	header http.Header
	status int
}

func (b *pageBuffer) Header() http.Header { return b.header }

func (b *pageBuffer) WriteHeader(status int) { b.status = status }

// withPolicy adds the headers that isolate the page from other sites.
func withPolicy(browser http.Handler, policy string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Frame-Options", "DENY")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		browser.ServeHTTP(charsetWriter{w}, r)
	})
}

// charsetWriter adds the charset that the page's handler leaves out.
type charsetWriter struct{ http.ResponseWriter }

func (w charsetWriter) Write(p []byte) (int, error) {
	if w.Header().Get("Content-Type") == "text/html" {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
	}
	return w.ResponseWriter.Write(p)
}

func (s *Server) openAPI(ctx *fasthttp.RequestCtx) {
	document, err := s.docs.document()
	if err != nil {
		s.frame.log.Error("cannot describe the table", "error", err)
		writeError(ctx, schema.Internal(err))
		return
	}
	ctx.SetContentTypeBytes(contentJSON)
	ctx.Response.Header.Set("Access-Control-Allow-Origin", "*")
	ctx.Response.Header.Set("Cache-Control", "no-cache")
	ctx.Response.Header.SetCanonical(headerContentTypeOptions, noSniff)
	ctx.Response.Header.Add("Vary", "Accept-Encoding")
	if ctx.Request.Header.HasAcceptEncoding("gzip") {
		ctx.Response.Header.SetContentEncoding("gzip")
		ctx.Response.SetBodyRaw(document.compressed)
		return
	}
	ctx.Response.SetBodyRaw(document.plain)
}
