package sink

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/cespare/xxhash/v2"

	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/schema/insights"
)

// cut has the messages of one insert: the messages of a partition with offsets in [from, to). The rows of a cut share
// the memory of its chunks. The cut owns these chunks.
type cut struct {
	partition *partition
	from, to  int64
	highWater int64 // end of the log when the cut was read
	oldest    int64 // time in milliseconds at which the oldest message was received
	sum       uint64
	tail      uint64 // checksum of the last message
	plain     int64  // value of progress.plain at the cut's end
	lost      losses
	newer     error // why this version cannot read the next message; nil if the cut ends for another reason

	rows       *insights.Batch
	messages   []cutMessage
	total      int   // number of rows of all messages
	firstTime  int64 // earliest time of the rows' events
	unreadable []unreadable
	repeats    int // number of events in repeated messages
	chunks     []*chunk
	digest     *xxhash.Digest

	// uncertain means that an earlier insert may have stored a part of the cut. This insert may still be running.
	uncertain bool
	// bisected means that the store refused an insert of the cut because of its rows, so the sink inserts the cut in
	// halves.
	bisected      bool
	knownStored   storedRows // rows of a bisected cut that are stored; nil until they are read
	alreadyStored int        // number of rows that were stored before this sink began to store the cut
	refused       []refusedRow
	honours       int64        // the sink stores no rows that tombstones up to this version erase
	erased        map[int]bool // indexes of the rows of erased visitors, which are not stored
}

// cutMessage is a message with rows in a cut.
type cutMessage struct {
	message insights.Message
	at      insights.Position
	first   int // index of the message's first row in the cut
}

type unreadable struct {
	offset int64
	data   []byte
	err    error
}

// refusedRow is a row that the store refuses. The field `row` is the row's index in the cut.
type refusedRow struct {
	row int
	err error
}

func newCut() *cut {
	return &cut{rows: insights.NewBatch(), digest: xxhash.New()}
}

// reset empties the cut for reuse, and frees its chunks.
func (c *cut) reset() {
	c.rows.Reset()
	for _, k := range c.chunks {
		k.free()
	}
	clear(c.messages)
	clear(c.unreadable)
	clear(c.chunks)
	clear(c.refused)
	c.digest.Reset()
	*c = cut{
		rows: c.rows, digest: c.digest,
		messages: c.messages[:0], unreadable: c.unreadable[:0], chunks: c.chunks[:0], refused: c.refused[:0],
	}
}

// fill decodes the messages of a partition's chunks. The cut then owns these chunks. The result depends only on these
// messages, and on earlier messages within Window offsets.
//
// `fill` stops before a message of a later version or another baseline. If the previous owner of the partition began a
// cut, `fill` takes all messages of this cut, or none. A cut with only some of its messages would have another token.
// If the previous owner was only paused, it could then store the same rows a second time.
func (c *cut) fill(p *partition, from int64, chunks []*chunk, parse parser) {
	c.partition, c.from, c.to = p, from, from
	c.chunks = append(c.chunks, chunks...)
	for _, k := range chunks {
		c.highWater, c.plain = k.highWater, k.plain
		for _, f := range k.messages {
			if c.newer = c.message(p, f, parse); c.newer != nil {
				break
			}
			c.lost = k.lost
		}
		if c.newer != nil {
			break
		}
	}
	if c.newer != nil && p.intent > from {
		c.rows.Reset()
		c.messages, c.unreadable, c.repeats, c.to = c.messages[:0], c.unreadable[:0], 0, from
	}
	c.total, c.firstTime = c.rows.Rows(), c.rows.Earliest()
	c.sum = c.digest.Sum64()
}

// parser is the type of insights.ParseMessage. Tests use other functions.
type parser func(data []byte) (insights.Message, error)

// message adds a message. Its only error wraps insights.ErrNewer and means that the message was not added.
func (c *cut) message(p *partition, f fetched, parse parser) error {
	at := insights.Position{Partition: uint16(p.id), Offset: uint64(f.offset)}
	first := c.rows.Rows()
	m, err := parse(f.data)
	repeat := err == nil && !p.repeats.first(m.ID, f.offset, f.plain)
	if err == nil && !repeat {
		err = c.rows.Add(m, at, nil)
	}
	if errors.Is(err, insights.ErrNewer) {
		return fmt.Errorf("message at offset %d: %w", f.offset, err)
	}
	c.to, c.tail = f.offset+1, xxhash.Sum64(f.data)
	var sum [16]byte
	binary.LittleEndian.PutUint64(sum[:8], uint64(f.offset))
	binary.LittleEndian.PutUint64(sum[8:], c.tail)
	_, _ = c.digest.Write(sum[:]) // Write never fails
	switch {
	case repeat:
		c.repeats += m.Count
	case err != nil:
		c.unreadable = append(c.unreadable, unreadable{f.offset, f.data, err})
	default:
		c.messages = append(c.messages, cutMessage{m, at, first})
		if c.oldest == 0 || m.ReceivedMillis < c.oldest {
			c.oldest = m.ReceivedMillis
		}
	}
	return nil
}

// token returns the deduplication token of the rows in [lo, hi). Every sink that reads the same messages makes the same
// token. The checksum in the token distinguishes these messages from the messages of another log at the same offsets.
func (c *cut) token(topic string, lo, hi int) string {
	token := fmt.Sprintf("octavo/%s/%d/%d-%d/%016x", topic, c.partition.id, c.from, c.to, c.sum)
	if lo == 0 && hi == c.total {
		return token
	}
	return fmt.Sprintf("%s/%d-%d", token, lo, hi)
}

// messageOf returns the message of the log that contains a row of the cut, and the row's index in this message.
func (c *cut) messageOf(row int) (m cutMessage, index int) {
	i := sort.Search(len(c.messages), func(i int) bool { return c.messages[i].first > row }) - 1
	// A message without events has the same `first` as the next message. The search then finds the next message.
	return c.messages[i], row - c.messages[i].first
}

// rebuild replaces the cut's rows by the rows in [lo, hi) that are not in `stored`. `scratch` is an unused batch.
func (c *cut) rebuild(lo, hi int, stored storedRows, scratch *insights.Batch) error {
	c.rows.Reset()
	for _, m := range c.messages {
		if m.first+m.message.Count <= lo || m.first >= hi {
			continue
		}
		same, err := stored.same(m, scratch)
		if err != nil {
			return err // cannot happen: the message was parsed when it was added to the cut
		}
		err = c.rows.Add(m.message, m.at, func(i int) bool {
			return same != nil && same[i] || m.first+i < lo || m.first+i >= hi || c.erased[m.first+i]
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// offsets returns the offsets of the messages that have the first and the last row in [lo, hi).
func (c *cut) offsets(lo, hi int) (first, last uint64) {
	from, _ := c.messageOf(lo)
	to, _ := c.messageOf(hi - 1)
	return from.at.Offset, to.at.Offset
}

// storedRows has the contents of stored rows by offset and index. A position may have several rows, because an earlier
// log had messages at the same offsets.
type storedRows map[uint64]map[uint16][]insights.RowContent

func indexStored(list []eventstore.Row) storedRows {
	rows := storedRows{}
	for _, r := range list {
		rows.add(r)
	}
	return rows
}

func (s storedRows) add(r eventstore.Row) {
	if s[r.Offset] == nil {
		s[r.Offset] = map[uint16][]insights.RowContent{}
	}
	s[r.Offset][r.Index] = append(s[r.Offset][r.Index], r.Content)
}

func (s storedRows) has(r eventstore.Row) bool {
	return slices.Contains(s[r.Offset][r.Index], r.Content)
}

// same reports, for each event of a message, whether a stored row has the event's position and content. The result is
// nil if there are no stored rows at the message's offset.
func (s storedRows) same(m cutMessage, scratch *insights.Batch) ([]bool, error) {
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
		same[i] = slices.Contains(at[uint16(i)], scratch.Content(i))
	}
	return same, nil
}
