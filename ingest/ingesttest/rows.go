package ingesttest

import (
	"reflect"

	"github.com/octavo-docs/octavo/schema/insights"
)

// Row is a stored row by column name, without empty values.
type Row map[string]any

// RowsOf decodes a log message as the sink does.
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
			if names[c] == insights.ColumnReceived { // it is the time of the message; TestReceivedDay tests it
				continue
			}
			if !empty(v) {
				list[i][names[c]] = v.Interface()
			}
		}
	}
	return list
}

// empty reports whether a row has no value in the column. A number without a measurement is negative.
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
