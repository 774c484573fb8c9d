package frame

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/valyala/fasthttp"
)

var headerETag = []byte("Etag")

// conditional sets an ETag, which is a hash of `body`. If the client already has the answer with this ETag, it sets the
// status 304 and returns true. Cache-Control stays no-store, so that browsers do not write visitors' claims to disk.
// Other clients that store answers may still revalidate them.
func conditional(c *call, body []byte) (unchanged bool) {
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	c.http.Response.Header.SetCanonical(headerETag, []byte(tag))
	if unchanged = tagMatches(c.http, tag); unchanged {
		c.http.SetStatusCode(http.StatusNotModified)
	}
	return unchanged
}

// tagMatches reports whether the client already has the answer with this ETag.
func tagMatches(ctx *fasthttp.RequestCtx, tag string) bool {
	for _, list := range ctx.Request.Header.PeekAll("If-None-Match") {
		for known := range strings.SplitSeq(string(list), ",") {
			known = strings.TrimSpace(known)
			if known == "*" || strings.TrimPrefix(known, "W/") == tag {
				return true
			}
		}
	}
	return false
}
