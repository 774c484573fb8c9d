package embedding

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Pieces with a meaning of their own: what no piece is for, and the two ends of a text.
const (
	unknownPiece = iota
	firstPiece
	lastPiece
)

// unknownPenalty is how much less likely than the least likely piece an unknown character is.
const unknownPenalty = 10

// pieces is a unigram model of the pieces that words are made of: the likeliest way to cut a text into them is taken.
type pieces struct {
	numbers map[string]int32
	scores  []float32
	// longest is in bytes.
	longest int
	unknown float32
}

// readPieces reads the pieces of a SentencePiece model: the field 1 of the message, whose fields 1 and 2 are text and
// score.
func readPieces(data []byte) (*pieces, error) {
	p := &pieces{numbers: map[string]int32{}, unknown: math.MaxFloat32}
	for len(data) > 0 {
		number, value, rest := field(data)
		if data = rest; number != 1 {
			continue
		}
		text, score := "", float32(0)
		for len(value) > 0 {
			number, part, rest := field(value)
			switch value = rest; {
			case number == 1:
				text = string(part)
			case number == 2 && len(part) == 4:
				score = math.Float32frombits(binary.LittleEndian.Uint32(part))
			}
		}
		p.numbers[text] = int32(len(p.scores)) // The table bounds them.
		p.scores = append(p.scores, score)
		p.longest, p.unknown = max(p.longest, len(text)), min(p.unknown, score)
	}
	if len(p.scores) <= lastPiece {
		return nil, errors.New("it has no list of pieces")
	}
	p.unknown -= unknownPenalty
	return p, nil
}

// field reads a field of a message in the format of Protocol Buffers. What is broken ends the message.
func field(data []byte) (number uint64, value, rest []byte) {
	tag, n := binary.Uvarint(data)
	if n <= 0 {
		return 0, nil, nil
	}
	data = data[n:]
	size, n := map[uint64]uint64{1: 8, 5: 4}[tag&7], 0
	switch tag & 7 {
	case 0:
		_, n = binary.Uvarint(data)
	case 2:
		size, n = binary.Uvarint(data)
	default: // Its size is fixed.
	}
	if n < 0 || uint64(len(data)-n) < size || size == 0 && n == 0 {
		return 0, nil, nil
	}
	return tag >> 3, data[n:][:size], data[n:][size:]
}

// space stands for a blank in pieces.
const space = "\u2581"

// cut gives the numbers of the pieces of a text between its ends, at most so many.
func (p *pieces) cut(text string, most int) []int32 {
	words := strings.Fields(norm.NFKC.String(text))
	if len(words) == 0 {
		return []int32{firstPiece, unknownPiece, lastPiece}
	}
	text = space + strings.Join(words, space)
	// best has the likeliest last piece of each beginning of the text.
	best := make([]struct {
		score float32
		start int
		piece int32
	}, len(text)+1)
	for i := 1; i <= len(text); i++ {
		best[i].score = -math.MaxFloat32
	}
	for i := 0; i < len(text); {
		_, size := utf8.DecodeRuneInString(text[i:])
		known := false
		for j := i + size; j <= min(i+p.longest, len(text)); j++ {
			number, there := p.numbers[text[i:j]]
			if !there {
				continue
			}
			known = known || j == i+size
			if score := best[i].score + p.scores[number]; score > best[j].score {
				best[j].score, best[j].start, best[j].piece = score, i, number
			}
		}
		if end := &best[i+size]; !known && best[i].score+p.unknown > end.score {
			end.score, end.start, end.piece = best[i].score+p.unknown, i, unknownPiece
		}
		i += size
	}
	found := []int32{lastPiece}
	for at := len(text); at > 0; at = best[at].start {
		found = append(found, best[at].piece)
	}
	found = append(found, firstPiece)
	slices.Reverse(found)
	if len(found) > most {
		found = append(found[:most-1], lastPiece)
	}
	return found
}
