package store_test

import (
	"testing"

	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestReviewersAreAskedOnce requests reviews with a user who is named twice, and then without users.
func TestReviewersAreAskedOnce(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	places, users := discussionPlaces(t, st)
	for _, named := range [][]string{{users[2], users[1], users[2]}, nil} {
		rows, err := st.RequestReviewers(t.Context(), store.ReviewRequest{
			ChangeRequestID: *places[1].ChangeRequestID, UserIDs: named, RequestedBy: users[0],
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := min(len(named), 2); len(rows) != want || want > 0 && (rows[0].UserID != users[2] || rows[1].UserID != users[1]) {
			t.Errorf("%q: %+v", named, rows)
		}
	}
}
