package chserver

import "encoding/binary"

// skipColumn moves s past a column's serialization state and data.
func skipColumn(s *source, typ string, rows int) error {
	l, err := parseType(typ)
	if err != nil {
		return err
	}
	if err := l.skipState(s); err != nil {
		return err
	}
	return l.skipValues(s, rows)
}

// skipState skips the serialization state that precedes a column's data. Only LowCardinality has such a state: the
// version of its keys.
func (l *layout) skipState(s *source) error {
	if l.kind == lowCardinality {
		version, err := s.uint64()
		if err != nil {
			return err
		}
		if version != 1 {
			return refuse(codeBadData, "a LowCardinality column has key version %d", version)
		}
		return nil
	}
	for _, part := range l.parts {
		if err := part.skipState(s); err != nil {
			return err
		}
	}
	return nil
}

func (l *layout) skipValues(s *source, rows int) error {
	switch l.kind {
	case fixed:
		return s.skip(rows * l.width) // rows and width are bounded, so the product does not overflow
	case text:
		return skipTexts(s, rows)
	case nullable:
		if err := s.skip(rows); err != nil {
			return err
		}
		return l.parts[0].skipValues(s, rows)
	case list:
		return l.skipLists(s, rows)
	case record:
		for _, part := range l.parts {
			if err := part.skipValues(s, rows); err != nil {
				return err
			}
		}
		return nil
	default:
		return l.skipDictionary(s, rows)
	}
}

func skipTexts(s *source, rows int) error {
	for range rows {
		n, err := s.size()
		if err != nil {
			return err
		}
		if n > len(s.buf)-s.pos {
			if err := s.need(n); err != nil {
				return err
			}
		}
		s.pos += n
	}
	return nil
}

// skipLists skips a column of lists: the lists' end offsets, and then their elements. The last offset is the number of
// elements.
func (l *layout) skipLists(s *source, rows int) error {
	if rows == 0 {
		return l.parts[0].skipValues(s, 0)
	}
	if err := s.skip(rows * 8); err != nil {
		return err
	}
	elements := binary.LittleEndian.Uint64(s.buf[s.pos-8:])
	if elements > maxBlockRows {
		return refuse(codeBadData, "lists of %d elements in one block are out of bounds", elements)
	}
	return l.parts[0].skipValues(s, int(elements))
}

// The index type of a dictionary has the width in its low byte, and flags in its other bytes.
const (
	dictionaryWidthMask = 0xff
	dictionaryGlobal    = 1 << 8 // the keys are stored elsewhere, which Native does not allow
	dictionaryOwnKeys   = 1 << 9
)

func (l *layout) skipDictionary(s *source, rows int) error {
	for rows > 0 { // usually one round; each round has a dictionary and its rows
		index, err := s.uint64()
		if err != nil {
			return err
		}
		width := index & dictionaryWidthMask
		if width > 3 || index&dictionaryGlobal != 0 || index&dictionaryOwnKeys == 0 {
			return refuse(codeBadData, "a LowCardinality column has index type %#x", index)
		}
		keys, err := s.uint64()
		if err != nil {
			return err
		}
		if keys > maxBlockRows {
			return refuse(codeBadData, "a dictionary of %d keys is out of bounds", keys)
		}
		if err := l.parts[0].skipValues(s, int(keys)); err != nil {
			return err
		}
		n, err := s.uint64()
		if err != nil {
			return err
		}
		if n == 0 || n > uint64(rows) {
			return refuse(codeBadData, "a dictionary is for %d of %d rows", n, rows)
		}
		if err := s.skip(int(n) << width); err != nil {
			return err
		}
		rows -= int(n)
	}
	return nil
}
