package postgres

import "github.com/octavo-docs/octavo/schema"

// Page is one page of a list. Total is the number of all rows of the list. More is true if further rows follow the
// page.
type Page[T any] struct {
	Rows  []T
	Total int64
	More  bool
}

// PageOf returns a page from the rows of a statement with PageSize(size). It removes the extra row, which was read only
// to find out whether the list continues.
func PageOf[T any](rows []T, size int, total int64) Page[T] {
	if len(rows) > size {
		// A page of size 0 has no row for a cursor, so it is the last page.
		return Page[T]{Rows: rows[:size], Total: total, More: size > 0}
	}
	return Page[T]{Rows: rows, Total: total}
}

// PageSize returns the number of rows that a statement must read for a page: one more than the page has (see PageOf).
func PageSize(size int) int32 { return int32(min(size, schema.MaxLimit)) + 1 } // min limits the size
