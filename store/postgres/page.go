package postgres

import "github.com/octavo-docs/octavo/schema"

// Page is one page of rows and the total. More means that further rows follow the last row.
type Page[T any] struct {
	Rows  []T
	Total int64
	More  bool
}

// PageOf drops the extra row, which was only read to find out whether the list continues.
func PageOf[T any](rows []T, size int, total int64) Page[T] {
	if len(rows) > size {
		// A page without rows has no cursor, so it counts as the last page.
		return Page[T]{Rows: rows[:size], Total: total, More: size > 0}
	}
	return Page[T]{Rows: rows, Total: total}
}

// PageSize returns the number of rows to read for a page: one more than the page, see PageOf.
func PageSize(size int) int32 { return int32(min(size, schema.MaxLimit)) + 1 } // min bounds the size.
