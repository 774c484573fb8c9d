package ingesttest

import (
	"reflect"

	"github.com/octavo-docs/octavo/schema/insights"
)

// Row is a stored row by column name, without empty values.
type Row map[string]any

// RowsOf decodes a log message like the sink.
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
			if names[c] == insights.ColumnReceived { // the message's time, not the event's: TestReceivedDay
				continue
			}
			if !v.IsZero() && (v.Kind() != reflect.Float32 || v.Float() == v.Float()) {
				list[i][names[c]] = v.Interface()
			}
		}
	}
	return list
}
