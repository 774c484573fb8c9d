package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/store"
)

// commentRows measures requests that list, read and post comments of a long discussion, and compares them with direct
// calls of the store.
func (b *bench) commentRows(ctx context.Context) error {
	return b.beside(ctx, []float64{0.5, 0.99}, func(st *store.Store, user string) ([]operation, error) {
		space, err := b.rig.newSpace(ctx)
		if err != nil {
			return nil, err
		}
		if err := b.fillComments(ctx, space, user); err != nil {
			return nil, err
		}
		place := store.Place{SpaceID: space}
		page, err := st.ListComments(ctx, place, store.CommentFilter{}, false, nil, 1)
		if err != nil {
			return nil, err
		}
		if page.Total != int64(b.comments) || len(page.Rows) != 1 {
			return nil, fmt.Errorf("the space has %d comments, want %d", page.Total, b.comments)
		}
		newest := page.Rows[0].ID
		path := "/v1/spaces/" + url.PathEscape(space) + "/comments"
		operations := []operation{
			{fmt.Sprintf("list 50 of %d comments", b.comments), http.MethodGet, path + "?limit=50", "", http.StatusOK, func() error {
				_, err := st.ListComments(ctx, place, store.CommentFilter{}, false, nil, 50)
				return err
			}},
			{"read a comment", http.MethodGet, path + "/" + url.PathEscape(newest), "", http.StatusOK, func() error {
				_, err := st.Comment(ctx, store.CommentRef{Place: place, ID: newest})
				return err
			}},
			{"post a comment", http.MethodPost, path, `{"body":{"markdown":"Benchmark"}}`, http.StatusOK, func() error {
				_, err := st.CreateComment(ctx, store.NewComment{Place: place, UserID: user, Body: store.CommentBody{Sent: []byte(`{"markdown":"Benchmark"}`)}})
				return err
			}},
		}
		for i, op := range operations {
			operations[i].bare = func() error {
				// The endpoint first checks access, so the direct call does too.
				if _, err := st.Space(ctx, user, space); err != nil {
					return err
				}
				return op.bare()
			}
		}
		return operations, nil
	})
}

// fillComments creates a long discussion with SQL statements, because a hundred thousand requests would take minutes.
// Every third comment has a reaction, and every fifth comment has a reply.
func (b *bench) fillComments(ctx context.Context, space, user string) error {
	progress("writing %d comments", b.comments)
	conn, err := pgx.Connect(ctx, b.rig.engines.PostgresURL)
	if err != nil {
		return fmt.Errorf("cannot reach Postgres: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	const body = `'{"markdown":"This **sentence** says something that [somebody](https://example.com) will want to discuss."}'`
	for _, statement := range []string{
		`insert into comments (id, space_id, author_id, body, revision, replies, posted_at)
			select 'c' || g, $1, $2, ` + body + `, 'r', (g % 5 = 0)::int, now() - g * interval '1 second' from generate_series(1, $3::int) g`,
		`insert into comments (id, space_id, parent_id, author_id, body, revision)
			select 'r' || g, $1, 'c' || g, $2, ` + body + `, 'r' from generate_series(5, $3::int, 5) g`,
		`insert into comment_reactions (comment_id, user_id, emoji)
			select 'c' || g, $2, '1f44d' from generate_series(3, $3::int, 3) g where $1 <> ''`,
		`update spaces set open_comments = $3::int where id = $1 and $2 <> ''`,
	} {
		if _, err := conn.Exec(ctx, statement, space, user, b.comments); err != nil {
			return fmt.Errorf("cannot write comments: %w", err)
		}
	}
	if _, err := conn.Exec(ctx, "vacuum analyze comments, comment_reactions"); err != nil {
		return fmt.Errorf("cannot analyze comments: %w", err)
	}
	return nil
}
