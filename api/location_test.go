package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema"
)

// TestLocationsAnswer loops over the operations that create: the Location of what was made reads it, as its creator, and only
// what no operation reads has none.
func TestLocationsAnswer(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	token := h.ours.Tokens[schema.RoleAdmin]
	located, unlocated := 0, 0
	for i := range h.table {
		op := &h.table[i]
		a := h.try(op, h.ours, token)
		if op.Status == http.StatusCreated && a.status != op.Status {
			t.Errorf("%s: %d %s", op.ID, a.status, a.body)
		}
		if a.status != http.StatusCreated {
			continue
		}
		location := a.header.Get("Location")
		if location == "" {
			unlocated++
			if reads := slices.IndexFunc(h.table, func(o Operation) bool {
				return o.Method == http.MethodGet && o.Handler.Response == op.Handler.Response
			}); reads >= 0 {
				t.Errorf("%s names no Location, and %s reads what it made", op.ID, h.table[reads].ID)
			}
			continue
		}
		located++
		path, ours := strings.CutPrefix(location, "https://docs.example.com/base")
		read := h.do(http.MethodGet, path, token, nil)
		if !ours || read.status != http.StatusOK {
			t.Errorf("%s: Location %s answers %d %s", op.ID, location, read.status, read.body)
			continue
		}
		var made, found struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(a.body, &made); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(read.body, &found); err != nil {
			t.Fatal(err)
		}
		if made.ID == "" || made != found {
			t.Errorf("%s made %s, and its Location reads %s", op.ID, a.body, read.body)
		}
	}
	if located == 0 || unlocated == 0 {
		t.Errorf("%d creations with a Location and %d without: one of the two was not tried", located, unlocated)
	}
}
