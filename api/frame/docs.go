package frame

import (
	"fmt"
	"sync"

	"github.com/valyala/fasthttp"

	"github.com/octavo-docs/octavo/schema"
)

// Pages are the pages that describe the operations of a table to people. They need no token, because their contents are
// public in the repository.
type Pages struct {
	// Paths are the paths of the pages at the root of the server.
	Paths []string
	// Build returns the pages by path. The first request for a page calls Build, because many servers never need the
	// pages. All answers use the bytes of the same files, so answers that clients have not read take no more memory.
	Build func() (map[string]Static, error)
}

// docs has the pages and the OpenAPI document, which are made when they are first requested.
type docs struct {
	document func() (described, error)
	pages    func() (map[string]fasthttp.RequestHandler, error)
}

// described has the OpenAPI document, uncompressed and compressed with gzip.
type described struct{ plain, compressed []byte }

func newDocs(describe func() ([]byte, error), pages *Pages) *docs {
	d := &docs{document: sync.OnceValues(func() (described, error) {
		plain, err := describe()
		if err != nil {
			return described{}, err
		}
		return described{plain, fasthttp.AppendGzipBytesLevel(nil, plain, fasthttp.CompressBestCompression)}, nil
	})}
	if pages == nil {
		return d
	}
	d.pages = sync.OnceValues(func() (map[string]fasthttp.RequestHandler, error) {
		files, err := pages.Build()
		if err != nil {
			return nil, fmt.Errorf("cannot build the pages: %w", err)
		}
		answers := map[string]fasthttp.RequestHandler{}
		for path, file := range files {
			answers[path] = static(file)
		}
		return answers, nil
	})
	return d
}

// docsPage answers with the page at the request's path.
func (s *Server) docsPage(ctx *fasthttp.RequestCtx) {
	pages, err := s.docs.pages()
	if err != nil {
		s.frame.log.Error("cannot describe the table", "error", err)
		writeError(ctx, schema.Internal(err))
		return
	}
	answer, ok := pages[string(ctx.Path())]
	if !ok {
		s.frame.notFound(ctx)
		return
	}
	answer(ctx)
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
