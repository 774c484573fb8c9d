package store_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/storetest"
)

// discussedRequest returns the change request of a discussion, and its users.
func discussedRequest(t *testing.T, st *store.Store) (store.ChangeRequest, []string) {
	t.Helper()
	places, users := discussionPlaces(t, st)
	request, err := st.ChangeRequest(t.Context(), places[1].SpaceID, *places[1].ChangeRequestID)
	if err != nil {
		t.Fatal(err)
	}
	return request, users
}

// TestMergeIsJudgedOnWhatIsMerged changes the facts of merge rules before and after the rules are evaluated. The rules
// must see a change before the evaluation, even if the caller has read the change request earlier. A change after the
// evaluation must wait for the merge, and then find the change request merged.
func TestMergeIsJudgedOnWhatIsMerged(t *testing.T) {
	t.Parallel()
	title := "Page"
	insert := []tree.Change{tree.Insert{Kind: tree.KindDocument, Attributes: tree.Attributes{Title: &title}}}
	for name, change := range map[string]struct {
		do   func(st *store.Store, request store.ChangeRequest, users []string) error
		seen func(facts store.MergeFacts, before store.ChangeRequest) bool
	}{
		"review": {
			func(st *store.Store, request store.ChangeRequest, users []string) error {
				_, err := st.CreateReview(t.Context(), store.NewReview{
					Place: store.Place{SpaceID: request.SpaceID, ChangeRequestID: &request.ID}, UserID: users[1], Status: schema.ReviewApproved,
				})
				return err
			},
			func(facts store.MergeFacts, _ store.ChangeRequest) bool {
				return len(facts.Reviews) == 1 && facts.Reviews[0].Status == schema.ReviewApproved
			},
		},
		"reviewer": {
			func(st *store.Store, request store.ChangeRequest, users []string) error {
				_, err := st.RequestReviewers(t.Context(), store.ReviewRequest{
					ChangeRequestID: request.ID, UserIDs: users[1:3], RequestedBy: users[0],
				})
				return err
			},
			func(facts store.MergeFacts, _ store.ChangeRequest) bool {
				return len(facts.Reviews) == 2 && facts.Reviews[0].Requested
			},
		},
		"content": {
			func(st *store.Store, request store.ChangeRequest, users []string) error {
				_, err := st.ChangeContent(t.Context(), request, store.ContentChange{UserID: users[1], Pages: insert, Names: []string{"x"}})
				return err
			},
			func(facts store.MergeFacts, before store.ChangeRequest) bool {
				return facts.ChangeRequest.Revision != before.Revision
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := storetest.URL(t)
			st := storetest.Open(t, url)
			request, users := discussedRequest(t, st)
			if err := change.do(st, request, users); err != nil {
				t.Fatal(err)
			}
			conn, late := storetest.Connect(t, url), make(chan error, 1)
			_, err := st.MergeChangeRequest(t.Context(), request, users[0], func(facts store.MergeFacts, _ bool) error {
				if !change.seen(facts, request) {
					t.Errorf("the rules were evaluated on %+v", facts)
				}
				go func() { late <- change.do(st, request, users) }()
				eventually.True(t, "the change to wait for the merge", func() bool {
					var waiting bool
					err := conn.QueryRow(t.Context(), `select exists (
						select from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0)`).Scan(&waiting)
					return err == nil && waiting
				})
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := <-late; !schema.IsCode(err, schema.CodeConflict) {
				t.Errorf("a change after the merge: %v", err)
			}
		})
	}
}

// TestMergeIsJudgedByTheRulesThatHold changes the rules of the space and of the organization after the caller has read
// them. The merge must use the new rules.
func TestMergeIsJudgedByTheRulesThatHold(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	request, users := discussedRequest(t, st)
	const ofSpace, ofOrganization = `{"type": "none"}`, `{"type": "rules", "rules": []}`
	if _, err := st.UpdateSpace(t.Context(), request.SpaceID, store.SpaceChange{MergeRules: []byte(ofSpace)}); err != nil {
		t.Fatal(err)
	}
	if _, err := st.Orgs.Update(t.Context(), request.OrganizationID, orgs.Change{
		MergeRules: []byte(ofOrganization),
	}); err != nil {
		t.Fatal(err)
	}
	refusal := schema.Conflict("not by these rules")
	_, err := st.MergeChangeRequest(t.Context(), request, users[0], func(facts store.MergeFacts, _ bool) error {
		if string(facts.SpaceRules) != ofSpace || string(facts.OrganizationRules) != `{"type": "rules", "rules": []}` {
			t.Errorf("evaluated the rules %s and %s", facts.SpaceRules, facts.OrganizationRules)
		}
		return refusal
	})
	if !schema.IsCode(err, schema.CodeConflict) {
		t.Errorf("a refused merge: %v", err)
	}
	after, err := st.ChangeRequest(t.Context(), request.SpaceID, request.ID)
	if err != nil || after.Status != request.Status {
		t.Errorf("a refused merge left %s, %v", after.Status, err)
	}
}

// TestCostlyMergeIsJudgedWithoutTheLock changes the facts while the judge runs without the lock of the space. The judge
// must be called again with the new facts. If the facts change during every call, the request must not be merged.
func TestCostlyMergeIsJudgedWithoutTheLock(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	request, users := discussedRequest(t, st)
	merge := func(changes int) (seen []string, err error) {
		_, err = st.MergeChangeRequest(t.Context(), request, users[0], func(facts store.MergeFacts, locked bool) error {
			if locked {
				return store.ErrCostly
			}
			seen = append(seen, facts.ChangeRequest.Subject)
			if len(seen) > changes {
				return nil
			}
			subject := fmt.Sprint("subject ", len(seen))
			_, err := st.EditChangeRequest(t.Context(), request, store.ChangeRequestEdit{Subject: &subject})
			return err
		})
		return seen, err
	}
	if seen, err := merge(100); !schema.IsCode(err, schema.CodeConflict) || len(seen) < 2 {
		t.Errorf("a request that always changes: %q, %v", seen, err)
	}
	after, err := st.ChangeRequest(t.Context(), request.SpaceID, request.ID)
	if err != nil || after.Status != request.Status {
		t.Errorf("the request is %s, %v", after.Status, err)
	}
	if seen, err := merge(2); err != nil || len(seen) != 3 || seen[2] != "subject 2" {
		t.Errorf("the judge saw %q, %v", seen, err)
	}
}

// rowsRead counts the rows that statements return.
type rowsRead struct{ n atomic.Int64 }

func (*rowsRead) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

func (r *rowsRead) TraceQueryEnd(_ context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	r.n.Add(data.CommandTag.RowsAffected())
}

// TestContentCostsWhatItTouches makes the same changes in a space with few pages and in a space with many pages. In
// both spaces, the changes must read and write the same number of rows.
func TestContentCostsWhatItTouches(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	tenant := storetest.NewTenant(t, storetest.Open(t, url), "t")
	st, err := store.New(postgres.Config{URL: url}, store.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var rows rowsRead
	store.Trace(st, &rows)
	if err := st.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(st.Stop)
	const edits, folder = 50, 60
	costs := map[string][]int64{}
	for _, folders := range []int{2, 30} {
		s := newSearched(t, st, tenant)
		for f := range folders {
			s.do(fmt.Sprint("page Folder ", f), "")
			for i := range folder {
				s.do(fmt.Sprintf("page Page %d of %d < Folder %d", i, f, f), fmt.Sprintf("The text of %d in %d.", i, f))
			}
		}
		s.merge()
		s.index()
		cost := func(what string, run func()) {
			before := rows.n.Load()
			run()
			costs[what] = append(costs[what], rows.n.Load()-before)
		}
		request, err := st.CreateChangeRequest(t.Context(), store.NewChangeRequest{SpaceID: s.space, UserID: s.user})
		if err != nil {
			t.Fatal(err)
		}
		for i := range edits {
			s.do(fmt.Sprintf("text Page %d of 1", i), fmt.Sprint("Another text of ", i))
		}
		cost("change", func() {
			row, err := st.ChangeContent(t.Context(), request, store.ContentChange{
				UserID: s.user, Pages: s.pending, Names: make([]string, edits), Documents: s.documents,
			})
			if err != nil {
				t.Fatal(err)
			}
			request = row.ChangeRequest
		})
		var merged store.MergeResult
		cost("merge", func() {
			merged, err = st.MergeChangeRequest(t.Context(), request, s.user, storetest.Allow)
			if err != nil || merged.Conflicts {
				t.Fatal(merged, err)
			}
		})
		cost("index", s.index)
		cost("path", func() {
			if _, err := st.PageByPath(t.Context(), s.space, merged.Revision, "folder-1/page-7-of-1"); err != nil {
				t.Fatal(err)
			}
		})
		space, err := st.SpaceByID(t.Context(), s.space)
		if err != nil {
			t.Fatal(err)
		}
		cost("diff", func() {
			changed, err := st.ChangedPages(t.Context(), s.space, request.RevisionInitial, space.Revision)
			if err != nil || len(changed) != edits {
				t.Fatal(len(changed), err)
			}
		})
	}
	for what, cost := range costs {
		if cost[0] != cost[1] {
			t.Errorf("%s reads and writes %d rows in a small space, and %d in a large one", what, cost[0], cost[1])
		}
	}
}
