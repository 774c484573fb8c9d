package tree

import "strings"

// Positions are fractional indexes: between two positions, there is always another position. So an insert does not
// change the positions of other pages. A position is a text: a whole number, then a fraction. Siblings are sorted by
// the bytes of their positions. The first letter of the whole number gives the count of its digits. The letters 'a' to
// 'z' begin a number of one to 26 digits that is at least 0. The letters 'Z' down to 'A' begin a negative number of one
// to 26 digits.
const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// firstPosition is the position of the first child that a page gets.
const firstPosition = "a0"

// Between returns a position between two positions. If `after` is "", the new position has no lower bound. If `before`
// is "", it has no upper bound. If both are set, `after` must be smaller than `before`.
func Between(after, before string) string {
	switch {
	case after == "" && before == "":
		return firstPosition
	case after == "":
		number := wholeOf(before)
		if number < before { // before has a fraction, so its whole number alone is a smaller position
			return number
		}
		if lower, ok := step(number, -1); ok {
			return lower
		}
		return number + fraction("", before[len(number):])
	}
	number := wholeOf(after)
	if before != "" && wholeOf(before) == number {
		return number + fraction(after[len(number):], before[len(number):])
	}
	if higher, ok := step(number, 1); ok && (before == "" || higher < before) {
		return higher
	}
	return number + fraction(after[len(number):], "")
}

// Spread returns the positions of n siblings.
func Spread(n int) []string {
	positions := make([]string, n)
	last := ""
	for i := range positions {
		positions[i] = Between(last, "")
		last = positions[i]
	}
	return positions
}

// wholeOf returns the whole number of a position.
func wholeOf(position string) string {
	return position[:wholeLength(position[0])]
}

func wholeLength(head byte) int {
	if head >= 'a' {
		return int(head-'a') + 2
	}
	return int('Z'-head) + 2
}

// step returns the next higher or the next lower whole number. `ok` is false if the next number would be too long.
func step(number string, by int) (next string, ok bool) {
	text := []byte(number)
	from, to := digits[len(digits)-1], digits[0]
	if by < 0 {
		from, to = to, from
	}
	for i := len(text) - 1; i > 0; i-- {
		if text[i] != from {
			text[i] = digits[strings.IndexByte(digits, text[i])+by]
			return string(text), true
		}
		text[i] = to
	}
	var head byte
	switch {
	case text[0] == 'Z' && by > 0:
		head = 'a'
	case text[0] == 'a' && by < 0:
		head = 'Z'
	case text[0] == 'z' && by > 0, text[0] == 'A' && by < 0:
		return "", false
	default:
		head = byte(int(text[0]) + by) // the result is a letter, because the cases above exclude the ends
	}
	return string(head) + strings.Repeat(string(to), wholeLength(head)-1), true
}

// fraction returns a fraction between `low` and `high`. An empty `low` means 0, and an empty `high` means 1. A fraction
// never ends in 0.
func fraction(low, high string) string {
	var shared strings.Builder
	for {
		lowest, highest := 0, len(digits)
		if low != "" {
			lowest = strings.IndexByte(digits, low[0])
		}
		if high != "" {
			highest = strings.IndexByte(digits, high[0])
		}
		if highest-lowest > 1 {
			return shared.String() + string(digits[(lowest+highest)/2])
		}
		shared.WriteByte(digits[lowest])
		if low != "" {
			low = low[1:]
		}
		// Every fraction that begins with the low digit is less than `high`. So `high` is no longer a bound.
		if highest > lowest {
			high = ""
		} else {
			high = high[1:]
		}
	}
}
