package frame

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/postgres"
)

// A page of a list ends at the requested number of objects or at maxListBytes of JSON, whichever comes first. An object
// that is larger than maxListBytes is alone on its page. Rows are read in steps of listStep. So if a page ends early,
// only a few rows were read that are not on it.
const (
	maxListBytes = 4 << 20
	listStep     = 100
)

// ListPage returns one page of a list that is sorted by one key. `name` identifies the list and its filters, so that a
// page token of another list is refused. `read` gets the key of the last row of the previous page, or "" for the first
// page.
func ListPage[Row, Resource any](
	ctx context.Context, name string, page schema.PageRequest,
	read func(after string, size int) (postgres.Page[Row], error), resource func(Row) Resource, key func(Row) string,
) (schema.List[Resource], error) {
	return ListMadePage(ctx, name, page, read, func(row Row) (Resource, error) { return resource(row), nil }, key)
}

// ListMadePage is like ListPage, for resources whose conversion from a row of the database can fail.
func ListMadePage[Row, Resource any](
	ctx context.Context, name string, page schema.PageRequest,
	read func(after string, size int) (postgres.Page[Row], error), resource func(Row) (Resource, error),
	key func(Row) string,
) (schema.List[Resource], error) {
	return ListMade(ctx, name, page, 1,
		func(after []string, size int) (postgres.Page[Row], error) {
			return read(strings.Join(after, ""), size) // after has one key, or no key for the first page.
		},
		resource, func(row Row) []string { return []string{key(row)} })
}

// ListKeyed returns one page of a list that is sorted by several keys. The last key must be unique, so that no two rows
// are equal. `read` returns an error for keys that it cannot parse.
func ListKeyed[Row, Resource any](
	ctx context.Context, name string, page schema.PageRequest, keys int,
	read func(after []string, size int) (postgres.Page[Row], error), resource func(Row) Resource,
	keysOf func(Row) []string,
) (schema.List[Resource], error) {
	return ListMade(ctx, name, page, keys, read, func(row Row) (Resource, error) { return resource(row), nil }, keysOf)
}

// ListMade is like ListKeyed, for resources whose conversion from a row of the database can fail.
func ListMade[Row, Resource any](
	ctx context.Context, name string, page schema.PageRequest, keys int,
	read func(after []string, size int) (postgres.Page[Row], error), resource func(Row) (Resource, error),
	keysOf func(Row) []string,
) (schema.List[Resource], error) {
	after, err := schema.PageKeys(name, page.Page, keys)
	if err != nil {
		return schema.List[Resource]{}, err
	}
	list, bytes := schema.List[Resource]{Items: []Resource{}}, 0
	for first := true; ; first = false {
		rows, err := read(after, min(page.Size()-len(list.Items), listStep))
		if err != nil {
			return schema.List[Resource]{}, err
		}
		if first {
			list.Count = rows.Total
		}
		for _, row := range rows.Rows {
			if err := ctx.Err(); err != nil {
				return schema.List[Resource]{}, err
			}
			item, err := resource(row)
			if err != nil {
				return schema.List[Resource]{}, err
			}
			if bytes += encodedSize(item); bytes > maxListBytes && len(list.Items) > 0 {
				list.Next = &schema.Next{Page: schema.PageToken(name, after...)}
				return list, nil
			}
			list.Items, after = append(list.Items, item), keysOf(row)
		}
		if !rows.More {
			return list, nil
		}
		if len(list.Items) >= page.Size() {
			list.Next = &schema.Next{Page: schema.PageToken(name, after...)}
			return list, nil
		}
	}
}

// byteCount is a writer that counts the bytes.
type byteCount int

func (n *byteCount) Write(p []byte) (int, error) {
	*n += byteCount(len(p))
	return len(p), nil
}

// encodedSize returns the size of an object as JSON. It returns 0 for an object that cannot be encoded, because the
// encoding of the answer then fails.
func encodedSize(value any) int {
	var n byteCount
	if err := json.MarshalWrite(&n, value, jsontext.AllowInvalidUTF8(true), schema.Outgoing()); err != nil {
		return 0
	}
	return int(n)
}
