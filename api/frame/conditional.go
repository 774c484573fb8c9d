package frame

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
)

var headerETag = []byte("Etag")

// conditional marks an encoded answer with a tag of its body's bytes. If the client has that answer, it gets 304 without a body
// and with the same headers otherwise. Cache-Control stays no-store: browsers must not write claims of visitors to their disk.
// A client that holds an answer itself may still ask whether it has changed.
func conditional(c *call, body []byte) (unchanged bool) {
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	c.http.Response.Header.SetCanonical(headerETag, []byte(tag))
	for _, list := range c.http.Request.Header.PeekAll("If-None-Match") {
		for known := range strings.SplitSeq(string(list), ",") {
			known = strings.TrimSpace(known)
			if known == "*" || strings.TrimPrefix(known, "W/") == tag {
				c.http.SetStatusCode(http.StatusNotModified)
				return true
			}
		}
	}
	return false
}
