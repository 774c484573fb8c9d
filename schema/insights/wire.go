package insights

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
	"unsafe"

	"github.com/octavo-docs/octavo/schema"
)

// A log message has the events of one request for one site. Its bytes are:
//
//	magic 'O'; the baseline as a letter, 'F' for 1; version 1
//	message id, 16 bytes: equal only in repeats of one message
//	received, int64 little endian, milliseconds since 1970 UTC
//	site id, string
//	number of events, uvarint
//	each event: length in bytes, uvarint; presence mask, uint64 little endian
//	(bit i = the field with id i follows); the present fields by ascending id
//
// A string is its length as uvarint and its bytes. Reading returns ErrNewer for a later
// version, for unknown bits, and for another baseline, and the sink then waits.
const (
	wireMagic   = "O" + string(rune(beforeBaselines+schema.Baseline))
	wireVersion = 1
	headerSize  = len(wireMagic) + 1 + 16 + 8
	// MaxMessageEvents bounds the events of one message.
	MaxMessageEvents = 1 << 16
)

// beforeBaselines is the letter in messages that are older than baseline 1.
const beforeBaselines = 'E'

// MessageID distinguishes repeats of one message from other messages.
type MessageID [16]byte

const idAt = len(wireMagic) + 1

// MessageIDOf reads the id of a message. `ok` is false if the bytes are not the beginning of a message.
func MessageIDOf(head []byte) (id MessageID, ok bool) {
	if len(head) < idAt+len(id) || string(head[:len(wireMagic)]) != wireMagic || head[len(wireMagic)] != wireVersion {
		return id, false
	}
	copy(id[:], head[idAt:])
	return id, true
}

// Encoder writes one log message. The zero value is ready for Begin.
type Encoder struct {
	buf     []byte
	countAt int
	count   int
}

// Begin starts a message. It reuses the encoder's buffer, so the bytes of the previous message are no longer valid.
func (w *Encoder) Begin(id MessageID, site string, receivedMillis int64) {
	w.buf = append(w.buf[:0], wireMagic...)
	w.buf = append(w.buf, wireVersion)
	w.buf = append(w.buf, id[:]...)
	w.buf = binary.LittleEndian.AppendUint64(w.buf, uint64(receivedMillis))
	w.buf = appendString(w.buf, site)
	w.countAt = len(w.buf)
	w.count = 0
	// Three bytes have room for any count up to MaxMessageEvents. Bytes writes the count.
	w.buf = append(w.buf, 0, 0, 0)
}

// Add appends an event. It copies all data of the event that it needs.
func (w *Encoder) Add(e *Event) {
	start := len(w.buf)
	// For almost all events, two bytes are enough for the length. If an event is longer, its bytes are moved to make
	// room for the length.
	w.buf = append(w.buf, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	var mask uint64
	for i := range fields {
		f := &fields[i]
		if next, ok := f.wire.put(w.buf, e); ok {
			w.buf = next
			mask |= 1 << f.id
		}
	}
	binary.LittleEndian.PutUint64(w.buf[start+2:], mask)
	size := len(w.buf) - start - 2
	if size < 1<<14 {
		w.buf[start] = byte(size) | 0x80
		w.buf[start+1] = byte(size >> 7)
	} else {
		var room [binary.MaxVarintLen64]byte
		head := binary.AppendUvarint(room[:0], uint64(size))
		w.buf = append(w.buf, head[2:]...)
		copy(w.buf[start+len(head):], w.buf[start+2:start+2+size])
		copy(w.buf[start:], head)
	}
	w.count++
}

// ID returns the message's id.
func (w *Encoder) ID() (id MessageID) {
	copy(id[:], w.buf[idAt:])
	return id
}

// SetID makes the message a repeat of the message with this id.
func (w *Encoder) SetID(id MessageID) { copy(w.buf[idAt:], id[:]) }

// Len returns the number of events that were added since Begin.
func (w *Encoder) Len() int { return w.count }

// Bytes returns the message. The bytes are valid until the next call of Begin.
func (w *Encoder) Bytes() []byte {
	w.buf[w.countAt] = byte(w.count) | 0x80
	w.buf[w.countAt+1] = byte(w.count>>7) | 0x80
	w.buf[w.countAt+2] = byte(w.count >> 14)
	return w.buf
}

// Message is a log message's header. [Batch.Add] reads its events.
type Message struct {
	ID             MessageID
	Site           string
	ReceivedMillis int64
	Count          int
	events         []byte
}

// ErrMessage is wrapped by every error about a message's bytes.
var ErrMessage = errors.New("not a message of the event log")

// ErrNewer is wrapped by errors about a valid message that this program cannot read, because the message has a newer
// version or another baseline.
var ErrNewer = errors.New("a later version's message of the event log")

// Reads is the latest version of the log encoding that this program reads. Every change of wireVersion and every new
// bit of the presence mask increases Reads.
const Reads = 2

// BaselineError is the error about a message of another baseline. errors.Is reports that it is also ErrNewer. Found is
// the baseline of the message, or 0 if the message has none.
type BaselineError struct{ Found int }

func (e BaselineError) Error() string {
	if e.Found == 0 {
		return fmt.Sprintf("a message without a baseline: this program reads baseline %d", schema.Baseline)
	}
	return fmt.Sprintf("a message of baseline %d: this program reads baseline %d", e.Found, schema.Baseline)
}

// Is reports whether `target` is ErrNewer, for [errors.Is].
func (e BaselineError) Is(target error) bool { return target == ErrNewer }

// CheckBaseline returns a BaselineError for a message of another baseline, and nil for all other bytes.
func CheckBaseline(data []byte) error {
	// The version byte of a message is less than ' '. A larger byte at its place means that the bytes are text.
	if len(data) < headerSize || data[0] != wireMagic[0] || data[1] == wireMagic[1] || data[2] >= ' ' {
		return nil
	}
	if letter := data[1]; beforeBaselines <= letter && letter <= 'Z' {
		return BaselineError{int(letter - beforeBaselines)}
	}
	return nil
}

// ParseMessage reads a message's header. The result shares memory with `data`. `data` must not change while the
// message, or a batch to which its events were added, is in use.
func ParseMessage(data []byte) (Message, error) {
	var m Message
	if err := CheckBaseline(data); err != nil {
		return m, err
	}
	if len(data) < headerSize || string(data[:2]) != wireMagic {
		return m, fmt.Errorf("%w: %d bytes without its mark", ErrMessage, len(data))
	}
	if data[2] > wireVersion {
		return m, fmt.Errorf("%w: version %d, this program reads version %d", ErrNewer, data[2], wireVersion)
	}
	if data[2] != wireVersion {
		return m, fmt.Errorf("%w: version %d", ErrMessage, data[2])
	}
	copy(m.ID[:], data[idAt:])
	m.ReceivedMillis = int64(binary.LittleEndian.Uint64(data[19:]))
	r := reader{b: data[headerSize:]}
	m.Site = r.str()
	n := r.uvarint()
	if r.err != nil || n > MaxMessageEvents {
		return m, fmt.Errorf("%w: bad header", ErrMessage)
	}
	m.Count, m.events = int(n), r.b
	return m, nil
}

// receivedSecond returns the second in which the message arrived. It limits the second to the range of the column,
// because the clock may have been wrong.
func (m *Message) receivedSecond() int64 { return min(max(m.ReceivedMillis/1000, 0), math.MaxUint32) }

// Received returns the message's time of arrival, with the precision of the events table.
func (m *Message) Received() time.Time { return time.Unix(m.receivedSecond(), 0) }

func appendString(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// reader reads values from the beginning of b. After the first error, every value is zero, and `err` stays set.
type reader struct {
	b   []byte
	err error
}

func (r *reader) fail() {
	r.b = nil
	if r.err == nil {
		r.err = fmt.Errorf("%w: it ends too early", ErrMessage)
	}
}

func (r *reader) byte() byte {
	if len(r.b) < 1 {
		r.fail()
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *reader) u32() uint32 {
	if len(r.b) < 4 {
		r.fail()
		return 0
	}
	n := binary.LittleEndian.Uint32(r.b)
	r.b = r.b[4:]
	return n
}

func (r *reader) u64() uint64 {
	if len(r.b) < 8 {
		r.fail()
		return 0
	}
	n := binary.LittleEndian.Uint64(r.b)
	r.b = r.b[8:]
	return n
}

func (r *reader) uvarint() uint64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *reader) varint() int64 {
	n, size := binary.Varint(r.b)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[size:]
	return n
}

// count reads a number of items of at least `size` bytes each. It refuses a number that is too large for the rest of
// the message. So a damaged message cannot make the program allocate more memory than the size of the message.
func (r *reader) count(size int) int {
	n := r.uvarint()
	if n > uint64(len(r.b)/size) {
		r.fail()
		return 0
	}
	return int(n)
}

// str reads a string. The string shares memory with the message.
func (r *reader) str() string {
	n := r.uvarint()
	if n > uint64(len(r.b)) {
		r.fail()
		return ""
	}
	if n == 0 {
		return ""
	}
	s := unsafe.String(&r.b[0], int(n))
	r.b = r.b[n:]
	return s
}
