package api

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/swaggest/swgui"
	"github.com/swaggest/swgui/v5emb"
	"github.com/valyala/fasthttp"
)

// docs are the pages that describe the table: the OpenAPI document, and a page to browse it and to try operations out. They
// need no token, as they hold nothing that is not in the repository.
type docs struct {
	document []byte
	browser  http.Handler
}

func newDocs(table []Operation, baseURL string) (*docs, error) {
	document, err := openAPI(table, baseURL)
	if err != nil {
		return nil, fmt.Errorf("cannot describe the table: %w", err)
	}
	base, err := url.Parse(baseURL)
	if err != nil {
		return nil, fmt.Errorf("cannot use base URL: %w", err)
	}
	// A proxy may serve us below a prefix, which the browser's addresses then have and ours do not.
	prefix := strings.TrimRight(base.Path, "/")
	return &docs{document: document, browser: v5emb.NewHandlerWithConfig(swgui.Config{
		Title: "Octavo API", SwaggerJSON: prefix + "/v1/openapi.json", BasePath: prefix + "/docs/", InternalBasePath: "/docs/",
		HideCurl: false,
		SettingsUI: map[string]string{
			// A token that was entered outlives a reload, in the reader's own browser only.
			"persistAuthorization": "true",
			"docExpansion":         `"none"`,
			"filter":               "true",
		},
	})}, nil
}

func (d *docs) openAPI(ctx *fasthttp.RequestCtx) {
	ctx.SetContentTypeBytes(contentJSON)
	ctx.Response.Header.Set("Access-Control-Allow-Origin", "*")
	ctx.Response.Header.Set("Cache-Control", "no-cache")
	ctx.SetBody(d.document)
}
