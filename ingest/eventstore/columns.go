package eventstore

import (
	"reflect"

	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// driverColumns are the columns of an insert as the driver encodes them. The
// driver makes new ones for each insert, which grow from nothing; growing them
// and collecting the garbage was the sink's largest cost (bench/results). So a
// finished insert's columns are used again.
type driverColumns []column.Interface

// takeColumns returns empty columns for a batch, until returnColumns.
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

// returnColumns takes columns back that the driver no longer reads.
func (c *ClickHouse) returnColumns(columns driverColumns) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spare = columns
}

// sameTypes reports whether the columns have the same names and types, in the
// same order: the table may have been altered.
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

// moveInto makes the columns those of the batch, which shares their memory until
// it is sent. The driver lets a batch's columns be filled but not replaced, so
// each is overwritten in place with one of the same type.
func (own driverColumns) moveInto(batch driver.Batch) {
	for i, theirs := range batch.Columns() {
		if theirs != own[i] {
			reflect.ValueOf(theirs).Elem().Set(reflect.ValueOf(own[i]).Elem())
		}
	}
}
