package apitest

import (
	"encoding/base64"
	"net/http"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/schema"
)

type IdPage = schema.List[struct {
	ID string `json:"id"`
}]

func ReadPage(t testing.TB, h *Harness, path string) IdPage {
	t.Helper()
	a := h.Do(http.MethodGet, path, h.Ours.Tokens[schema.RoleAdmin], nil)
	var page IdPage
	if err := json.Unmarshal(a.Body, &page); err != nil || a.Status != 200 {
		t.Fatalf("%s: %d %s", path, a.Status, a.Body)
	}
	return page
}

// Forged replaces the sort keys in a list's page token. The new token is for the same list, so only its sort keys can
// be wrong.
func Forged(token string, keys ...string) string {
	const mark = 1 + 4 // A token begins with a byte for its version and four bytes for its list.
	of, _ := base64.RawURLEncoding.DecodeString(token)
	other, _ := base64.RawURLEncoding.DecodeString(schema.PageToken("", keys...))
	return base64.RawURLEncoding.EncodeToString(append(of[:mark:mark], other[mark:]...))
}

func Created(t testing.TB, id string, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return id
}
