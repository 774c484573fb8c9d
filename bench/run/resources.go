package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
)

// operation is a request that is measured. `bare` calls the store directly, so that the same SQL statements run without
// HTTP.
type operation struct {
	name, method, path, body string
	status                   int
	bare                     func() error
}

// resourceRows compares requests that read and create resources with direct calls of the store.
func (b *bench) resourceRows(ctx context.Context) error {
	return b.beside(ctx, []float64{0.5}, func(st *store.Store, user string) ([]operation, error) {
		r := b.rig
		org := "/v1/orgs/" + url.PathEscape(r.org)
		return []operation{
			{"read a site", http.MethodGet, org + "/sites/" + url.PathEscape(r.site), "", http.StatusOK,
				func() error { _, err := st.Sites.Site(ctx, user, r.org, r.site); return err }},
			{"read a space", http.MethodGet, "/v1/spaces/" + url.PathEscape(r.space), "", http.StatusOK,
				func() error { _, err := st.Space(ctx, user, r.space); return err }},
			{"create a space", http.MethodPost, org + "/spaces", `{"title":"Benchmark"}`, http.StatusCreated,
				func() error {
					// These are the two statements that the endpoint runs: the access check and the insert.
					if _, err := st.Orgs.Organization(ctx, user, r.org); err != nil {
						return err
					}
					_, err := st.CreateSpace(ctx, store.NewSpace{OrganizationID: r.org, Title: "Benchmark"})
					return err
				}},
		}, nil
	})
}

// beside opens the store, prepares operations of the benchmark's user, and
// reports the quantiles of the duration of each operation. The budget applies only to the median.
func (b *bench) beside(ctx context.Context, quantiles []float64, prepare func(st *store.Store, user string) ([]operation, error)) error {
	st, err := store.New(postgres.Config{URL: b.rig.engines.PostgresURL}, store.Config{})
	if err != nil {
		return err
	}
	if err := st.Start(ctx); err != nil {
		return err
	}
	defer st.Stop()
	var user struct{ ID string }
	if err := b.rig.Call(ctx, http.MethodGet, "/v1/user", nil, http.StatusOK, &user); err != nil {
		return err
	}
	operations, err := prepare(st, user.ID)
	if err != nil {
		return err
	}
	for _, op := range operations {
		send, done, err := b.rig.again(op.method, op.path, []byte(op.body), op.status)
		if err != nil {
			return err
		}
		all, err := b.alternateAt(quantiles, b.calls, send, op.bare)
		done()
		if err != nil {
			return fmt.Errorf("%s: %w", op.name, err)
		}
		for i, c := range all {
			var limit *budget
			if quantiles[i] == 0.5 {
				limit = &budget{AtMost: 1.5}
			}
			b.report.compare(fmt.Sprintf("%s, p%.0f", op.name, 100*quantiles[i]), "the same statements through pgx", "ms", c, limit)
		}
	}
	return nil
}
