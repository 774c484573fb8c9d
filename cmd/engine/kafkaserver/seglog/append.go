package seglog

import (
	"time"
)

// appending is one call of Append.
type appending struct {
	batch      []byte
	h          header
	appendTime bool
	done       chan error
	result     Appended
}

// Appended is the place of a batch in the log.
type Appended struct {
	Base int64
	// Time is the append time in milliseconds if the log stamped the batch, and otherwise -1.
	Time int64
}

// Append appends a record batch and returns when it is on disk. It writes the offset into b, which belongs to the log
// until Append returns. A batch that its producer has already sent is not appended again. Append then returns the
// result of the first append.
func (l *Log) Append(b []byte, appendTime bool) (Appended, error) {
	h, err := checkSent(b)
	if err != nil {
		return Appended{}, err
	}
	a := &appending{batch: b, h: h, appendTime: appendTime, done: make(chan error, 1)}
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return Appended{}, ErrClosed
	}
	l.queue = append(l.queue, a)
	if !l.flushing {
		l.flushing = true
		go l.flush()
	}
	l.mu.Unlock()
	err = <-a.done
	return a.result, err
}

// flush appends queued batches in rounds. Batches that arrive during the sync of a round form the next round.
func (l *Log) flush() {
	for {
		l.mu.Lock()
		list := l.queue
		l.queue = nil
		if len(list) == 0 {
			l.flushing = false
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		l.writing.Lock()
		for len(list) > 0 {
			list = list[l.round(list):]
		}
		l.writing.Unlock()
	}
}

// round is the set of appends that share one sync.
type round struct {
	log     *Log
	members []*appending
	headers []header // headers of the written batches
	known   producers
	pos     int64 // position of the next batch
	next    int64 // offset of the next batch
	written int64 // end of the written bytes in the file
	buffer  []byte
	err     error
}

// round performs as many appends from the start of the list as fit into the segment. It sends each append its result,
// and returns the number of handled appends. The caller holds `writing`.
func (l *Log) round(list []*appending) int {
	if l.isClosed() {
		return refuse(list, ErrClosed)
	}
	if err := l.repair(); err != nil {
		return refuse(list, err)
	}
	sum := &l.active.sum
	if sum.size > 0 && (l.damagedActive.Load() || sum.size+int64(len(list[0].batch)) > l.cfg.SegmentBytes) {
		if err := l.roll(sum.end); err != nil {
			return refuse(list, err)
		}
		sum = &l.active.sum
	}
	r := &round{log: l, pos: sum.size, written: sum.size, next: sum.end, buffer: l.scratch[:0]}
	now := time.Now().UnixMilli()
	taken := 0
	for _, a := range list {
		if r.pos > 0 && r.pos+int64(len(a.batch)) > l.cfg.SegmentBytes {
			break
		}
		taken++
		r.stage(a, now)
	}
	r.end()
	if cap(r.buffer) <= 4*gather {
		l.scratch = r.buffer
	}
	return taken
}

func refuse(list []*appending, err error) int {
	for _, a := range list {
		a.done <- err
	}
	return len(list)
}

// gather is the size up to which batches are collected into one write. A larger batch gets a separate write.
const gather = 128 << 10

// stage adds an append to the round. If the producer's sequence is wrong, the append fails.
func (r *round) stage(a *appending, now int64) {
	h := &a.h
	if h.producer >= 0 {
		p, staged := r.known[h.producer]
		if !staged {
			p = r.log.producers[h.producer]
		}
		known, err := p.check(h)
		if err != nil {
			a.done <- err
			return
		}
		if known != nil {
			// The first append of the batch may be in this round, so the repeated append also waits for the sync.
			a.result = Appended{known.offset, -1}
			r.members = append(r.members, a)
			return
		}
	}
	h.last += r.next - h.base
	h.base = r.next
	place(a.batch, h.base)
	a.result = Appended{h.base, -1}
	if a.appendTime {
		stampAppend(a.batch, h, now)
		a.result.Time = now
	}
	seal(a.batch, r.log.identity)
	if h.producer >= 0 {
		if r.known == nil {
			r.known = producers{}
		}
		p, staged := r.known[h.producer]
		if !staged {
			p = r.log.producers[h.producer]
		}
		r.known[h.producer] = p.after(h)
	}
	r.write(a.batch)
	r.next = h.last + 1
	r.headers = append(r.headers, *h)
	r.members = append(r.members, a)
}

func (r *round) write(b []byte) {
	r.pos += int64(len(b))
	if len(r.buffer)+len(b) > gather {
		r.flushBuffer()
	}
	if len(b) > gather {
		r.put(b)
		return
	}
	r.buffer = append(r.buffer, b...)
}

func (r *round) flushBuffer() {
	r.put(r.buffer)
	r.buffer = r.buffer[:0]
}

func (r *round) put(b []byte) {
	if r.err != nil || len(b) == 0 {
		return
	}
	if _, err := r.log.active.file.WriteAt(b, r.written); err != nil {
		r.err = r.log.storageError("write the log", err)
		return
	}
	r.written += int64(len(b))
}

// end syncs the round, makes its batches visible to readers, and sends each append its result.
func (r *round) end() {
	r.flushBuffer()
	l := r.log
	switch {
	case r.err != nil:
		l.undo()
	case len(r.headers) > 0:
		if err := l.active.file.Sync(); err != nil {
			r.err = l.storageError("sync the log", err)
			l.broken = true
		}
	}
	if r.err != nil {
		l.cfg.Logger.Error("Cannot write the log: nothing is acknowledged until it works again.", "partition", l.cfg.Name, "error", r.err)
		refuse(r.members, r.err)
		return
	}
	if len(r.headers) > 0 {
		l.publish(r)
	}
	for _, a := range r.members {
		a.done <- nil
	}
}

// publish makes the batches of a synced round visible to readers.
func (l *Log) publish(r *round) {
	for id, p := range r.known {
		l.producers.set(id, p)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	pos := l.active.sum.size
	for i := range r.headers {
		l.active.sum.add(&r.headers[i], pos, indexEvery)
		pos += r.headers[i].size
	}
	for ch := range l.watchers {
		tell(ch)
	}
}
