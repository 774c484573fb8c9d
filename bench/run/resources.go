package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/octavo-docs/octavo/store"
)

// resourceRows compares reading and creating resources with the store's own
// calls, which are the same statements through pgx without HTTP.
func (b *bench) resourceRows(ctx context.Context) error {
	st, err := store.New(store.Config{URL: b.rig.engines.PostgresURL})
	if err != nil {
		return err
	}
	if err := st.Start(ctx); err != nil {
		return err
	}
	defer st.Stop()
	var user struct{ ID string }
	if err := b.rig.call(ctx, http.MethodGet, "/v1/user", nil, http.StatusOK, &user); err != nil {
		return err
	}
	r := b.rig
	org := "/v1/orgs/" + url.PathEscape(r.org)
	for _, op := range []struct {
		name, method, path, body string
		status                   int
		bare                     func() error
	}{
		{"read a site, p50", http.MethodGet, org + "/sites/" + url.PathEscape(r.site), "", http.StatusOK,
			func() error { _, err := st.Site(ctx, user.ID, r.org, r.site); return err }},
		{"read a space, p50", http.MethodGet, "/v1/spaces/" + url.PathEscape(r.space), "", http.StatusOK,
			func() error { _, err := st.Space(ctx, user.ID, r.space); return err }},
		{"create a space, p50", http.MethodPost, org + "/spaces", `{"title":"Benchmark"}`, http.StatusCreated,
			func() error {
				// The same two statements: who may create, and the row.
				if _, err := st.Organization(ctx, user.ID, r.org); err != nil {
					return err
				}
				_, err := st.CreateSpace(ctx, store.NewSpace{OrganizationID: r.org, Title: "Benchmark"})
				return err
			}},
	} {
		send, done, err := r.again(op.method, op.path, []byte(op.body), op.status)
		if err != nil {
			return err
		}
		c, err := b.alternate(b.calls, send, op.bare)
		done()
		if err != nil {
			return fmt.Errorf("%s: %w", op.name, err)
		}
		b.report.compare(op.name, "the same statements through pgx", "ms", c, &budget{AtMost: 1.5})
	}
	return nil
}
