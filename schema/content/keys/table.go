package keys

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/diff"
)

const typeTable = "table"

// table is a table block with its columns and rows in display order.
type table struct {
	data       schema.Data
	view       map[string]any
	definition map[string]any
	records    map[string]any
	columns    []string
	rows       []string
	fragments  map[string]*schema.Node
}

// tableOf reads a table block. Missing parts are empty.
func tableOf(n *schema.Node) table {
	t := table{data: n.Data, fragments: map[string]*schema.Node{}}
	t.view, _ = n.Data["view"].(map[string]any)
	t.definition, _ = n.Data["definition"].(map[string]any)
	t.records, _ = n.Data["records"].(map[string]any)
	shown, _ := t.view["columns"].([]any)
	listed := map[string]bool{}
	for _, column := range shown {
		if id, ok := column.(string); ok && t.definition[id] != nil && !listed[id] {
			t.columns, listed[id] = append(t.columns, id), true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(t.definition)) {
		if !listed[id] {
			t.columns = append(t.columns, id)
		}
	}
	t.rows = RowOrder(t.records)
	for i := range n.Fragments {
		t.fragments[n.Fragments[i].Fragment] = &n.Fragments[i]
	}
	return t
}

// RowOrder lists the ids of a table's records in display order.
func RowOrder(records map[string]any) []string {
	ids := slices.Sorted(maps.Keys(records))
	slices.SortStableFunc(ids, func(a, b string) int { return cmp.Compare(OrderIndex(records[a]), OrderIndex(records[b])) })
	return ids
}

// OrderIndex returns the text by which a table's records are sorted.
func OrderIndex(record any) string {
	members, _ := record.(map[string]any)
	index, _ := members["orderIndex"].(string)
	return index
}

func (t table) values(row string) map[string]any {
	record, _ := t.records[row].(map[string]any)
	values, _ := record["values"].(map[string]any)
	return values
}

// cell returns the fragment that a cell shows. The second result is false if the cell shows no fragment.
func (t table) cell(row, column string) (*schema.Node, bool) {
	name, _ := t.values(row)[column].(string)
	f, ok := t.fragments[name]
	return f, ok
}

// cellHash returns the hash of a cell's content.
func (t table) cellHash(row, column string) Hash {
	if f, ok := t.cell(row, column); ok {
		nameless := *f
		nameless.Fragment = ""
		return HashOf(&nameless)
	}
	return hashValue(t.values(row)[column])
}

// columnHash returns the hash of a column's definition without its id.
func (t table) columnHash(id string) Hash {
	definition, _ := t.definition[id].(map[string]any)
	nameless := maps.Clone(definition)
	delete(nameless, "id")
	return hashValue(nameless)
}

// names maps the ids of a table's columns and rows, its fragments' names and its order indexes to new names. An id or
// name without an entry stays unchanged.
type names struct {
	columns, rows, fragments, order map[string]string
}

func newNames() names {
	return names{columns: map[string]string{}, rows: map[string]string{}, fragments: map[string]string{}, order: map[string]string{}}
}

// rename returns the table with other ids.
func (t table) rename(n *schema.Node, to names) schema.Node {
	renamed := *n
	renamed.Data = maps.Clone(n.Data)
	if t.view != nil {
		view := map[string]any{}
		for member, value := range t.view {
			if member != "type" && member != "cardSize" {
				value = renameValue(value, to.columns)
			}
			view[member] = value
		}
		renamed.Data["view"] = view
	}
	if t.definition != nil {
		definition := map[string]any{}
		for id, value := range t.definition {
			if about, ok := value.(map[string]any); ok {
				about = maps.Clone(about)
				if about["id"] == id {
					about["id"] = renameText(id, to.columns)
				}
				value = about
			}
			definition[renameText(id, to.columns)] = value
		}
		renamed.Data["definition"] = definition
	}
	if t.records != nil {
		records := map[string]any{}
		for id, value := range t.records {
			records[renameText(id, to.rows)] = t.renameRecord(id, value, to)
		}
		renamed.Data["records"] = records
	}
	renamed.Fragments = slices.Clone(n.Fragments)
	for i := range renamed.Fragments {
		renamed.Fragments[i].Fragment = renameText(renamed.Fragments[i].Fragment, to.fragments)
	}
	return renamed
}

func (t table) renameRecord(id string, value any, to names) any {
	record, ok := value.(map[string]any)
	if !ok {
		return value
	}
	record = maps.Clone(record)
	if index, ok := to.order[id]; ok {
		record["orderIndex"] = index
	}
	if values, ok := record["values"].(map[string]any); ok {
		cells := map[string]any{}
		for column, cell := range values {
			if name, isName := cell.(string); isName && t.fragments[name] != nil {
				cell = renameText(name, to.fragments)
			}
			cells[renameText(column, to.columns)] = cell
		}
		record["values"] = cells
	}
	return record
}

func renameText(text string, to map[string]string) string {
	if name, ok := to[text]; ok {
		return name
	}
	return text
}

func renameValue(value any, to map[string]string) any {
	switch value := value.(type) {
	case string:
		return renameText(value, to)
	case []any:
		list := make([]any, len(value))
		for i := range value {
			list[i] = renameValue(value[i], to)
		}
		return list
	case map[string]any:
		members := make(map[string]any, len(value))
		for name, member := range value {
			members[renameText(name, to)] = renameValue(member, to)
		}
		return members
	}
	return value
}

// canonicalTable returns the table with ids that depend only on the order of columns and rows.
func canonicalTable(n *schema.Node) schema.Node {
	t, to := tableOf(n), newNames()
	for i, id := range t.columns {
		to.columns[id] = "c" + strconv.Itoa(i)
	}
	for i, id := range t.rows {
		to.rows[id], to.order[id] = "r"+strconv.Itoa(i), fmt.Sprintf("%06d", i)
		for j, column := range t.columns {
			if f, ok := t.cell(id, column); ok {
				if _, named := to.fragments[f.Fragment]; !named {
					to.fragments[f.Fragment] = "r" + strconv.Itoa(i) + "c" + strconv.Itoa(j)
				}
			}
		}
	}
	renamed := t.rename(n, to)
	slices.SortStableFunc(renamed.Fragments, func(a, b schema.Node) int { return cmp.Compare(a.Fragment, b.Fragment) })
	return renamed
}

// table gives a new table the ids of the table that it replaces: the ids of columns, records and cells' fragments. The
// reader of Markdown numbers these ids, so without this method a new row would change the ids of all rows below it.
func (c *carrier) table(was, is *schema.Node) {
	old, t, to := tableOf(was), tableOf(is), newNames()
	columns := c.pairColumns(old, t)
	used := map[string]bool{}
	for id := range old.definition {
		used[id] = true
	}
	for j, id := range t.columns {
		if at := columns[j]; at != diff.None {
			to.columns[id] = old.columns[at]
		} else {
			to.columns[id] = free("c", t.columnHash(id), used)
		}
	}
	rows := c.pairRows(old, t, columns)
	used = map[string]bool{}
	for id := range old.records {
		used[id] = true
	}
	hashes := t.rowHashes(t.columns)
	for j, id := range t.rows {
		if at := rows[j]; at != diff.None {
			to.rows[id] = old.rows[at]
		} else {
			to.rows[id] = free("r", hashValue(hashes[j]), used)
		}
	}
	c.order(old, t, rows, to)
	used = map[string]bool{}
	for name := range old.fragments {
		used[name] = true
	}
	for j, row := range t.rows {
		for k, column := range t.columns {
			f, ok := t.cell(row, column)
			if !ok {
				continue
			}
			if rows[j] != diff.None && columns[k] != diff.None {
				if cell, ok := old.cell(old.rows[rows[j]], old.columns[columns[k]]); ok {
					to.fragments[f.Fragment] = cell.Fragment
					c.list(cell.Nodes, f.Nodes)
					continue
				}
			}
			to.fragments[f.Fragment] = free("", hashValue(to.rows[row]+" "+to.columns[column]), used)
		}
	}
	*is = t.rename(is, to)
}

// free derives a name that is not used.
func free(prefix string, of Hash, used map[string]bool) string {
	name := prefix + shortOf(of)
	for used[name] {
		of = hashValue(of[:])
		name = prefix + shortOf(of)
	}
	used[name] = true
	return name
}

// pairColumns returns, for each column, the index of its old column. Between two unchanged columns, changed columns are
// paired in order if the old and the new table have the same number of them.
func (c *carrier) pairColumns(old, t table) []int {
	hashes := func(t table) []Hash {
		list := make([]Hash, len(t.columns))
		for i, id := range t.columns {
			list[i] = t.columnHash(id)
		}
		return list
	}
	return fill(diff.Match(hashes(t), hashes(old)), len(old.columns), func(a0, a1, b0, b1 int) []int {
		return diff.Align(a1-a0, b1-b0, func(i, j int) float64 {
			if a1-a0 == b1-b0 && i == j {
				return 1
			}
			return 0
		})
	})
}

// pairRows returns, for each row, the index of the equal old row, or of the old row with the most equal cells.
func (c *carrier) pairRows(old, t table, columns []int) []int {
	var ids, olds []string
	for j, at := range columns {
		if at != diff.None {
			ids, olds = append(ids, t.columns[j]), append(olds, old.columns[at])
		}
	}
	if len(ids) == 0 {
		return slices.Repeat([]int{diff.None}, len(t.rows))
	}
	mine, theirs := t.rowHashes(ids), old.rowHashes(olds)
	whole := func(rows [][]Hash) []Hash {
		list := make([]Hash, len(rows))
		for i, row := range rows {
			list[i] = hashValue(row)
		}
		return list
	}
	return fill(diff.Match(whole(mine), whole(theirs)), len(old.rows), func(a0, a1, b0, b1 int) []int {
		n, m := a1-a0, b1-b0
		if n*m*len(ids) > maxPairs {
			m = 0
		}
		return diff.Align(n, m, func(i, j int) float64 {
			equal := 0
			for k := range ids {
				if mine[a0+i][k] == theirs[b0+j][k] {
					equal++
				}
			}
			score := float64(equal) / float64(len(ids))
			if n == m && i == j {
				score += 0.2
			}
			return score
		})
	})
}

func (t table) rowHashes(columns []string) [][]Hash {
	rows := make([][]Hash, len(t.rows))
	for i, row := range t.rows {
		for _, column := range columns {
			rows[i] = append(rows[i], t.cellHash(row, column))
		}
	}
	return rows
}

// fill calls `between` for each gap between two pairs, and adds the pairs that `between` returns.
func fill(pairs []int, b int, between func(a0, a1, b0, b1 int) []int) []int {
	a0, b0 := 0, 0
	gap := func(a1, b1 int) {
		if a0 == a1 || b0 == b1 {
			return
		}
		for i, j := range between(a0, a1, b0, b1) {
			if j != diff.None {
				pairs[a0+i] = b0 + j
			}
		}
	}
	for i := range pairs {
		if j := pairs[i]; j != diff.None {
			gap(i, j)
			a0, b0 = i+1, j+1
		}
	}
	gap(len(pairs), b)
	return pairs
}

// order gives each new row an order index between the order indexes of its neighbours. If that is not possible, it
// gives all rows new order indexes.
func (c *carrier) order(old, t table, rows []int, to names) {
	last, ok := "", true
	for j, id := range t.rows {
		index := last + "5"
		if rows[j] != diff.None {
			index = OrderIndex(old.records[old.rows[rows[j]]])
		} else if last == "" {
			ok = false
		}
		ok = ok && index > last
		to.order[id], last = index, index
	}
	if ok {
		return
	}
	for j, id := range t.rows {
		to.order[id] = fmt.Sprintf("%06d", j+1)
	}
}
