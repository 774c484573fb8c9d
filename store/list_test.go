package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/issues"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/storetest"
)

// walked is one page of a list that a test reads. It has the id of each row, and the row's sort keys in a page token.
type walked struct {
	ids  []string
	keys [][]string
	more bool
}

func walk[Row any](page postgres.Page[Row], err error, id func(Row) string, keys func(Row) []string) (walked, error) {
	w := walked{more: page.More}
	for _, row := range page.Rows {
		w.ids, w.keys = append(w.ids, id(row)), append(w.keys, keys(row))
	}
	return w, err
}

// TestListsContinueBetweenEqualKeys reads every list that is sorted by more than the id, with pages of all sizes. Many
// rows have equal keys, and other rows are a microsecond apart. Every row must occur once, in the order of the whole
// list.
func TestListsContinueBetweenEqualKeys(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st := storetest.Open(t, url)
	tenant := storetest.NewTenant(t, st, "acme")
	ctx, org, admin := t.Context(), tenant.Organization.ID, tenant.Users[schema.RoleAdmin].ID
	viewer := postgres.Viewer{UserID: admin, Role: schema.RoleAdmin}
	collection, err := st.CreateCollection(ctx, store.NewCollection{OrganizationID: org, Title: "Guides"})
	if err != nil {
		t.Fatal(err)
	}
	for range 6 {
		if _, err := st.CreateCollection(ctx, store.NewCollection{OrganizationID: org, Title: "C", ParentID: &collection.ID}); err != nil {
			t.Fatal(err)
		}
		if _, err := st.CreateChangeRequest(ctx, store.NewChangeRequest{SpaceID: tenant.Space.ID, UserID: admin}); err != nil {
			t.Fatal(err)
		}
		body := store.CommentBody{Sent: []byte(`{"markdown":"a"}`), Made: []byte(`{"nodes":[]}`)}
		if _, err := st.CreateComment(ctx, store.NewComment{Place: store.Place{SpaceID: tenant.Space.ID}, UserID: admin, Body: body}); err != nil {
			t.Fatal(err)
		}
	}
	storetest.Spaces(t, st, org, &collection.ID, 6)
	conn := storetest.Connect(t, url)
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(ctx, sql, args...); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	for i := range 6 {
		exec(`insert into issues_clusters (id, organization_id, label, icon, impact, summary, sources, issues, conversations, created_at, updated_at)
			values ($1, $2, '', '', 'low', '{}', '{}', $3, $3, now(), now())`, schema.NewID(), org, i%3)
		exec(`insert into git_operations (id, space_id, kind, state, reason, url, ref, parameters, timestamp)
			values ($1, $2, 'import', 'done', '', '', '', '{}', now())`, schema.NewID(), tenant.Space.ID)
	}
	const at = "timestamptz '2026-03-04 05:06:07.891234+00'"
	for table, columns := range map[string][]string{
		"memberships": {"joined_at", "last_seen_at"}, "issues_clusters": {"updated_at"}, "change_requests": {"created_at", "updated_at"},
		"git_operations": {"timestamp"}, "comments": {"posted_at"},
	} {
		for _, column := range columns {
			exec(fmt.Sprintf(`update %s x set %[2]s = %[3]s + n.n %% 3 * interval '1 microsecond'
				from (select ctid, row_number() over () as n from %[1]s) n where x.ctid = n.ctid`, table, column, at))
		}
	}
	exec("update memberships set last_seen_at = null where role = 'read' or role is null")
	exec("update git_operations set timestamp = '0001-01-01T00:00:00Z' where id in (select id from git_operations limit 2)") // Requests may name any year.
	for _, table := range []string{"spaces", "collections"} {
		exec(fmt.Sprintf(`update %s x set position = n.n %% 3
			from (select id, row_number() over () as n from %[1]s where parent_id is not null) n where x.id = n.id`, table))
	}

	type list func(keys []string, size int) (walked, error)
	lists := map[string]list{}
	for _, ascending := range []bool{false, true} {
		for _, seen := range []bool{false, true} {
			filter := orgs.MemberFilter{BySeen: seen, Ascending: ascending}
			lists[fmt.Sprintf("memberships %+v", filter)] = func(keys []string, size int) (walked, error) {
				after, err := postgres.ParseCursor[time.Time](keys)
				if err != nil {
					return walked{}, err
				}
				page, err := st.Orgs.ListMembers(ctx, org, filter, after, size)
				return walk(
					page, err, func(r orgs.MemberRow) string { return r.User.ID },
					func(r orgs.MemberRow) []string { return filter.Cursor(r).Keys() },
				)
			}
		}
		for _, by := range []string{"updatedAt", "issues", "conversations", "tasksTotal"} {
			order := issues.ClusterOrder{By: by, Ascending: ascending}
			lists[fmt.Sprintf("issues_clusters %+v", order)] = func(keys []string, size int) (walked, error) {
				page, err := st.Issues.ListClusters(ctx, org, order, time.Now(), keys, size)
				return walk(
					page, err, func(r issues.ClusterRow) string { return r.Cluster.ID },
					func(r issues.ClusterRow) []string { return order.Keys(r.Cluster) },
				)
			}
		}
		lists[fmt.Sprintf("comments %t", ascending)] = func(keys []string, size int) (walked, error) {
			after, err := postgres.ParseCursor[time.Time](keys)
			if err != nil {
				return walked{}, err
			}
			page, err := st.ListComments(ctx, store.Place{SpaceID: tenant.Space.ID}, store.CommentFilter{}, ascending, after, size)
			return walk(page, err, func(r store.CommentRow) string { return r.ID },
				func(r store.CommentRow) []string {
					return postgres.Cursor[time.Time]{
						Key: r.PostedAt, ID: r.ID,
					}.Keys()
				})
		}
	}
	for _, byCreation := range []bool{false, true} {
		filter := store.ChangeRequestFilter{ByCreation: byCreation}
		type rows = func(after *postgres.Cursor[time.Time], size int) (postgres.Page[store.ChangeRequestRow], error)
		read := func(list rows) list {
			return func(keys []string, size int) (walked, error) {
				after, err := postgres.ParseCursor[time.Time](keys)
				if err != nil {
					return walked{}, err
				}
				page, err := list(after, size)
				return walk(page, err, func(r store.ChangeRequestRow) string { return r.ChangeRequest.ID },
					func(r store.ChangeRequestRow) []string { return filter.Cursor(r).Keys() })
			}
		}
		lists[fmt.Sprintf("change_requests in a space %t", byCreation)] = read(
			func(after *postgres.Cursor[time.Time], size int) (postgres.Page[store.ChangeRequestRow], error) {
				return st.ListChangeRequestsInSpace(ctx, tenant.Space.ID, filter, after, size)
			})
		lists[fmt.Sprintf("change_requests in an organization %t", byCreation)] = read(
			func(after *postgres.Cursor[time.Time], size int) (postgres.Page[store.ChangeRequestRow], error) {
				return st.ListChangeRequestsInOrganization(ctx, viewer, org, filter, after, size)
			})
	}
	lists["git_operations"] = func(keys []string, size int) (walked, error) {
		after, err := postgres.ParseCursor[time.Time](keys)
		if err != nil {
			return walked{}, err
		}
		page, err := st.ListGitOperations(ctx, tenant.Space.ID, after, size)
		return walk(page, err, func(r store.GitOperation) string { return r.ID },
			func(r store.GitOperation) []string {
				return postgres.Cursor[time.Time]{Key: r.Timestamp, ID: r.ID}.Keys()
			})
	}
	lists["spaces in a collection"] = func(keys []string, size int) (walked, error) {
		after, err := postgres.ParseCursor[int64](keys)
		if err != nil {
			return walked{}, err
		}
		in, err := st.Collection(ctx, admin, collection.ID)
		if err != nil {
			return walked{}, err
		}
		page, err := st.ListSpacesInCollection(ctx, admin, in, after, size)
		return walk(page, err, func(r store.PlacedSpace) string { return r.Space.ID },
			func(r store.PlacedSpace) []string {
				return postgres.Cursor[int64]{Key: r.Space.Position, ID: r.Space.ID}.Keys()
			})
	}
	lists["collections"] = func(keys []string, size int) (walked, error) {
		after, err := store.ParseCollectionCursor(keys)
		if err != nil {
			return walked{}, err
		}
		page, err := st.ListCollections(ctx, viewer, org, true, after, size)
		return walk(page, err, func(r store.CollectionAccess) string { return r.Collection.ID }, func(r store.CollectionAccess) []string {
			return store.CollectionCursor{
				Depth:  r.Collection.Depth,
				Cursor: postgres.Cursor[int64]{Key: r.Collection.Position, ID: r.Collection.ID},
			}.Keys()
		})
	}
	for name, list := range lists {
		t.Run(name, func(t *testing.T) {
			all, err := list(nil, 100)
			if err != nil || all.more || len(all.ids) < 6 {
				t.Fatal(all, err)
			}
			for size := 1; size <= len(all.ids)+1; size++ {
				var ids []string
				for page := (walked{more: true}); page.more; ids = append(ids, page.ids...) {
					var after []string
					if len(page.keys) > 0 {
						after = page.keys[len(page.keys)-1]
					}
					if page, err = list(after, size); err != nil || len(page.ids) == 0 {
						t.Fatalf("pages of %d: %+v, %v", size, page, err)
					}
				}
				if !slices.Equal(ids, all.ids) {
					t.Fatalf("pages of %d: %q, want %q", size, ids, all.ids)
				}
			}
		})
	}
}
