package conversations

import "math"

// meaningSize is the number of values of a meaning.
const meaningSize = 512

// Meaning is the vector of an issue as it is kept: one signed byte a value, in a scale that does not count. It is empty if there was
// no model to make it.
type Meaning []byte

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
