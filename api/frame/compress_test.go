package frame_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
)

// TestAnswersAreCompressed checks which answers are compressed. Decompressed answers have the same bytes as
// uncompressed answers. The headers let caches distinguish compressed and uncompressed answers.
func TestAnswersAreCompressed(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	sized := func(size int) []byte { return []byte(`"` + strings.Repeat("ab", size/2-1) + `"`) }
	encoded := func(path string, size int, contentType string) frame.Operation {
		op := probe("GET", path, func(context.Context, *access.Caller, *struct{}) (frame.Encoded, error) {
			return frame.Encoded{Body: sized(size), ContentType: contentType}, nil
		})
		op.ID, op.Conditional = "probe"+path[1:], true
		return op
	}
	user := probe("GET", "/profile", func(context.Context, *access.Caller, *struct{}) (schema.User, error) {
		return schema.User{DisplayName: strings.Repeat("long ", 1000)}, nil
	})
	user.ID = "probeUser"
	refused := probe("GET", "/refused", func(context.Context, *access.Caller, *struct{}) (schema.User, error) {
		return schema.User{}, schema.BadRequest(strings.Repeat("long ", 1000))
	})
	refused.ID = "probeRefused"
	text := encoded("/text", 4096, "text/plain")
	text.Produces = []string{"text/plain"}
	h.Serve([]frame.Operation{
		encoded("/large", 100_000, ""), encoded("/least", 1024, ""), encoded("/small", 1022, ""),
		encoded("/huge", 9<<20, ""),
		text, user, refused,
	})
	const gzipped, plain, neither = "gzip", "", "-"
	for _, c := range []struct{ path, accepts, want string }{
		{"/large", "gzip", gzipped}, {"/large", "gzip, deflate, br", gzipped}, {"/large", "br, gzip", gzipped},
		{"/large", "identity", plain}, {"/large", "br", plain}, {"/large", "gzip;q=0", plain},
		{"/least", "gzip", gzipped}, {"/profile", "gzip", gzipped}, {"/profile", "identity", plain},
		{"/small", "gzip", neither}, {"/huge", "gzip", neither}, {"/text", "gzip", neither}, {"/refused", "gzip", neither},
	} {
		t.Run(c.path+" "+c.accepts, func(t *testing.T) {
			whole := h.Do("GET", "/v1"+c.path, "", nil, "Accept-Encoding", "identity")
			a := h.Do("GET", "/v1"+c.path, "", nil, "Accept-Encoding", c.accepts)
			varies := slices.Contains(a.Header.Values("Vary"), "Accept-Encoding")
			coding := strings.TrimPrefix(c.want, neither)
			if a.Status != whole.Status || varies != (c.want != neither) || a.Header.Get("Content-Encoding") != coding {
				t.Errorf("%d %v", a.Status, a.Header)
			}
			if a.Header.Get("Content-Length") != strconv.Itoa(len(a.Body)) {
				t.Errorf("%d bytes, Content-Length %s", len(a.Body), a.Header.Get("Content-Length"))
			}
			body := a.Body
			if c.want == gzipped {
				reader, err := gzip.NewReader(bytes.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				if len(body) >= len(whole.Body) {
					t.Errorf("%d bytes of %d", len(body), len(whole.Body))
				}
				if body, err = io.ReadAll(reader); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(body, whole.Body) {
				t.Errorf("other bytes: %.100s", body)
			}
			tag := a.Header.Get("ETag")
			if tag == "" {
				return
			}
			strong, weak := strings.CutPrefix(tag, "W/")
			if weak != (c.want == gzipped) || strong != whole.Header.Get("ETag") {
				t.Errorf("the tag is %s, of the whole %s", tag, whole.Header.Get("ETag"))
			}
			same := h.Do("GET", "/v1"+c.path, "", nil, "Accept-Encoding", c.accepts, "If-None-Match", tag)
			if same.Status != http.StatusNotModified || len(same.Body) > 0 || same.Header.Get("ETag") != tag ||
				slices.Contains(same.Header.Values("Vary"), "Accept-Encoding") != varies {
				t.Errorf("%d %v", same.Status, same.Header)
			}
		})
	}
}
