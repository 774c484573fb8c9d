package chserver

import (
	"encoding/binary"
	"errors"
	"io"
)

// A block is written in two ways which differ only in their framing:
//
//   - on the wire: a block info, and then for each column its name, its type, a byte that announces custom
//     serialization, and its data;
//   - in FORMAT Native: no block info and no such byte, because this format has the revision 0.
//
// So the server changes only the framing of a block. The walker (walk.go) finds the end of each column's data, and the
// server copies the data unchanged.

type framing bool

const (
	native framing = false
	onWire framing = true
)

// column is one column of a block. Its data points into the source's bytes.
type column struct {
	name, typ string
	data      []byte
}

type block struct {
	columns []column
	rows    int
}

// These are limits of one incoming block. The number of rows is limited, because a column of empty lists costs the
// sender almost no bytes.
const (
	maxBlockColumns = 10_000
	maxBlockRows    = 64 << 20
)

var errShort = errors.New("the block ends early")

// source has the bytes of one block, complete or still arriving. `more` appends at least one byte to `buf`. Its
// argument `missing` is the number of bytes that the walker needs, so that `more` does not read past the block's end.
// If `more` is nil, the bytes are complete.
type source struct {
	buf   []byte
	pos   int
	limit int
	more  func(buf []byte, missing int) ([]byte, error)
}

// need makes the next n bytes available in `buf`.
func (s *source) need(n int) error {
	if n < 0 || n > s.limit-s.pos {
		return refuse(codeMemoryLimit, "a block exceeds the limit of %d bytes", s.limit)
	}
	for s.pos+n > len(s.buf) {
		if s.more == nil {
			return errShort
		}
		var err error
		if s.buf, err = s.more(s.buf, s.pos+n-len(s.buf)); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

func (s *source) skip(n int) error {
	if err := s.need(n); err != nil {
		return err
	}
	s.pos += n
	return nil
}

func (s *source) uvarint() (uint64, error) {
	var v uint64
	for shift := 0; shift < 64; shift += 7 {
		if s.pos == len(s.buf) {
			if err := s.need(1); err != nil {
				return 0, err
			}
		}
		b := s.buf[s.pos]
		s.pos++
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, nil
		}
	}
	return 0, refuse(codeBadData, "a number in a block is too long")
}

func (s *source) uint64() (uint64, error) {
	if err := s.skip(8); err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(s.buf[s.pos-8:]), nil
}

// size reads a length. A block has at least as many bytes as any of its lengths says, so `size` refuses a length above
// the limit.
func (s *source) size() (int, error) {
	n, err := s.uvarint()
	if err != nil {
		return 0, err
	}
	if n > uint64(s.limit) {
		return 0, refuse(codeMemoryLimit, "a length of %d in a block exceeds the limit of %d bytes", n, s.limit)
	}
	return int(n), nil
}

func (s *source) text() (string, error) {
	n, err := s.size()
	if err != nil {
		return "", err
	}
	if n > maxShortText {
		return "", refuse(codeBadData, "a name in a block has %d bytes", n)
	}
	if err := s.skip(n); err != nil {
		return "", err
	}
	return string(s.buf[s.pos-n : s.pos]), nil
}

// readBlock reads one block. The columns' data points into the source's bytes.
func readBlock(s *source, form framing) (*block, error) {
	if form == onWire {
		if err := skipBlockInfo(s); err != nil {
			return nil, err
		}
	}
	columns, err := s.uvarint()
	if err != nil {
		return nil, err
	}
	rows, err := s.uvarint()
	if err != nil {
		return nil, err
	}
	if columns > maxBlockColumns || rows > maxBlockRows {
		return nil, refuse(codeBadData, "a block of %d columns and %d rows is out of bounds", columns, rows)
	}
	b := &block{rows: int(rows), columns: make([]column, 0, columns)}
	type extent struct{ start, end int }
	extents := make([]extent, 0, columns)
	for range columns {
		name, err := s.text()
		if err != nil {
			return nil, err
		}
		typ, err := s.text()
		if err != nil {
			return nil, err
		}
		if form == onWire {
			if err := s.skip(1); err != nil {
				return nil, err
			}
			if s.buf[s.pos-1] != 0 {
				return nil, refuse(codeNotImplemented, "custom serialization of column %s is not supported", name)
			}
		}
		start := s.pos
		if rows > 0 { // in a block without rows, columns have no serialization state and no data
			if err := skipColumn(s, typ, int(rows)); err != nil {
				return nil, err
			}
		}
		b.columns = append(b.columns, column{name: name, typ: typ})
		extents = append(extents, extent{start, s.pos})
	}
	for i, e := range extents { // set data only now, because buf may have been reallocated while it grew
		b.columns[i].data = s.buf[e.start:e.end]
	}
	return b, nil
}

// skipBlockInfo skips the numbered fields of a block info, up to field 0. Field 1 is a bool and field 2 a 32-bit
// bucket. This revision has no other fields.
func skipBlockInfo(s *source) error {
	for {
		field, err := s.uvarint()
		if err != nil {
			return err
		}
		switch field {
		case 0:
			return nil
		case 1:
			err = s.skip(1)
		case 2:
			err = s.skip(4)
		default:
			err = refuse(codeBadData, "a block info has an unknown field %d", field)
		}
		if err != nil {
			return err
		}
	}
}

// appendBlockInfo writes the info of an ordinary block: no overflow row and no bucket.
func appendBlockInfo(buf []byte) []byte {
	buf = append(buf, 1, 0, 2)
	buf = binary.LittleEndian.AppendUint32(buf, ^uint32(0))
	return append(buf, 0)
}

// appendBlock writes b in the given framing. It copies the columns' data.
func appendBlock(buf []byte, b *block, form framing) []byte {
	buf = appendBlockHead(buf, b, form)
	for _, c := range b.columns {
		buf = append(appendColumnHead(buf, c, form), c.data...)
	}
	return buf
}

func appendBlockHead(buf []byte, b *block, form framing) []byte {
	if form == onWire {
		buf = appendBlockInfo(buf)
	}
	buf = binary.AppendUvarint(buf, uint64(len(b.columns)))
	return binary.AppendUvarint(buf, uint64(b.rows))
}

func appendColumnHead(buf []byte, c column, form framing) []byte {
	buf = appendText(buf, c.name)
	buf = appendText(buf, c.typ)
	if form == onWire {
		buf = append(buf, 0) // no custom serialization
	}
	return buf
}

// header returns b without its rows.
func (b *block) header() *block {
	h := &block{columns: make([]column, len(b.columns))}
	for i, c := range b.columns {
		h.columns[i] = column{name: c.name, typ: c.typ}
	}
	return h
}
