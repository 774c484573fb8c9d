package eventstore

import (
	"os"
	"strconv"
	"testing"

	"github.com/octavo-docs/octavo/schema"
)

// BenchmarkComparison measures the queries with which the ledger is compared with a large table: the number of rows of
// each month, the number of rows at or after an offset, and the search for doubled rows. This search runs only if there
// is a surplus.
func BenchmarkComparison(b *testing.B) {
	rows := 1_000_000
	if n, err := strconv.Atoi(os.Getenv("OCTAVO_BENCH_ROWS")); err == nil {
		rows = n
	}
	store, conn := newTestStore(b)
	const piece = 250_000
	for at := 0; at < rows; at += piece {
		err := conn.Exec(b.Context(), "INSERT INTO events (site, visitor, session, time, log_partition, log_offset, "+
			"log_index, received) SELECT 'site' || toString(intDiv(number, 50000) % 20), intDiv(number, 10), "+
			"intDiv(number, 10), toDateTime64('2026-01-01 00:00:00', 3) + intDiv(number, 10), number % 4, "+
			"intDiv(number, 40), intDiv(number, 4) % 10, toDateTime('2026-01-01 00:00:00') + intDiv(number, "+
			strconv.Itoa(rows/8)+") * 2678400 FROM numbers("+strconv.Itoa(at)+", "+
			strconv.Itoa(min(piece, rows-at))+")")
		if err != nil {
			b.Fatal(err)
		}
	}
	months, err := store.AllMonths(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	ends := map[int]int64{}
	for id := range 4 {
		ends[id] = int64(rows/40) - 100
	}
	b.Run("all months", func(b *testing.B) {
		for b.Loop() {
			if _, err := store.AllMonths(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("uncounted rows of all months", func(b *testing.B) {
		list := make([]schema.EventMonth, 0, len(months))
		for month := range months {
			list = append(list, month)
		}
		for b.Loop() {
			if _, err := store.MonthsFrom(b.Context(), ends, list); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("doubled rows of a month", func(b *testing.B) {
		for month := range months {
			for b.Loop() {
				if d, err := store.Doubled(b.Context(), month); err != nil || d.Rows != 0 {
					b.Fatal(err, d)
				}
			}
			break
		}
	})
}
