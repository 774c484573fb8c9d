package chserver

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

// revision is the only protocol revision of this server. Clients send typed parameters since revision 54459, and
// revision 54460 adds the elapsed time to Progress. Newer clients use this revision, and older clients are refused.
const revision = 54460

// These are packet codes, as in ClickHouse's Core/Protocol.h.
const (
	clientHello  = 0
	clientQuery  = 1
	clientData   = 2
	clientCancel = 3
	clientPing   = 4

	serverHello       = 0
	serverData        = 1
	serverException   = 2
	serverProgress    = 3
	serverPong        = 4
	serverEndOfStream = 5
	serverProfileInfo = 6
)

// Sizes beyond these limits end the connection. No client exceeds these limits by accident.
const (
	maxLoginText = 1 << 10  // bytes of a text before the login
	maxShortText = 64 << 10 // bytes of a name, a setting or an id
	maxQueryText = 64 << 20
	maxListItems = 10_000  // number of settings or of parameters of one query
	readStep     = 1 << 20 // memory grows by this step as bytes arrive, whatever size was announced
)

// wireReader reads the protocol's scalars. It checks a size before it allocates
// memory.
type wireReader struct{ *bufio.Reader }

func (r wireReader) uvarint() (uint64, error) {
	v, err := binary.ReadUvarint(r.Reader)
	if err != nil {
		return 0, fmt.Errorf("cannot read a number: %w", err)
	}
	return v, nil
}

func (r wireReader) text(limit int) (string, error) {
	n, err := r.uvarint()
	if err != nil {
		return "", err
	}
	if n > uint64(limit) {
		return "", refuse(codeBadData, "a text of %d bytes exceeds the limit of %d", n, limit)
	}
	data, err := appendRead(nil, r.Reader, int(n))
	if err != nil {
		return "", fmt.Errorf("cannot read a text: %w", err)
	}
	return string(data), nil
}

func (r wireReader) skip(n int) error {
	if _, err := r.Discard(n); err != nil {
		return fmt.Errorf("cannot skip %d bytes: %w", n, err)
	}
	return nil
}

// appendRead appends exactly n bytes from r to `buf`.
func appendRead(buf []byte, r io.Reader, n int) ([]byte, error) {
	for n > 0 {
		step := min(n, readStep)
		start := len(buf)
		buf = slices.Grow(buf, step)[:start+step]
		if _, err := io.ReadFull(r, buf[start:]); err != nil {
			return buf[:start], err
		}
		n -= step
	}
	return buf, nil
}

func appendText(buf []byte, text string) []byte {
	return append(binary.AppendUvarint(buf, uint64(len(text))), text...)
}

func appendBool(buf []byte, v bool) []byte {
	if v {
		return append(buf, 1)
	}
	return append(buf, 0)
}

func appendException(buf []byte, e *exception) []byte {
	buf = append(buf, serverException)
	buf = binary.LittleEndian.AppendUint32(buf, uint32(e.code))
	buf = appendText(buf, e.name)
	buf = appendText(buf, e.message)
	buf = appendText(buf, "") // the stack trace
	return appendBool(buf, false)
}

// figures has the numbers of rows and bytes that a statement has read and written.
type figures struct {
	rowsRead, bytesRead       uint64
	rowsWritten, bytesWritten uint64
	resultRows, resultBytes   uint64
	resultBlocks              uint64
	elapsedNanos              uint64
}

// since returns the difference to earlier figures, because clients add up Progress packets.
func (f figures) since(old figures) figures {
	f.rowsRead -= old.rowsRead
	f.bytesRead -= old.bytesRead
	f.rowsWritten -= old.rowsWritten
	f.bytesWritten -= old.bytesWritten
	f.elapsedNanos -= old.elapsedNanos
	return f
}

func appendProgress(buf []byte, f figures) []byte {
	buf = append(buf, serverProgress)
	const totalUnknown = 0
	for _, v := range []uint64{f.rowsRead, f.bytesRead, totalUnknown, f.rowsWritten, f.bytesWritten, f.elapsedNanos} {
		buf = binary.AppendUvarint(buf, v)
	}
	return buf
}

func appendProfileInfo(buf []byte, f figures) []byte {
	buf = append(buf, serverProfileInfo)
	for _, v := range []uint64{f.resultRows, f.resultBlocks, f.resultBytes} {
		buf = binary.AppendUvarint(buf, v)
	}
	buf = appendBool(buf, false)       // whether a limit was applied, which the library does not report
	buf = binary.AppendUvarint(buf, 0) // rows before that limit
	return appendBool(buf, false)      // whether the rows before the limit were counted
}
