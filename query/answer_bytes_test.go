package query

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/schema"
)

// fillLong stores n events with different addresses of 8 kB.
func fillLong(t *testing.T, conn driver.Conn, n int) {
	t.Helper()
	execute(t, conn, fmt.Sprintf(`INSERT INTO events (site, time, type, url, visitor, session, country, device)
		SELECT '%s', toDateTime64('2026-03-01 00:00:00', 3, 'UTC') + toIntervalSecond(number), 'page_view',
		'https://docs.example.com/' || toString(number) || '/' || repeat('x', 8000), number, number, 'DE', 'desktop'
		FROM numbers(%d)`, testSite, n))
}

// allocated returns the number of bytes that a function allocates. Other tests must not run at the same time.
func allocated(run func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	run()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestAnswersHaveALimit checks that a query whose answer would be too large is refused before the node has written the
// answer. A query runs in the memory of an answer, whatever its columns are.
func TestAnswersHaveALimit(t *testing.T) {
	conn := store(t)
	fillLong(t, conn, 1000)
	service := newService(conn)
	columns := strings.TrimSuffix(strings.Repeat(`{"column":"url"},`, maxColumns), ",")
	refused := func(t *testing.T, message string, ask func() error) {
		t.Helper()
		var err error
		bytes := allocated(func() { err = ask() })
		if e := schema.AsError(err); err == nil || e.Code != schema.CodeBadRequest || e.Message != message {
			t.Errorf("%.200v, want %q", err, message)
		}
		if bytes > 200<<20 {
			t.Errorf("%d MB were allocated", bytes>>20)
		}
	}
	for name, body := range map[string]string{
		"columns":       `{"range":"last30Days","select":[` + columns + `]}`,
		"compared":      `{"range":"last30Days","select":[` + columns + `],"compare":"previousPeriod"}`,
		"with others":   `{"range":"last30Days","limit":999,"select":[` + columns + `],"others":true}`,
		"few columns":   `{"range":"last30Days","select":[{"column":"url"},{"column":"url"},{"column":"url"}]}`,
		"compared rows": `{"range":"last30Days","select":[{"column":"url"}],"compare":"previousPeriod"}`,
	} {
		t.Run(name, func(t *testing.T) {
			refused(t, tooLarge, func() error {
				_, _, err := service.Aggregate(t.Context(), Caller{}, testSite, []byte(body), testNow)
				return err
			})
		})
	}
	t.Run("list of pages", func(t *testing.T) {
		of := func(most int) error {
			small := newService(conn, func(c *Config) { c.MaxAnswer = most })
			_, _, err := small.Answer(t.Context(), Caller{}, Pages, testSite, []byte(`{"range":"last30Days"}`), testNow)
			return err
		}
		refused(t, tooLarge, func() error { return of(1 << 20) })
		if err := of(4 << 20); err != nil { // the rows of all pages have twice as many bytes
			t.Error(err)
		}
	})
	t.Run("one that fits", func(t *testing.T) {
		body, _, err := service.Aggregate(
			t.Context(), Caller{}, testSite, []byte(`{"range":"last30Days","select":[{"column":"url"}]}`), testNow)
		if err != nil || len(body) < 8_000_000 {
			t.Errorf("%d bytes, %v", len(body), err)
		}
	})
}

// TestBatchesHaveALimit checks that the answers of a batch together have the limit of one answer. Equal queries are
// counted once each, because each has its own answer.
func TestBatchesHaveALimit(t *testing.T) {
	conn := store(t)
	fillLong(t, conn, 1000)
	service := newService(conn)
	for name, c := range map[string]struct {
		limit func(i int) int
		most  uint64 // bytes that are allocated; different queries read their own rows
	}{
		"equal":     {func(int) int { return 100 }, 200 << 20},
		"different": {func(i int) int { return 100 + i }, 400 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			var list []string
			for i := range MaxBatch {
				list = append(list,
					fmt.Sprintf(`"q%d":{"range":"last30Days","select":[{"column":"url"}],"limit":%d}`, i, c.limit(i)))
			}
			body := `{"queries":{` + strings.Join(list, ",") + `}}`
			var got batchResult
			bytes := allocated(func() { got, _ = askBatch(t, service, body) })
			answered, refused, total := 0, 0, 0
			for _, q := range got.Queries {
				switch {
				case q.Status == 200:
					answered, total = answered+1, total+len(q.Answer)
				case q.Status == 400 && strings.Contains(string(q.Answer), tooMuch):
					refused++
				}
			}
			if answered == 0 || refused == 0 || answered+refused != MaxBatch || total > service.config.MaxAnswer {
				t.Errorf("%d answers of %d bytes, %d refused", answered, total, refused)
			}
			if bytes > c.most {
				t.Errorf("%d MB were allocated", bytes>>20)
			}
		})
	}
}

// TestBlocksHaveALimit checks that the engine ends a statement whose result is too large for the node.
func TestBlocksHaveALimit(t *testing.T) {
	t.Parallel()
	conn := store(t)
	fillLong(t, conn, 1000)
	service := newService(conn, func(c *Config) { c.MaxAnswer = 1 << 20 })
	q := service.ask()
	p, err := compile(Site{ID: testSite}, []byte(`{"range":"last30Days","select":[{"column":"url"}]}`), testNow)
	if err != nil {
		t.Fatal(err)
	}
	st := lower(p)
	rows := 0
	err = q.run(t.Context(), st.Statement, nil, func(ctx context.Context, args []any) error {
		return q.read(ctx, st.SQL, args, st.targets, func() { rows++ })
	})
	if public, class := engineError(t.Context(), err); class != classTooHeavy || public.Message != tooLarge {
		t.Errorf("%v after %d rows", err, rows)
	}
}
