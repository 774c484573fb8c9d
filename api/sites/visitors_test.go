package sites_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
)

// signed returns a visitor's token with these claims.
func signed(t *testing.T, method jwt.SigningMethod, key any, claims jwt.MapClaims) string {
	t.Helper()
	text, err := jwt.NewWithClaims(method, claims).SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestVisitorsAreKnown: a site for authenticated visitors admits visitors whom the site's service vouches for. It shows
// them the site spaces whose conditions their claims meet.
func TestVisitorsAreKnown(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	site, address, token := publicSite(h)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	beta := h.FreshSpace(h.Ours, "Beta").ID
	added := h.Want(http.StatusCreated, "POST", site+"/site-spaces", admin, map[string]any{"spaceId": beta})
	h.Want(http.StatusOK, "PATCH", site+"/site-spaces/"+added["id"].(string), admin, map[string]any{"condition": "visitor.claims.plan == 'pro'"})
	h.Want(http.StatusOK, "PATCH", site, admin, map[string]any{"visibility": "visitor-auth"})
	ask := func(visitor map[string]any, redirect bool) apitest.Answer {
		return h.Do("POST", "/v1/urls/published", token, map[string]any{"url": address + "/beta", "redirectOnError": redirect, "visitor": visitor})
	}
	h.WantError(ask(nil, true), http.StatusNotFound) // The site has no login for visitors yet.
	auth := h.Want(http.StatusOK, "GET", site+"/publishing/auth", admin, nil)
	key := auth["privateKey"].(string)
	if again := h.Want(http.StatusOK, "GET", site+"/publishing/auth", admin, nil); again["privateKey"] != key || again["backend"] != "custom" {
		t.Errorf("%v, before %v", again, auth)
	}
	in := func(d time.Duration) int64 { return time.Now().Add(d).Unix() }
	bad := map[string]string{
		"another key": signed(t, jwt.SigningMethodHS256, []byte("another"), jwt.MapClaims{"exp": in(time.Hour)}),
		"no expiry":   signed(t, jwt.SigningMethodHS256, []byte(key), jwt.MapClaims{"plan": "pro"}),
		"expired":     signed(t, jwt.SigningMethodHS256, []byte(key), jwt.MapClaims{"exp": in(-time.Minute)}),
		"none":        signed(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, jwt.MapClaims{"exp": in(time.Hour)}),
		"algorithm":   signed(t, jwt.SigningMethodHS512, []byte(key), jwt.MapClaims{"exp": in(time.Hour)}),
		"no token":    "oct_token",
	}
	for name, text := range bad {
		if a := ask(map[string]any{"jwtToken": text}, false); a.Status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	h.WantError(h.Do("PATCH", site+"/publishing/auth", admin, map[string]any{"fallbackURL": "javascript:alert(1)"}), http.StatusBadRequest)
	h.Want(http.StatusOK, "PATCH", site+"/publishing/auth", admin, map[string]any{"backend": "custom", "fallbackURL": "https://login.example.com/"})
	login := h.Want(http.StatusOK, "POST", "/v1/urls/published", token, map[string]any{"url": address})
	if login["target"] != "external" || login["site"] != h.Ours.Site.ID || login["redirect"] != "https://login.example.com/" || login["apiToken"] != nil {
		t.Errorf("%v", login)
	}
	for path, want := range map[string]string{"/": "", "/a/b%20c": "?location=%2Fa%2Fb%2520c", "/beta?x=1": "?location=%2Fbeta"} {
		to := h.Want(http.StatusOK, "POST", "/v1/urls/published", token, map[string]any{"url": address + path})
		if to["redirect"] != "https://login.example.com/"+want {
			t.Errorf("%s: %v", path, to["redirect"])
		}
	}
	for name, text := range bad {
		if a := ask(map[string]any{"jwtToken": text}, true); a.Status != http.StatusOK || h.Want(200, "GET", "/v1/urls/published?url="+address+"&redirectOnError=true&visitorAuthToken="+text, token, nil)["target"] != "external" {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	found := func(claims jwt.MapClaims) map[string]any {
		t.Helper()
		text := signed(t, jwt.SigningMethodHS256, []byte(key), claims)
		return h.Want(http.StatusOK, "POST", "/v1/urls/published", token, map[string]any{"url": address + "/beta", "visitor": map[string]any{"jwtToken": text}})
	}
	pro, free := found(jwt.MapClaims{"exp": in(time.Hour), "plan": "pro"}), found(jwt.MapClaims{"exp": in(time.Hour), "plan": "free"})
	if pro["space"] != beta || pro["pathname"] != "/" || free["space"] != h.Ours.Space.ID || free["pathname"] != "/beta" || pro["contextId"] == free["contextId"] {
		t.Errorf("pro: %v, free: %v", pro, free)
	}
	if claims := payload(t, pro["apiToken"]); claims["visitorType"] != "authenticated" || claims["claims"].(map[string]any)["plan"] != "pro" || claims["claims"].(map[string]any)["exp"] != nil {
		t.Errorf("%v", claims)
	}
	far := found(jwt.MapClaims{"exp": in(48 * time.Hour), "plan": "pro"})
	later := found(jwt.MapClaims{"exp": in(49 * time.Hour), "iat": in(0), "plan": "pro"})
	if later["apiToken"] != far["apiToken"] {
		t.Error("the site token changes with the visitor's")
	}
	h.Want(http.StatusOK, "GET", "/v1/spaces/"+beta, pro["apiToken"].(string), nil)
	h.WantError(h.Do("GET", "/v1/spaces/"+beta, free["apiToken"].(string), nil), http.StatusNotFound)
	h.Want(http.StatusOK, "GET", "/v1/spaces/"+h.Ours.Space.ID, free["apiToken"].(string), nil)

	if renewed := h.Want(http.StatusOK, "POST", site+"/publishing/auth/regenerate", admin, nil); renewed["privateKey"] == key || renewed["fallbackURL"] != "https://login.example.com/" {
		t.Errorf("%v", renewed)
	}
	if a := ask(map[string]any{"jwtToken": signed(t, jwt.SigningMethodHS256, []byte(key), jwt.MapClaims{"exp": in(time.Hour)})}, false); a.Status != http.StatusBadRequest {
		t.Errorf("the key before: %d %s", a.Status, a.Body)
	}
}

// TestVisitorsEnd: a site token ends when the visitor's token ends, rounded up to five minutes. It also ends, on every
// node, when the site gets a new visitor key.
func TestVisitorsEnd(t *testing.T) {
	t.Parallel()
	fresh := func(c *frame.Config, _ *api.Deps) { c.AuthTTL = time.Nanosecond }
	h := apitest.New(t, fresh)
	site, address, token := publicSite(h)
	admin, space := h.Ours.Tokens[schema.RoleAdmin], "/v1/spaces/"+h.Ours.Space.ID
	// The same is true for a public site with adaptive content.
	for _, settings := range []string{
		`{"visibility":"visitor-auth"}`, `{"visibility":"public","adaptiveContent":{"enabled":true}}`,
	} {
		h.Want(http.StatusOK, "PATCH", site, admin, settings)
		key := h.Want(http.StatusOK, "GET", site+"/publishing/auth", admin, nil)["privateKey"].(string)
		var reader string
		for _, exp := range []float64{
			float64(time.Now().Add(time.Minute).Unix()), float64(time.Now().Add(time.Hour).Unix()) + 0.5,
			float64(time.Now().Add(100 * time.Hour).Unix()), 1e18,
		} {
			visitor := signed(t, jwt.SigningMethodHS256, []byte(key), jwt.MapClaims{"exp": exp})
			found := h.Want(
				http.StatusOK,
				"POST",
				"/v1/urls/published",
				token,
				map[string]any{"url": address, "visitor": map[string]any{"jwtToken": visitor}},
			)
			reader = found["apiToken"].(string)
			end := payload(t, reader)["exp"].(float64)
			midnight := float64(time.Now().UTC().Truncate(24 * time.Hour).Add(48*time.Hour + 5*time.Minute).Unix())
			if end > exp+300 || end < min(exp, float64(time.Now().Unix())) || end > midnight {
				t.Errorf("a visitor until %.1f has a token until %.1f", exp, end)
			}
			h.Want(http.StatusOK, "GET", space, reader, nil)
		}
		h.Want(http.StatusOK, "POST", site+"/publishing/auth/regenerate", admin, nil)
		h.WantError(h.Do("GET", space, reader, nil), http.StatusUnauthorized)
		h.Serve(nil, fresh) // A new node has not cached the token.
		h.WantError(h.Do("GET", space, reader, nil), http.StatusUnauthorized)
	}
}

// TestAdaptiveContentKnowsWhatVisitorsSay: sites with adaptive content also use a visitor's unsigned claims. Conditions
// find them below the claim `unsigned`.
func TestAdaptiveContentKnowsWhatVisitorsSay(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	site, address, token := publicSite(h)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	ask := func(claims map[string]any) apitest.Answer {
		return h.Do("POST", "/v1/urls/published", token, map[string]any{"url": address, "visitor": map[string]any{"unsignedClaims": claims}})
	}
	asked := func() any {
		t.Helper()
		return payload(t, h.Want(http.StatusOK, "POST", "/v1/urls/published", token,
			map[string]any{"url": address, "visitor": map[string]any{"unsignedClaims": map[string]any{"language": "de"}}})["apiToken"])["claims"]
	}
	if claims := asked(); claims != nil {
		t.Errorf("without adaptive content: %v", claims)
	}
	h.Want(http.StatusOK, "PATCH", site, admin, `{"adaptiveContent":{"enabled":true}}`)
	if claims, ok := asked().(map[string]any); !ok || claims["unsigned"].(map[string]any)["language"] != "de" {
		t.Errorf("with adaptive content: %v", claims)
	}
	long := map[string]any{"x": string(make([]byte, 4000))}
	h.WantError(ask(long), http.StatusBadRequest)
}
