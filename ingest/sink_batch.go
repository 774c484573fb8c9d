package ingest

import (
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
)

// sinkBatch is what one insert stores and then commits: the messages of whole
// chunks. It owns the chunks, whose bytes its rows alias.
type sinkBatch struct {
	rows     *insights.Batch
	messages []sinkMessage
	chunks   []*chunk
	bytes    int
	began    time.Time // when its first chunk came
	oldest   int64     // when its oldest message was received, milliseconds
	reached  map[int]reached
	skipped  struct{ position, repeat int }
}

// sinkMessage is a message with rows in the batch.
type sinkMessage struct {
	message insights.Message
	at      insights.Position
}

// reached is how far a batch goes in a partition.
type reached struct{ next, highWater int64 }

func newSinkBatch() *sinkBatch {
	return &sinkBatch{rows: insights.NewBatch(), reached: map[int]reached{}}
}

// reset gives the chunks back.
func (b *sinkBatch) reset() {
	b.rows.Reset()
	clear(b.messages)
	b.messages = b.messages[:0]
	for _, c := range b.chunks {
		c.free()
	}
	clear(b.chunks)
	b.chunks = b.chunks[:0]
	clear(b.reached)
	b.bytes, b.oldest = 0, 0
	b.skipped.position, b.skipped.repeat = 0, 0
}

func (b *sinkBatch) empty() bool { return len(b.chunks) == 0 }

// add takes a message's rows but for those that stored has. It returns how
// many it left out. After an error the batch is as before.
func (b *sinkBatch) add(m sinkMessage, stored storedRows, scratch *insights.Batch) (left int, err error) {
	skip, err := stored.skip(m, scratch)
	if err != nil {
		return 0, err
	}
	before := b.rows.Rows()
	if err := b.rows.Add(m.message, m.at, skip); err != nil {
		return 0, err
	}
	b.messages = append(b.messages, m)
	if b.oldest == 0 || m.message.ReceivedMillis < b.oldest {
		b.oldest = m.message.ReceivedMillis
	}
	return m.message.Count - (b.rows.Rows() - before), nil
}

// rebuild fills the rows anew, without those that stored has.
func (b *sinkBatch) rebuild(stored map[uint16]storedRows, scratch *insights.Batch) error {
	messages := b.messages
	b.messages = b.messages[:0]
	b.rows.Reset()
	for _, m := range messages {
		left, err := b.add(m, stored[m.at.Partition], scratch)
		if err != nil {
			return err // it was added before: it cannot fail now
		}
		b.skipped.position += left
	}
	return nil
}

// ranges are the first and last offset of the batch in each partition.
func (b *sinkBatch) ranges() map[uint16][2]uint64 {
	list := map[uint16][2]uint64{}
	for _, m := range b.messages {
		r, ok := list[m.at.Partition]
		if !ok {
			r[0] = m.at.Offset
		}
		r[1] = m.at.Offset
		list[m.at.Partition] = r
	}
	return list
}

// storedRows are stored rows by offset and index.
type storedRows map[uint64]map[uint16]insights.RowContent

func indexStored(list []StoredRow) storedRows {
	rows := storedRows{}
	for _, r := range list {
		if rows[r.Offset] == nil {
			rows[r.Offset] = map[uint16]insights.RowContent{}
		}
		rows[r.Offset][r.Index] = r.Content
	}
	return rows
}

// skip tells which events of a message are stored: those with a row at their
// position and with their content. nil is none.
func (s storedRows) skip(m sinkMessage, scratch *insights.Batch) (func(int) bool, error) {
	at := s[m.at.Offset]
	if len(at) == 0 {
		return nil, nil
	}
	defer scratch.Reset()
	if err := scratch.Add(m.message, m.at, nil); err != nil {
		return nil, err
	}
	same := make([]bool, scratch.Rows())
	for i := range same {
		content, ok := at[uint16(i)]
		same[i] = ok && content == scratch.Content(i)
	}
	return func(i int) bool { return same[i] }, nil
}
