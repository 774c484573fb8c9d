package insights

import (
	"encoding/binary"
	"fmt"
)

// Only returns a new message with a single event of the message m. The new message has the same id.
func (m Message) Only(index int) ([]byte, error) {
	r := reader{b: m.events}
	for i := range m.Count {
		size := r.uvarint()
		if r.err != nil || size > uint64(len(r.b)) {
			break
		}
		if i == index {
			out := append([]byte(wireMagic), wireVersion)
			out = append(out, m.ID[:]...)
			out = binary.LittleEndian.AppendUint64(out, uint64(m.ReceivedMillis))
			out = appendString(out, m.Site)
			out = binary.AppendUvarint(out, 1)
			out = binary.AppendUvarint(out, size)
			return append(out, r.b[:size]...), nil
		}
		r.b = r.b[size:]
	}
	return nil, fmt.Errorf("%w: no event %d", ErrMessage, index)
}

// WithID returns a copy of a message with another id. It checks only the message's header.
func WithID(message []byte, id MessageID) ([]byte, error) {
	if _, err := ParseMessage(message); err != nil {
		return nil, err
	}
	out := append([]byte(nil), message...)
	copy(out[len(wireMagic)+1:], id[:])
	return out, nil
}
