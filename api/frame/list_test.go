package frame

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/postgres"
)

// TestListsAreBoundedByBytes reads all pages of a list with small and large objects. Every object is on exactly one
// page. No page is empty. A page is larger than the limit only if it has a single object that is larger than the limit.
func TestListsAreBoundedByBytes(t *testing.T) {
	t.Parallel()
	const rows = 120
	size := func(row int) int { return []int{10, maxListBytes / 3, 5000, 10, 5000, 2 * maxListBytes, 10, 10}[row%8] }
	read := func(after string, size int) (postgres.Page[int], error) {
		from, _ := strconv.Atoi(after)
		page := postgres.Page[int]{Total: rows, More: from+size < rows}
		for row := from + 1; row <= min(from+size, rows); row++ {
			page.Rows = append(page.Rows, row)
		}
		return page, nil
	}
	type object struct{ ID, Text string }
	resource := func(row int) object { return object{strconv.Itoa(row), strings.Repeat("x", size(row))} }
	list := func(ctx context.Context, limit int, page string) (schema.List[object], error) {
		return ListPage(ctx, "l", schema.PageRequest{Page: page, Limit: &limit}, read, resource, strconv.Itoa)
	}
	for _, limit := range []int{1, 7, 1000} {
		seen, page := 0, ""
		for {
			got, err := list(t.Context(), limit, page)
			bytes := encodedSize(got.Items)
			if err != nil || got.Count != rows || len(got.Items) == 0 || len(got.Items) > limit ||
				len(got.Items) > 1 && bytes > maxListBytes+len(got.Items)+2 {
				t.Fatalf("limit %d: %d objects in %d bytes, count %d, %v", limit, len(got.Items), bytes, got.Count, err)
			}
			for _, o := range got.Items {
				if seen++; o.ID != strconv.Itoa(seen) {
					t.Fatalf("limit %d: %s after %d", limit, o.ID, seen-1)
				}
			}
			if got.Next == nil {
				break
			}
			page = got.Next.Page
		}
		if seen != rows {
			t.Errorf("limit %d: %d objects", limit, seen)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := list(ended, 10, ""); err == nil {
		t.Error("a list goes on behind its deadline")
	}
}
