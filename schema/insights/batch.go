package insights

import (
	"errors"
	"fmt"
	"math"
)

// Position is the place of a message in the log. It is stored with each row. Together with the event's index in its
// message, it identifies the event.
type Position struct {
	Partition uint16
	Offset    uint64
}

// Batch collects the rows of many messages by column, for one insert. The strings of the batch share memory with the
// messages, so the messages must not change until Reset is called.
type Batch struct {
	columns   []fieldBuffer // columns of the fields, in the order of the fields
	site      buffer[string]
	partition buffer[uint16]
	offset    buffer[uint64]
	index     buffer[uint16]
	received  buffer[int64] // seconds
	event     reader        // reads the current event; as a member it is allocated only once
}

// NewBatch makes an empty batch.
func NewBatch() *Batch {
	b := &Batch{columns: make([]fieldBuffer, len(fields))}
	for i := range fields {
		b.columns[i] = fields[i].wire.buffer()
	}
	return b
}

// Rows returns the number of collected rows.
func (b *Batch) Rows() int { return len(b.site.list) }

// Add adds the events of a message. It calls `skip` with the index of each event in the message, and leaves out the
// event if `skip` returns true. If `skip` is nil, it adds all events. After an error the batch is unchanged. The error
// wraps ErrNewer if the message is complete but has fields that only a newer version knows.
func (b *Batch) Add(m Message, at Position, skip func(index int) bool) error {
	before := b.Rows()
	r := reader{b: m.events}
	received := m.receivedSecond()
	for i := range m.Count {
		size := r.uvarint()
		if r.err != nil || size > uint64(len(r.b)) {
			b.truncate(before)
			return fmt.Errorf("%w: event %d of %d ends too early", ErrMessage, i, m.Count)
		}
		b.event = reader{b: r.b[:size]}
		r.b = r.b[size:]
		if skip != nil && skip(i) {
			continue
		}
		if err := b.addEvent(&b.event); err != nil {
			b.truncate(before)
			if errors.Is(err, ErrNewer) && !framed(r, m.Count-i-1) {
				err = fmt.Errorf("%w: its events do not fill it", ErrMessage)
			}
			return fmt.Errorf("event %d of %d: %w", i, m.Count, err)
		}
		b.site.list = append(b.site.list, m.Site)
		b.partition.list = append(b.partition.list, at.Partition)
		b.offset.list = append(b.offset.list, at.Offset)
		b.index.list = append(b.index.list, uint16(i))
		b.received.list = append(b.received.list, received)
	}
	if len(r.b) != 0 {
		b.truncate(before)
		return fmt.Errorf("%w: %d bytes after its events", ErrMessage, len(r.b))
	}
	return nil
}

// framed reports whether r contains exactly the given number of events. It does not check their content. If it returns
// false, the message is damaged, and unknown bits in it are not the fields of a newer version.
func framed(r reader, events int) bool {
	for range events {
		if r.str(); r.err != nil {
			return false
		}
	}
	return len(r.b) == 0
}

func (b *Batch) addEvent(r *reader) error {
	mask := r.u64()
	if mask&^knownFields != 0 && r.err == nil {
		return fmt.Errorf("%w: it has fields that this program does not know (mask %x)", ErrNewer, mask&^knownFields)
	}
	for i, c := range b.columns {
		if mask&(1<<fields[i].id) != 0 {
			c.take(r)
		} else {
			c.absent()
		}
	}
	if r.err == nil && len(r.b) != 0 {
		r.err = errors.New("bytes are left over")
	}
	return r.err
}

// truncate drops row n and all later rows. This includes a row for which only some columns have a value.
func (b *Batch) truncate(n int) {
	for _, c := range b.columns {
		c.truncate(n)
	}
	b.site.truncate(n)
	b.partition.truncate(n)
	b.offset.truncate(n)
	b.index.truncate(n)
	b.received.truncate(n)
}

// Reset empties the batch and drops its references to the messages.
func (b *Batch) Reset() {
	b.truncate(0)
	b.event = reader{}
}

// InsertColumns returns the names of the table's columns, in the order of Values.
func InsertColumns() []string {
	names := []string{ColumnSite, ColumnPartition, ColumnOffset, ColumnIndex, ColumnReceived}
	for i := range fields {
		names = append(names, fields[i].Name)
	}
	return names
}

// Values returns the columns in the order of InsertColumns. Each column is a slice that clickhouse-go appends without
// conversion. The slices are valid until the batch changes.
func (b *Batch) Values() []any {
	list := []any{b.site.values(), b.partition.values(), b.offset.values(), b.index.values(), b.received.values()}
	for _, c := range b.columns {
		list = append(list, c.values())
	}
	return list
}

// Earliest returns the earliest time of the rows' events, in milliseconds since 1970. It returns math.MaxInt64 if there
// are no rows.
func (b *Batch) Earliest() int64 {
	at := int64(math.MaxInt64)
	for _, millis := range b.columns[fieldTime].(*buffer[int64]).list {
		at = min(at, millis)
	}
	return at
}

// RowContent has the values that distinguish two events with equal positions. Positions are unique within a log, but a
// recreated log repeats them.
type RowContent struct {
	Site             string
	Visitor, Session uint64
	TimeMillis       int64
}

// Content returns the content of a row. The site shares memory with the message.
func (b *Batch) Content(row int) RowContent {
	return RowContent{
		Site:       b.site.list[row],
		Visitor:    b.columns[fieldVisitor].(*buffer[uint64]).list[row],
		Session:    b.columns[fieldSession].(*buffer[uint64]).list[row],
		TimeMillis: b.columns[fieldTime].(*buffer[int64]).list[row],
	}
}

// EventKey returns the id and the generation of the publishable key of a row. It returns "" for an event without a key.
// The text shares memory with the message.
func (b *Batch) EventKey(row int) string { return b.columns[fieldEventKey].(*buffer[string]).list[row] }

// The value of each variable is the index of a field in the list `fields`.
var (
	fieldTime, fieldVisitor = placeOf("time"), placeOf("visitor")
	fieldSession            = placeOf("session")
	fieldEventKey           = placeOf(ColumnEventKey)
)

func placeOf(name string) int {
	for i := range fields {
		if fields[i].Name == name {
			return i
		}
	}
	panic("BUG: no field " + name)
}
