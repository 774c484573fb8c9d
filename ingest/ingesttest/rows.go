package ingesttest

import (
	"reflect"

	"github.com/octavo-docs/octavo/schema/insights"
)

// Row has the values of a stored row by the names of their columns, without empty values.
type Row map[string]any

// RowsOf returns the rows that the sink would store for a message of the log.
func RowsOf(t interface {
	Helper()
	Fatal(...any)
}, message []byte) []Row {
	t.Helper()
	m, err := insights.ParseMessage(message)
	if err != nil {
		t.Fatal(err)
	}
	b := insights.NewBatch()
	if err := b.Add(m, insights.Position{}, nil); err != nil {
		t.Fatal(err)
	}
	list := make([]Row, b.Rows())
	names := insights.InsertColumns()
	for i := range list {
		list[i] = Row{}
		for c, values := range b.Values() {
			v := reflect.ValueOf(values).Index(i)
			if names[c] == insights.ColumnReceived { // the column has the time of the message; TestReceivedDay tests it
				continue
			}
			if !empty(v) {
				list[i][names[c]] = v.Interface()
			}
		}
	}
	return list
}

// empty reports whether the value v of a column means that there is no value. A missing measurement is stored as a
// negative number.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Float32:
		return v.Float() != v.Float() || v.Float() == 0
	case reflect.Int32:
		return v.Int() < 0
	default:
		return v.IsZero()
	}
}
