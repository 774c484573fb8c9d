package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/octavo-docs/octavo/ingest/eventgen"
)

// postUnique posts generated events of 13 months to a site and waits until they are stored. It posts `count` events, or
// a few more to fill the last request.
func (b *bench) postUnique(ctx context.Context, t target, count int, end time.Time) (sent int, err error) {
	progress("posting %d events", count)
	generator := eventgen.New(eventgen.Options{
		Seed: 1, Events: count, Visitors: max(1, count*136/1000), End: end, Span: dataSpan,
	})
	const perRequest = 500
	for ; sent < count; sent += perRequest {
		body := generator.AppendBatch(nil, perRequest)
		err := b.rig.Call(ctx, http.MethodPost, t.insights()+"/events", body, http.StatusNoContent, nil)
		if err != nil {
			return sent, err
		}
	}
	return sent, b.rig.awaitEvents(ctx, t, sent, stallLimit)
}

// siteByZipf returns an SQL expression that chooses a site for a visitor. The column `other` has the visitor's hash.
// The share of the n-th site is proportional to 1/n.
func siteByZipf(sites []string) string {
	all, sum, list := 0.0, 0.0, "multiIf("
	for n := range sites {
		all += 1 / float64(n+1)
	}
	for n, site := range sites[:len(sites)-1] {
		sum += 1 / float64(n+1)
		list += fmt.Sprintf("intDiv(other, 4096) %% 1000000 < %d, '%s', ", uint64(sum/all*1e6), site)
	}
	return list + "'" + sites[len(sites)-1] + "')"
}
