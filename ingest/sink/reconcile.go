package sink

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/cespare/xxhash/v2"
	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/ingest/deadletter"
	"github.com/octavo-docs/octavo/ingest/eventlog"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// Reconciler compares the log with the events table. Each event of the log must have exactly one row at its position,
// unless the event is a repeat or a dead letter.
//
// It compares only messages whose offsets are committed, because the sinks may not have stored later messages. A repeat
// whose first message has expired cannot be recognised, so its events count as missing. Events of erased visitors and
// events past their site's retention do not count as missing. Rows that an operator deleted count as missing. On a
// cluster, rows that the queried replica has not yet received count as missing.
type Reconciler struct {
	cfg   Config
	log   *eventlog.Topic
	batch int // number of events that are compared in one step; a message is never split
	// restored counts the rows that repairs restored.
	restored map[schema.MissingDay]int64
	ends     map[int]int64 // ends of the log's partitions at the time of the comparison
}

// NewReconciler returns a Reconciler for the topic, group and store of a sink configuration. It connects at first use.
func NewReconciler(cfg Config) (*Reconciler, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	return &Reconciler{
		cfg: cfg, log: cfg.topic(), batch: 50_000, restored: map[schema.MissingDay]int64{}, ends: map[int]int64{},
	}, nil
}

// Close closes the connections.
func (r *Reconciler) Close() { r.log.Close() }

// Reconciled is the result for a partition's messages with offsets in [From, To).
type Reconciled struct {
	Partition    int   `json:"partition"`
	From         int64 `json:"from"`
	To           int64 `json:"to"`
	Messages     int64 `json:"messages"`
	Repeats      int64 `json:"repeats"`    // number of repeated messages
	Unreadable   int64 `json:"unreadable"` // number of unreadable messages
	Events       int64 `json:"events"`     // number of events that should be stored
	DeadLettered int64 `json:"deadLettered"`
	// Erased counts events that are not stored because their visitor was erased or their site's retention has passed.
	Erased int64 `json:"erased"`
	Rows   int64 `json:"rows"`
	// Others counts rows that have the position of one of these events, but another content. Such rows come from an
	// earlier log, which had other messages at the same offsets.
	Others      int64 `json:"otherRows"`
	Restored    int64 `json:"restored"`    // number of the rows in Rows that Repair has restored
	Differences int64 `json:"differences"` // number of reported ranges that still differ
}

// Difference describes consecutive messages, each of which differs from the events table.
type Difference struct {
	Partition int   `json:"partition"`
	From      int64 `json:"from"`
	To        int64 `json:"to"`
	Events    int64 `json:"events"`   // number of events that should be stored
	Missing   int64 `json:"missing"`  // events without a row; an unreadable message without a letter counts as one
	Doubled   int64 `json:"doubled"`  // rows in addition to the first row of an event
	Unwanted  int64 `json:"unwanted"` // rows of repeats, of dead letters and of erased visitors
	Restored  int64 `json:"restored"` // number of the events in Missing that Repair has restored
}

// Remains reports whether log and table still differ in the range.
func (d Difference) Remains() bool { return d.Missing > d.Restored || d.Doubled+d.Unwanted > 0 }

// Run compares the messages of every partition at or after an offset, and calls `report` for each difference. If the
// log begins later, it compares all messages of the log.
func (r *Reconciler) Run(ctx context.Context, from int64, report func(Difference) error) ([]Reconciled, error) {
	return r.run(ctx, from, nil, report)
}

func (r *Reconciler) run(ctx context.Context, from int64, holds func(context.Context) error, report func(Difference) error) ([]Reconciled, error) {
	count, err := r.log.Partitions(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot reconcile %s: %w", r.cfg.Topic, err)
	}
	ids := partitionRange(count)
	// Read the committed offsets before the dead letters, so that the list has all dead letters of committed messages.
	committed, err := groupProgress(ctx, r.log, r.cfg.Group, ids)
	if errors.Is(err, kafka.GroupIdNotFound) {
		committed, err = map[int]progress{}, nil // no sink has ever committed
	}
	if err != nil {
		return nil, fmt.Errorf("cannot ask how far the sinks are: %w", err)
	}
	dead, err := r.deadKeys(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]Reconciled, 0, count)
	for _, id := range ids {
		p := &reconciling{r: r, dead: dead, holds: holds, report: report, repeats: newRepeats(r.cfg.Window), scratch: insights.NewBatch()}
		p.sum.Partition = id
		if err := p.run(ctx, from, committed[id].offset); err != nil {
			return list, err
		}
		list = append(list, p.sum)
	}
	return list, nil
}

// deadKeys returns the keys of all dead letters, including replayed letters. A replayed event was appended to the log
// again, so its row has another position.
func (r *Reconciler) deadKeys(ctx context.Context) (map[string]bool, error) {
	keys := map[string]bool{}
	err := r.eachLetter(ctx, func(letter *deadletter.Letter) { keys[letter.Key()] = true })
	return keys, err
}

// eachLetter reads all dead letters, including replayed letters.
func (r *Reconciler) eachLetter(ctx context.Context, read func(*deadletter.Letter)) error {
	letters, err := deadletter.Open(r.cfg.Brokers, r.cfg.Access, r.cfg.Topic)
	if err != nil {
		return err
	}
	defer letters.Close()
	err = letters.Each(ctx, true, func(letter *deadletter.Letter, _ bool) error {
		read(letter)
		return nil
	})
	if err != nil {
		err = fmt.Errorf("cannot read the dead letters: %w", err)
	}
	return err
}

// reconciling is the comparison of one partition.
type reconciling struct {
	r       *Reconciler
	dead    map[string]bool
	holds   func(context.Context) error // holds checks the lock; it is set only for a repair
	report  func(Difference) error
	repeats repeats
	scratch *insights.Batch

	sum     Reconciled
	oldest  int64               // the log's first offset
	expired storedRows          // rows of messages just before the log's first offset; nil until they are read
	earlier map[placed][]uint64 // offsets of the rows in expired, by an event and its index
	pending []logged            // messages whose rows are not read yet
	events  int                 // number of events in pending
	open    *Difference
}

// logged is a message of the log.
type logged struct {
	offset       int64
	message      insights.Message
	unreadable   bool
	repeat       bool
	deadLettered bool // a dead letter shows that the sink could not read the message, even if this version can
	sum          uint64
}

func (p *reconciling) run(ctx context.Context, from, committed int64) error {
	r, id := p.r, p.sum.Partition
	first, next, err := r.log.Offsets(ctx, id)
	if err != nil {
		return err
	}
	if committed > next {
		return fmt.Errorf("cannot reconcile partition %d: %d messages are committed of a log that has %d: was the topic created again?", id, committed, next)
	}
	p.oldest, r.ends[id] = first, next
	p.sum.From = max(first, from)
	p.sum.To = max(p.sum.From, committed)
	if p.sum.From == p.sum.To {
		return nil
	}
	// Of the messages before From, read only the ids, because later messages may be repeats of these messages.
	err = r.log.Scan(ctx, id, max(first, p.sum.From-int64(r.cfg.Window)), p.sum.To, func(record eventlog.Record) error {
		if err := p.read(record); err != nil {
			return err
		}
		if p.events >= r.batch || len(p.pending) >= r.batch {
			return p.compare(ctx)
		}
		return nil
	})
	if err == nil {
		err = p.compare(ctx)
	}
	if err == nil {
		err = p.close()
	}
	return err
}

// read decodes one message of the log in the same way as a sink.
func (p *reconciling) read(record eventlog.Record) error {
	offset, value := record.Offset, record.Value
	l := logged{offset: offset}
	var err error
	if l.message, err = insights.ParseMessage(value); err == nil {
		l.repeat = !p.repeats.first(l.message.ID, offset, record.Plain)
	}
	if offset < p.sum.From {
		return nil
	}
	if errors.Is(err, insights.ErrNewer) {
		return fmt.Errorf("cannot reconcile offset %d of partition %d: %w", offset, p.sum.Partition, err)
	}
	p.sum.Messages++
	if l.repeat {
		p.sum.Repeats++
	}
	l.unreadable = err != nil
	l.sum = xxhash.Sum64(value)
	if len(p.dead) > 0 {
		whole := deadletter.Letter{Partition: p.sum.Partition, Offset: offset, Index: -1, Sum: deadletter.Sum(value)}
		l.deadLettered = p.dead[whole.Key()]
	}
	p.pending = append(p.pending, l)
	p.events += l.message.Count
	return nil
}

// compare compares the pending messages with the events table.
func (p *reconciling) compare(ctx context.Context) error {
	if len(p.pending) == 0 {
		return nil
	}
	stored, err := p.stored(ctx)
	if err != nil {
		return err
	}
	var restored map[int64]int64
	if p.holds != nil {
		if stored, restored, err = p.repair(ctx, stored); err != nil {
			return err
		}
	}
	for _, offset := range stored {
		for _, index := range offset {
			p.sum.Others += int64(len(index))
		}
	}
	for _, l := range p.pending {
		if err := p.message(l, stored[uint64(l.offset)], restored[l.offset]); err != nil {
			return err
		}
	}
	clear(p.pending)
	p.pending, p.events = p.pending[:0], 0
	return nil
}

// stored returns the rows that the events table has at the offsets of the pending messages.
func (p *reconciling) stored(ctx context.Context) (storedRows, error) {
	rows, err := p.r.cfg.Store.Stored(ctx, uint16(p.sum.Partition), uint64(p.pending[0].offset), uint64(p.pending[len(p.pending)-1].offset))
	return indexStored(rows), err
}

func (p *reconciling) position(l logged) insights.Position {
	return insights.Position{Partition: uint16(p.sum.Partition), Offset: uint64(l.offset)}
}

// letter returns a dead letter with the key that the dead letter of an event has.
func (p *reconciling) letter(l logged, index int) deadletter.Letter {
	return deadletter.Letter{Partition: p.sum.Partition, Offset: l.offset, Index: index, Sum: hex.EncodeToString(l.message.ID[:])}
}

// message compares a message with the rows that the events table has at its offset. `restored` is the number of the
// message's rows that `repair` has just restored.
func (p *reconciling) message(l logged, stored map[uint16][]insights.RowContent, restored int64) error {
	defer p.scratch.Reset()
	d := Difference{Partition: p.sum.Partition, From: l.offset, To: l.offset + 1, Missing: restored, Restored: restored}
	err := p.scratch.Add(l.message, p.position(l), nil)
	if errors.Is(err, insights.ErrNewer) {
		return fmt.Errorf("cannot reconcile offset %d of partition %d: %w", l.offset, p.sum.Partition, err)
	}
	if l.unreadable || err != nil {
		p.sum.Unreadable++
		if !l.deadLettered && !l.repeat {
			d.Missing = 1
		}
		return p.differs(d)
	}
	for i := range p.scratch.Rows() {
		content, n := p.scratch.Content(i), int64(0)
		for _, row := range stored[uint16(i)] {
			if row == content {
				n++
			}
		}
		p.sum.Rows += n
		p.sum.Others -= n
		letter := p.letter(l, i)
		switch {
		case l.repeat:
			d.Unwanted += n
		case l.deadLettered || p.dead[letter.Key()]:
			p.sum.DeadLettered++
			d.Unwanted += n
		case p.r.erased(l.event(p.scratch, i)):
			p.sum.Erased++
			d.Unwanted += n
		case n == 0 && p.r.expired(l.event(p.scratch, i)):
			p.sum.Erased++
		default:
			d.Events++
			d.Missing += max(0, 1-n)
			d.Doubled += max(0, n-1)
		}
	}
	p.sum.Events += d.Events
	p.sum.Restored += restored
	return p.differs(d)
}

// differs adds the difference of a message to the current range, if the message follows the range. Otherwise it reports
// the current range and begins a new range.
func (p *reconciling) differs(d Difference) error {
	if d.Missing+d.Doubled+d.Unwanted == 0 {
		return p.close()
	}
	if p.open != nil && p.open.To == d.From {
		p.open.To = d.To
		p.open.Events += d.Events
		p.open.Missing += d.Missing
		p.open.Doubled += d.Doubled
		p.open.Unwanted += d.Unwanted
		p.open.Restored += d.Restored
		return nil
	}
	if err := p.close(); err != nil {
		return err
	}
	p.open = &d
	return nil
}

// close reports the current range of differences.
func (p *reconciling) close() error {
	if p.open == nil {
		return nil
	}
	d := *p.open
	p.open = nil
	if d.Remains() {
		p.sum.Differences++
	}
	return p.report(d)
}
