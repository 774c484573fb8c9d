package ingest

import (
	"reflect"

	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// driverColumns are the columns of an insert as the driver encodes them. The
// driver makes new ones for each insert, which grow from nothing: their
// growing, and collecting what they leave behind, took more of the sink than
// all else (bench/results). So those of an insert that is over are filled again.
type driverColumns []column.Interface

// columns are empty ones for a batch. They are the caller's until done.
func (c *ClickHouse) columns(batch driver.Batch) driverColumns {
	c.mu.Lock()
	own := c.spare
	c.spare = nil
	c.mu.Unlock()
	fresh := driverColumns(batch.Columns())
	if !own.like(fresh) {
		return fresh
	}
	for _, col := range own {
		col.Reset()
	}
	return own
}

// done takes columns back once the driver no longer reads them.
func (c *ClickHouse) done(own driverColumns) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spare = own
}

// like tells whether the columns are of the same types, in the same order: the
// table may have been altered since.
func (own driverColumns) like(other driverColumns) bool {
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

// give makes the columns those of the batch, which shares their memory until
// it is sent. The batch lets its columns be filled but not replaced, so each
// is overwritten where it stands: the types are the same.
func (own driverColumns) give(batch driver.Batch) {
	for i, theirs := range batch.Columns() {
		if theirs != own[i] {
			reflect.ValueOf(theirs).Elem().Set(reflect.ValueOf(own[i]).Elem())
		}
	}
}
