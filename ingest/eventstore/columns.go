package eventstore

import (
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// driverColumns are the columns of an insert in the driver's encoding. The driver allocates new, empty columns for each
// insert. Their growth and the garbage collection were the sink's largest cost (bench/results). So the next insert
// reuses the columns of a finished insert.
type driverColumns []column.Interface

// takeColumns returns empty columns for a batch. The insert of this batch owns the columns until it calls
// returnColumns.
func (c *ClickHouse) takeColumns(batch driver.Batch) driverColumns {
	c.mu.Lock()
	spare := c.spare
	c.spare = nil
	c.mu.Unlock()
	fresh := driverColumns(batch.Columns())
	if !spare.sameTypes(fresh) {
		return fresh
	}
	for _, col := range spare {
		col.Reset()
	}
	return spare
}

// returnColumns takes back columns that the driver no longer reads, for the next insert.
func (c *ClickHouse) returnColumns(columns driverColumns) {
	if slices.ContainsFunc(columns, func(col column.Interface) bool { return !overwrite(col, col) }) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spare = columns
}

// sameTypes reports whether both lists have the same names and types in the same order. The lists differ if the events
// table was altered.
func (own driverColumns) sameTypes(other driverColumns) bool {
	if len(own) != len(other) {
		return false
	}
	for i := range own {
		if own[i].Name() != other[i].Name() || own[i].Type() != other[i].Type() {
			return false
		}
	}
	return true
}

// moveInto puts the columns into the batch. The batch and the columns share memory until the batch is sent. The driver
// lets callers fill a batch's columns but not replace them. So moveInto overwrites each column in place with a column
// of the same type.
func (own driverColumns) moveInto(batch driver.Batch) {
	for i, theirs := range batch.Columns() {
		if theirs != own[i] {
			overwrite(theirs, own[i])
		}
	}
}

// overwrite copies the column `own` to the column `theirs`. It returns false if the two columns have different types,
// or if the switch lacks their type.
func overwrite(theirs, own column.Interface) bool {
	switch theirs := theirs.(type) {
	case *column.String:
		return assign(theirs, own)
	case *column.Int8:
		return assign(theirs, own)
	case *column.UInt8:
		return assign(theirs, own)
	case *column.UInt16:
		return assign(theirs, own)
	case *column.Int32:
		return assign(theirs, own)
	case *column.UInt64:
		return assign(theirs, own)
	case *column.Float32:
		return assign(theirs, own)
	case *column.DateTime:
		return assign(theirs, own)
	case *column.DateTime64:
		return assign(theirs, own)
	case *column.Enum8:
		return assign(theirs, own)
	case *column.Map:
		return assign(theirs, own)
	case *column.Nullable: // a column is Nullable only if an operator has altered the events table
		return assign(theirs, own)
	}
	return false
}

func assign[C any](theirs *C, own column.Interface) bool {
	from, same := any(own).(*C)
	if same {
		*theirs = *from
	}
	return same
}
