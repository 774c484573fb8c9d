package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
)

// TestLocationsAnswer calls every operation that creates an object. The Location header has an address at which the
// caller can read the new object. The header is absent only if no operation reads such an object.
func TestLocationsAnswer(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	token := h.Ours.Tokens[schema.RoleAdmin]
	located, unlocated := 0, 0
	all := apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		a := h.Try(op, h.Ours, token)
		if op.Status == http.StatusCreated && a.Status != op.Status {
			t.Errorf("%s: %d %s", op.ID, a.Status, a.Body)
		}
		if a.Status != http.StatusCreated {
			return
		}
		location := a.Header.Get("Location")
		if location == "" {
			unlocated++
			if reads := slices.IndexFunc(h.Table, func(o frame.Operation) bool {
				return o.Method == http.MethodGet && o.Handler.Response == op.Handler.Response
			}); reads >= 0 {
				t.Errorf("%s names no Location, and %s reads what it made", op.ID, h.Table[reads].ID)
			}
			return
		}
		located++
		path, ours := strings.CutPrefix(location, "https://docs.example.com/base")
		read := h.Do(http.MethodGet, path, token, nil)
		if !ours || read.Status != http.StatusOK {
			t.Errorf("%s: Location %s answers %d %s", op.ID, location, read.Status, read.Body)
			return
		}
		// If the object has no id, compare its address.
		var made, found struct {
			ID   string `json:"id"`
			URLs struct {
				Location string `json:"location"`
			} `json:"urls"`
		}
		if err := json.Unmarshal(a.Body, &made); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(read.Body, &found); err != nil {
			t.Fatal(err)
		}
		if made.ID == "" && made.URLs.Location == "" || made != found {
			t.Errorf("%s made %s, and its Location reads %s", op.ID, a.Body, read.Body)
		}
	})
	if all && (located == 0 || unlocated == 0) {
		t.Errorf("%d creations with a Location and %d without: one of the two was not tried", located, unlocated)
	}
}
