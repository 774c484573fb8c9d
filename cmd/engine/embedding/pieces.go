package embedding

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// These are the special pieces: the unknown piece, and the start and the end of a text.
const (
	unknownPiece = iota
	firstPiece
	lastPiece
)

// unknownPenalty is subtracted from the score of the least likely piece. The result is the score of an unknown
// character.
const unknownPenalty = 10

// pieces is a unigram model of word pieces. It cuts a text into the pieces with the highest probability.
type pieces struct {
	numbers map[string]int32
	scores  []float32
	// longest is the length of the longest piece in bytes.
	longest int
	unknown float32
}

// readPieces reads the pieces of a SentencePiece model. The model is a message of Protocol Buffers. Each field 1 of the
// message is a piece, whose fields 1 and 2 are its text and its score.
func readPieces(data []byte) *pieces {
	p := &pieces{numbers: map[string]int32{}}
	for len(data) > 0 {
		var number uint64
		var message []byte
		if number, message, data = field(data); number != 1 {
			continue
		}
		text, score := "", float32(0)
		for len(message) > 0 {
			var value []byte
			switch number, value, message = field(message); {
			case number == 1:
				text = string(value)
			case number == 2 && len(value) == 4:
				score = math.Float32frombits(binary.LittleEndian.Uint32(value))
			}
		}
		p.numbers[text] = int32(len(p.scores)) // Model.read limits the number of pieces
		p.scores = append(p.scores, score)
		p.longest, p.unknown = max(p.longest, len(text)), min(p.unknown, score-unknownPenalty)
	}
	return p
}

// field reads the first field of a message of Protocol Buffers. If the field is broken, `rest` is empty, so that the
// message ends.
func field(data []byte) (number uint64, value, rest []byte) {
	tag, n := binary.Uvarint(data)
	size, m := binary.Uvarint(data[max(n, 0):])
	switch tag & 7 {
	case 0:
		size, m = uint64(m), 0
	case 1:
		size, m = 8, 0
	case 5:
		size, m = 4, 0
	}
	if n <= 0 || m < 0 || size > uint64(len(data)-n-m) {
		return 0, nil, nil
	}
	return tag >> 3, data[n+m:][:size], data[n+m:][size:]
}

// space is the character that represents a blank in pieces.
const space = "\u2581"

// cut returns the numbers of a text's pieces. The first number is the start piece, and the last number is the end
// piece. It returns at most maxPieces numbers, including the start piece and the end piece.
func (p *pieces) cut(text string) []int32 {
	words := strings.Fields(norm.NFKC.String(text))
	if len(words) == 0 {
		return []int32{firstPiece, unknownPiece, lastPiece}
	}
	text = space + strings.Join(words, space)
	// Each prefix of the text is cut into the pieces with the best score. For each prefix, `best` has the last of these
	// pieces.
	type piece struct {
		score  float32
		start  int
		number int32
	}
	best := slices.Repeat([]piece{{score: -math.MaxFloat32}}, len(text)+1)
	best[0].score = 0
	for i := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		next := i + size
		for j := next; j <= min(i+p.longest, len(text)); j++ {
			number, known := p.numbers[text[i:j]]
			score := best[i].score + p.unknown
			if known {
				score = best[i].score + p.scores[number]
			}
			if (known || j == next) && score > best[j].score {
				best[j] = piece{score, i, number}
			}
		}
	}
	found := []int32{lastPiece}
	for at := len(text); at > 0; at = best[at].start {
		found = append(found, best[at].number)
	}
	found = append(found, firstPiece)
	slices.Reverse(found)
	if len(found) > maxPieces {
		found = append(found[:maxPieces-1], lastPiece)
	}
	return found
}
