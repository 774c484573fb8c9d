package embedding

import (
	"errors"
	"math"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"google.golang.org/protobuf/encoding/protowire"
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

var errPieces = errors.New("the list of pieces is broken")

// readPieces reads the pieces of a SentencePiece model: the field 1 of the message, whose fields 1 and 2 are text and score.
func readPieces(data []byte) (*pieces, error) {
	p := &pieces{numbers: map[string]int32{}, unknown: math.MaxFloat32}
	err := fields(data, func(number protowire.Number, value []byte) error {
		if number != 1 {
			return nil
		}
		text, score := "", float32(0)
		err := fields(value, func(number protowire.Number, value []byte) error {
			switch number {
			case 1:
				text = string(value)
			case 2:
				bits, n := protowire.ConsumeFixed32(value)
				if n < 0 {
					return errPieces
				}
				score = math.Float32frombits(bits)
			default: // What kind of piece it is does not count.
			}
			return nil
		})
		p.numbers[text] = int32(len(p.scores)) // The table bounds them.
		p.scores = append(p.scores, score)
		p.longest, p.unknown = max(p.longest, len(text)), min(p.unknown, score)
		return err
	})
	if len(p.scores) <= lastPiece {
		err = errors.Join(err, errPieces)
	}
	p.unknown -= unknownPenalty
	return p, err
}

// fields calls a function for the fields of a message, with the bytes of their values.
func fields(data []byte, each func(protowire.Number, []byte) error) error {
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			return errPieces
		}
		data = data[n:]
		if n = protowire.ConsumeFieldValue(number, kind, data); n < 0 {
			return errPieces
		}
		value := data[:n]
		if kind == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(value)
		}
		if err := each(number, value); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
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
	type step struct {
		score float32
		start int
		piece int32
	}
	best := make([]step, len(text)+1)
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
				best[j] = step{score, i, number}
			}
		}
		if score := best[i].score + p.unknown; !known && score > best[i+size].score {
			best[i+size] = step{score, i, unknownPiece}
		}
		i += size
	}
	found := []int32{lastPiece}
	for at := len(text); at > 0; at = best[at].start {
		found = append(found, best[at].piece)
	}
	found = append(found, firstPiece)
	for i, j := 0, len(found)-1; i < j; i, j = i+1, j-1 {
		found[i], found[j] = found[j], found[i]
	}
	if len(found) > most {
		found = append(found[:most-1:most-1], lastPiece)
	}
	return found
}
