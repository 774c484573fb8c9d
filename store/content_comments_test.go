package store_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/discussion"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// discussionPlaces creates a space with a change request, and returns both as places of comments. `users` are the
// users who comment.
func discussionPlaces(t *testing.T, st *store.Store) (places []store.Place, users []string) {
	t.Helper()
	tenant := storetest.NewTenant(t, st, "acme")
	for _, role := range schema.Roles() {
		users = append(users, tenant.Users[role].ID)
	}
	request, err := st.CreateChangeRequest(t.Context(), store.NewChangeRequest{SpaceID: tenant.Space.ID, UserID: users[0]})
	if err != nil {
		t.Fatal(err)
	}
	return []store.Place{{SpaceID: tenant.Space.ID}, {SpaceID: tenant.Space.ID, ChangeRequestID: &request.ID}}, users
}

// TestCountersUnderParallelWriters runs many writers that change the same comments concurrently. They post, reply,
// resolve, open, react and delete. The test compares every counter with the final rows.
func TestCountersUnderParallelWriters(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st := storetest.Open(t, url)
	places, users := discussionPlaces(t, st)
	body := store.CommentBody{Sent: []byte(`{"markdown":"a"}`), Made: []byte(`{"nodes":[]}`)}
	var mu sync.Mutex
	comments, replies := map[store.Place][]string{}, map[string][]string{}
	any := func(ids []string, rng *rand.Rand) string {
		if len(ids) == 0 {
			return "nothing"
		}
		return ids[rng.IntN(len(ids))]
	}
	allow := func(store.Comment) error { return nil }
	var wait sync.WaitGroup
	for writer := range 8 {
		wait.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(writer)))
			for range 60 {
				place, user := places[rng.IntN(2)], users[rng.IntN(len(users))]
				mu.Lock()
				comment := store.CommentRef{Place: place, ID: any(comments[place], rng)}
				reply := store.CommentRef{Place: place, ID: any(replies[comment.ID], rng), Parent: &comment.ID}
				mu.Unlock()
				status := discussion.CommentStatuses()[rng.IntN(2)]
				var err error
				switch rng.IntN(10) {
				case 0, 1, 2:
					var row store.CommentRow
					row, err = st.CreateComment(t.Context(), store.NewComment{Place: place, UserID: user, Body: body})
					mu.Lock()
					comments[place] = append(comments[place], row.ID)
					mu.Unlock()
				case 3, 4:
					var row store.CommentRow
					row, err = st.CreateReply(t.Context(), place, comment.ID, user, body)
					mu.Lock()
					replies[comment.ID] = append(replies[comment.ID], row.ID)
					mu.Unlock()
				case 5, 6:
					_, err = st.UpdateComment(t.Context(), comment, user, store.CommentChange{Status: &status}, allow)
				case 7:
					change := store.CommentChange{Added: []string{"x", "y"}, Removed: []string{"x"}, Body: body}
					_, err = st.UpdateComment(t.Context(), comment, user, change, allow)
				case 8:
					err = st.DeleteComment(t.Context(), comment, allow)
				case 9:
					err = st.DeleteComment(t.Context(), reply, allow)
				}
				// Another writer may have deleted the comment. Any other error means that writers interfered with each
				// other.
				if err != nil && !schema.IsCode(err, schema.CodeNotFound) {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	conn := storetest.Connect(t, url)
	for what, query := range map[string]string{
		"spaces": `select count(*) from spaces s where (s.open_comments, s.resolved_comments) <> (
			select count(*) filter (where status = 'open'), count(*) filter (where status = 'resolved')
			from comments c where c.space_id = s.id and change_request_id is null and parent_id is null)`,
		"change requests": `select count(*) from change_requests r where (r.open_comments, r.resolved_comments) <> (
			select count(*) filter (where status = 'open'), count(*) filter (where status = 'resolved')
			from comments c where c.change_request_id = r.id and parent_id is null)`,
		"comments": `select count(*) from comments p where p.replies <> (select count(*) from comments c where c.parent_id = p.id)`,
	} {
		var wrong int
		if err := conn.QueryRow(t.Context(), query).Scan(&wrong); err != nil || wrong != 0 {
			t.Errorf("%d %s have wrong counts, %v", wrong, what, err)
		}
	}
	var left, reactions int
	err := conn.QueryRow(t.Context(), `select (select count(*) from comments), (select count(*) from comment_reactions)`).Scan(&left, &reactions)
	if err != nil || left == 0 || reactions == 0 {
		t.Errorf("%d comments and %d reactions are left, so the test proves nothing: %v", left, reactions, err)
	}
	for _, place := range places {
		page, err := st.ListComments(t.Context(), place, store.CommentFilter{}, false, nil, schema.MaxLimit)
		if err != nil || page.Total != int64(len(page.Rows)) {
			t.Errorf("count %d of %d, %v", page.Total, len(page.Rows), err)
		}
	}
}

// TestCommentGoesOnce deletes the same comment, and the same reply, many times concurrently.
func TestCommentGoesOnce(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	places, users := discussionPlaces(t, st)
	for _, place := range places {
		for range 5 {
			row, err := st.CreateComment(t.Context(), store.NewComment{Place: place, UserID: users[0], Body: store.CommentBody{Sent: []byte(`{}`)}})
			if err != nil {
				t.Fatal(err)
			}
			reply, err := st.CreateReply(t.Context(), place, row.ID, users[0], store.CommentBody{Sent: []byte(`{}`)})
			if err != nil {
				t.Fatal(err)
			}
			refs := []store.CommentRef{{Place: place, ID: reply.ID, Parent: &row.ID}, {Place: place, ID: row.ID}}
			var wait sync.WaitGroup
			for i := range 8 {
				wait.Go(func() {
					if err := st.DeleteComment(t.Context(), refs[i%2], func(store.Comment) error { return nil }); err != nil {
						t.Error(err)
					}
				})
			}
			wait.Wait()
		}
		page, err := st.ListComments(t.Context(), place, store.CommentFilter{}, true, nil, 10)
		if err != nil || page.Total != 0 || len(page.Rows) != 0 {
			t.Errorf("%+v %v", page, err)
		}
	}
}

// TestDiscussionPlans fills a long discussion and reads the plans of the statements for a page of comments. With any
// filters, a plan must read each row once, through an index and in order.
func TestDiscussionPlans(t *testing.T) {
	if testing.Short() {
		t.Skip("runs only in the long form: CI runs make test-long")
	}
	t.Parallel()
	conn := storetest.Connect(t, storetest.URL(t))
	for _, statement := range []string{
		"alter table comments disable trigger user",
		"alter table comment_reactions disable trigger user",
		"alter table change_requests disable trigger user",
		"alter table change_request_reviewers disable trigger user",
		"alter table change_request_reviews disable trigger user",
		`insert into users (id, display_name) select 'u' || g, 'User' from generate_series(1, 50) g`,
		`insert into organizations (id, title) values ('o', 'Org')`,
		`insert into spaces (id, organization_id, title, emoji, revision) select 's' || g, 'o', 'Space', 'x', 'r' from generate_series(1, 20) g`,
		`insert into comments (id, space_id, author_id, body, revision, page_id, status, resolved_at, resolved_by, posted_at)
			select 'c' || g, 's' || g % 3, 'u' || g % 50 + 1, '{}', 'r', 'p' || g % 200, x.status, x.at, x.who, now() - g * interval '1 second'
			from generate_series(1, 30000) g, lateral (select
				case when g % 100 = 0 then 'open' else 'resolved' end as status,
				case when g % 100 <> 0 then now() end as at, case when g % 100 <> 0 then 'u1' end as who) x where g % 3 > 0`,
		`insert into comments (id, space_id, parent_id, author_id, body, revision)
			select 'r' || g, 's' || g % 3, 'c' || g, 'u' || g % 50 + 1, '{}', 'r' from generate_series(1, 30000) g where g % 3 > 0`,
		`insert into comment_reactions (comment_id, user_id, emoji) select 'c' || g, 'u' || g % 50 + 1, 'x' from generate_series(1, 30000) g where g % 3 > 0`,
		`insert into change_requests (id, space_id, organization_id, number, status, created_by, revision, revision_initial)
			select 'q' || g, 's1', 'o', g, 'open', 'u1', 'r', 'r' from generate_series(1, 500) g`,
		`insert into change_request_reviewers (change_request_id, user_id, revision, requested_by)
			select 'q' || q, 'u' || u, 'r', 'u1' from generate_series(1, 500) q, generate_series(1, 50) u`,
		`insert into change_request_reviews (id, change_request_id, user_id, revision, status, superseded)
			select 'v' || q || '-' || n, 'q' || q, 'u' || n % 50 + 1, 'r', 'approved', n > 49 from generate_series(1, 500) q, generate_series(0, 99) n`,
		`insert into change_request_contributors (change_request_id, user_id)
			select 'q' || q, 'u' || u from generate_series(1, 500) q, generate_series(1, 10) u`,
		`vacuum analyze`,
	} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	list := store.QueryText("ListComments")
	// args has the values of thread, after_at, ascending, after_id, status, page, authors and size.
	for name, test := range map[string]struct{ args, index string }{
		"newest":           {"'s1', null, false, '', null, null, null, 51", "comments_thread"},
		"oldest":           {"'s1', null, true, '', null, null, null, 51", "comments_thread"},
		"older":            {"'s1', now() - interval '1 hour', false, 'c7', null, null, null, 51", "comments_thread"},
		"newer":            {"'s1', now() - interval '1 hour', true, 'c7', null, null, null, 51", "comments_thread"},
		"open":             {"'s1', null, false, '', 'open', null, null, 51", "comments_thread_open"},
		"open and older":   {"'s1', now() - interval '1 hour', false, '', 'open', null, null, 51", "comments_thread_open"},
		"of a page":        {"'s1', null, false, '', null, 'p7', null, 51", "comments_thread_page"},
		"of a page, older": {"'s1', now() - interval '1 hour', false, 'c7', null, 'p7', null, 51", "comments_thread_page"},
		"of authors":       {"'s1', null, true, '', null, null, '{u1,u2}', 51", "comments_thread"},
	} {
		plan := explainWith(t, conn, list, test.args)
		if !strings.Contains(plan, "using "+test.index+" on") || strings.Contains(plan, "Sort") || strings.Contains(plan, "Seq Scan") {
			t.Errorf("%s: want %s, got\n%s", name, test.index, plan)
		}
		if strings.Contains(test.args, "hour") && !strings.Contains(plan, "ROW(posted_at, id)") {
			t.Errorf("%s: the plan does not start where the previous page ended:\n%s", name, plan)
		}
	}
	var ids []string
	for i := range 50 {
		ids = append(ids, fmt.Sprintf("c%d", 3*i+1))
	}
	page := "'{" + strings.Join(ids, ",") + "}'"
	for query, index := range map[string]string{
		"ReactionsOfComments(" + page + ")": "comment_reactions_comment", "RepliersOfComments(" + page + ")": "comments_thread",
		"CountComments('s1', null, null, null)": "comments_thread", "CountComments('s1', 'open', 'p7', null)": "comments_thread_page",
		"ListReviews('q7', '', null, 'r', 51)": "change_request_reviews_request", "ListReviews('q7', 'v3', false, 'r', 51)": "change_request_reviews_request",
		"CountReviews('q7', null, 'r')": "change_request_reviews", "CountReviews('q7', true, 'r')": "change_request_reviews",
		"ListRequestedReviewers('q7', 'u3', 51)": "change_request_reviewers_pkey", "CountRequestedReviewers('q7')": "change_request_reviewers_pkey",
		"ReviewState('q7')": "change_request_reviews_newest",
	} {
		name, args, _ := strings.Cut(strings.TrimSuffix(query, ")"), "(")
		if plan := explainWith(t, conn, store.QueryText(name), args); !strings.Contains(plan, index) || strings.Contains(plan, "Seq Scan") {
			t.Errorf("%s: want %s, got\n%s", query, index, plan)
		}
	}
}

func explainWith(t *testing.T, conn *pgx.Conn, query, args string) string {
	t.Helper()
	if _, err := conn.Prepare(t.Context(), "plan", query); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Deallocate(t.Context(), "plan") }()
	rows, err := conn.Query(t.Context(), "explain execute plan("+args+")")
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// TestCommentsGoWithTheirPlace checks that comments are deleted with their change request and with their space.
func TestCommentsGoWithTheirPlace(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st := storetest.Open(t, url)
	places, users := discussionPlaces(t, st)
	for _, place := range places {
		row, err := st.CreateComment(t.Context(), store.NewComment{Place: place, UserID: users[0], Body: store.CommentBody{Sent: []byte(`{}`)}})
		if err != nil {
			t.Fatal(err)
		}
		change := store.CommentChange{Added: []string{"x"}}
		if _, err := st.UpdateComment(t.Context(), store.CommentRef{Place: place, ID: row.ID}, users[1], change, func(store.Comment) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if _, err := st.CreateReply(t.Context(), place, row.ID, users[1], store.CommentBody{Sent: []byte(`{}`)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := st.CreateReview(t.Context(), store.NewReview{Place: places[1], UserID: users[0], Status: "approved", Comment: store.CommentBody{Sent: []byte(`{}`)}}); err != nil {
		t.Fatal(err)
	}
	conn := storetest.Connect(t, url)
	var left []int
	for _, statement := range []string{"delete from change_requests", "delete from spaces"} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
		var n int
		if err := conn.QueryRow(t.Context(), "select count(*) from comments").Scan(&n); err != nil {
			t.Fatal(err)
		}
		left = append(left, n)
	}
	if !slices.Equal(left, []int{2, 0}) {
		t.Errorf("left: %v", left)
	}
}

// TestPagesCostTheSame reads short and long pages of comments, replies and reviews with all their related rows. Short
// and long pages must take the same number of statements.
func TestPagesCostTheSame(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	places, users := discussionPlaces(t, storetest.Open(t, url))
	st, sent := counted(t, url)
	place := places[1]
	var first string
	fill := func(n int) {
		for range n {
			for _, user := range users[:3] {
				review, err := st.CreateReview(t.Context(), store.NewReview{Place: place, UserID: user, Status: "approved", Comment: store.CommentBody{Sent: []byte(`{}`)}})
				if err != nil {
					t.Fatal(err)
				}
				first = cmp.Or(first, review.Comment.ID)
				for _, comment := range []string{first, review.Comment.ID} {
					if _, err := st.CreateReply(t.Context(), place, comment, user, store.CommentBody{Sent: []byte(`{}`)}); err != nil {
						t.Fatal(err)
					}
				}
				change := store.CommentChange{Added: []string{"x", "y"}}
				ref := store.CommentRef{Place: place, ID: review.Comment.ID}
				if _, err := st.UpdateComment(t.Context(), ref, user, change, func(store.Comment) error { return nil }); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	reads := map[string]struct {
		most int64
		read func() error
	}{
		"comments": {5, func() error {
			_, err := st.ListComments(t.Context(), place, store.CommentFilter{}, false, nil, 50)
			return err
		}},
		"replies": {4, func() error { _, err := st.ListReplies(t.Context(), place, first, nil, 50); return err }},
		"reviews": {7, func() error {
			_, err := st.ListReviews(t.Context(), *place.ChangeRequestID, "r", nil, "", 50)
			return err
		}},
	}
	for _, n := range []int{1, 9} {
		fill(n)
		for name, r := range reads {
			before := sent.n.Load()
			if err := r.read(); err != nil {
				t.Fatal(err)
			}
			if took := sent.n.Load() - before; took > r.most {
				t.Errorf("%s: %d statements, want at most %d", name, took, r.most)
			}
		}
	}
}
