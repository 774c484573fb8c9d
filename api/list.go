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
	after := ""
	keys, err := schema.PageKeys(name, page.Page, 1)
	if err != nil {
		return schema.List[Resource]{}, err
	}
	if len(keys) == 1 {
		after = keys[0]
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
		list.Next = &schema.Next{Page: schema.PageToken(name, id(list.Items[len(list.Items)-1]))}
	}
	return list, nil
}
