package query

import (
	"context"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
)

// panicking is an engine whose driver panics in statements that contain `text`.
type panicking struct {
	driver.Conn
	text string
}

func (p panicking) Query(_ context.Context, sql string, _ ...any) (driver.Rows, error) {
	if strings.Contains(sql, p.text) {
		panic("secret state")
	}
	return noRows{}, nil
}

// TestPanicIsOneFailedQuery checks that a panic in one query of a batch is an internal error of this query. The other
// queries are answered.
func TestPanicIsOneFailedQuery(t *testing.T) {
	t.Parallel()
	service := newService(panicking{text: "country"}, keeping)
	body := `{"queries":{"a":` + byCountry + `,"b":{"range":"lastYear"}}}`
	for range 2 {
		got, _ := askBatch(t, service, body)
		a, b := got.Queries["a"], got.Queries["b"]
		if a.Status != int(schema.CodeInternal) || strings.Contains(string(a.Answer), "secret") || b.Status != 200 {
			t.Errorf("%+v", got.Queries)
		}
	}
	if n := service.results.Callers(); n != 0 || len(service.admission.parties) != 0 {
		t.Errorf("left: %d callers, %v", n, service.admission.parties)
	}
}

// TestPanicOfACountInTheBackground checks that a panic in a count that runs in the background ends only the count.
func TestPanicOfACountInTheBackground(t *testing.T) {
	t.Parallel()
	service := newService(panicking{text: "AS day"})
	body := []byte(`{"range":"last24Hours"}`)
	if _, _, err := service.Aggregate(t.Context(), Caller{}, testSite, body, testNow); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the count ends", func() bool {
		select {
		case service.sources.background <- struct{}{}:
			return true
		default:
			return false
		}
	})
}
