package content_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/remote/outbound/outboundtest"
	"github.com/octavo-docs/octavo/schema"
)

// TestEmbed requests titles from hosts that the operator has allowed. Members see these titles. Readers of a published
// site do not see them, because anybody can be a reader.
func TestEmbed(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, `<title>Wiki</title><link rel=icon href=/i.png><script>alert(1)</script>`)
	}))
	t.Cleanup(server.Close)
	opened := outboundtest.Policy(t, outboundtest.Loopback)
	h := apitest.New(t, func(_ *frame.Config, d *api.Deps) { d.Outbound = opened })
	if _, err := h.Store.Sites.Publish(t.Context(), h.Ours.Site.ID, true); err != nil {
		t.Fatal(err)
	}
	reader, err := access.NewSiteTokens(h.Store).Make(t.Context(), access.SiteClaims{
		Organization: h.Ours.Organization.ID, Site: h.Ours.Site.ID, Space: h.Ours.Space.ID, Spaces: []string{h.Ours.Space.ID},
	}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	member := h.Ours.Tokens[schema.RoleRead]
	inSpace, everywhere := "/v1/spaces/"+h.Ours.Space.ID+"/embed", "/v1/urls/embed"
	address := server.URL + "/page?a=b&c=d"
	wiki := schema.Embed{Type: "link", Title: "Wiki", Site: "127.0.0.1", Icon: server.URL + "/i.png"}
	host := schema.Embed{Type: "link", Title: "127.0.0.1", Site: "127.0.0.1"}
	for _, test := range []struct {
		path, token, url string
		want             schema.Embed
	}{
		{inSpace, member, address, wiki},
		{everywhere, member, address, wiki},
		{inSpace, reader, address, host},
		{inSpace, member, "http://127.0.0.1:22/", host},
		{everywhere, member, "http://10.0.0.1/", schema.Embed{Type: "link", Title: "10.0.0.1", Site: "10.0.0.1"}},
	} {
		a := h.Do("GET", test.path+"?url="+url.QueryEscape(test.url), test.token, nil)
		if a.Status != http.StatusOK {
			t.Errorf("%s: %d %s", test.url, a.Status, a.Body)
			continue
		}
		shape.Want(t, shape.Of{"type": shape.One("link"), "title": shape.Text(1, 300), "site": shape.Text(1, 100), "icon?": shape.Text(1, 2048)}, a.Body)
		if got := apitest.Decode[schema.Embed](h, a); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.url, got, test.want)
		}
	}
	for _, query := range []string{"", "?url=", "?url=nothing", "?url=ftp://a.example", "?url=javascript:alert(1)", "?url=http://", "?url=%00"} {
		for _, path := range []string{inSpace, everywhere} {
			if e := h.WantError(h.Do("GET", path+query, member, nil), http.StatusBadRequest); len(e.Details) == 0 || e.Details[0].Field != "url" {
				t.Errorf("%s: %+v", query, e)
			}
		}
	}
	h.WantError(h.Do("GET", everywhere+"?url="+url.QueryEscape(address), reader, nil), http.StatusForbidden)
}
