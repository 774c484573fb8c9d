package api

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// listPage answers one page of a list whose one sort key is the id. name identifies the list with its filters: a page token
// of another list is refused.
func listPage[Row, Resource any](
	name string, page schema.PageRequest,
	read func(after string, size int) (store.Page[Row], error), resource func(Row) Resource, id func(Resource) string,
) (schema.List[Resource], error) {
	return listKeyed(name, page, 1,
		func(after []string, size int) (store.Page[Row], error) {
			if after == nil {
				return read("", size)
			}
			return read(after[0], size)
		},
		resource, func(_ Row, r Resource) []string { return []string{id(r)} })
}

// listKeyed answers one page of a list that is sorted by several keys, the last of which makes the order total. read gets
// the keys of the last row of the page before, nil for the first page, and refuses keys that it cannot read.
func listKeyed[Row, Resource any](
	name string, page schema.PageRequest, keys int,
	read func(after []string, size int) (store.Page[Row], error), resource func(Row) Resource,
	keysOf func(Row, Resource) []string,
) (schema.List[Resource], error) {
	after, err := schema.PageKeys(name, page.Page, keys)
	if err != nil {
		return schema.List[Resource]{}, err
	}
	rows, err := read(after, page.Size())
	if err != nil {
		return schema.List[Resource]{}, err
	}
	list := schema.List[Resource]{Items: make([]Resource, len(rows.Rows)), Count: rows.Total}
	for i, row := range rows.Rows {
		list.Items[i] = resource(row)
	}
	if rows.More {
		last := len(rows.Rows) - 1
		list.Next = &schema.Next{Page: schema.PageToken(name, keysOf(rows.Rows[last], list.Items[last])...)}
	}
	return list, nil
}
