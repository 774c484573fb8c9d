package conversations

import (
	"math"
	"unicode/utf8"
)

// meaningSize is the number of values of a meaning.
const meaningSize = 512

// Meaning is the vector of an issue as it is kept: one signed byte a value, in a scale that does not count. It is empty if there was
// no model to make it.
type Meaning []byte

// mostMeant bounds the characters whose sentences are looked at one by one.
const mostMeant = 2000

// MeaningOf is what a text means, by an encoder of texts: as a whole, and as the mean of its sentences, of which the longer count more.
// The whole alone says too much about how it is written.
func MeaningOf(encode func(string) []float32, text string) Meaning {
	whole := encode(text)
	parts := make([]float32, len(whole))
	said := 0
	for _, sentence := range sentences(text) {
		if said >= mostMeant {
			break
		}
		length := utf8.RuneCountInString(sentence)
		said += length
		add(parts, encode(sentence), float64(length))
	}
	if length := math.Sqrt(dot(parts, parts)); length > 0 {
		whole = added(whole, parts, float32(1/length))
	}
	return NewMeaning(whole)
}

// NewMeaning keeps a vector.
func NewMeaning(vector []float32) Meaning {
	most := float32(0)
	for _, x := range vector {
		most = max(most, x, -x)
	}
	if most == 0 || len(vector) != meaningSize {
		return nil
	}
	kept := make(Meaning, len(vector))
	for i, x := range vector {
		kept[i] = byte(int8(math.Round(float64(x / most * math.MaxInt8))))
	}
	return kept
}

// vector has length 1.
func (m Meaning) vector() []float32 {
	if len(m) != meaningSize {
		return nil
	}
	made := make([]float32, meaningSize)
	square := 0
	for _, b := range m {
		square += int(int8(b)) * int(int8(b))
	}
	if square == 0 {
		return nil
	}
	length := float32(math.Sqrt(float64(square)))
	for i, b := range m {
		made[i] = float32(int8(b)) / length
	}
	return made
}
