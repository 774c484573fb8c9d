package words

const (
	// maxWhole is the largest number of words in a text that gets only one vector. Postgres stores every position above
	// 16,383 as 16,383.
	maxWhole = 16_000
	// maxPart is the largest number of words in a part. maxPartBytes bounds the bytes of a part, so that the part's
	// vector, including the stems, stays below maxVector.
	maxPart      = 8_000
	maxPartBytes = maxVector - 100<<10
	// overlap is the number of words that a part repeats from the previous part, so that each phrase is complete in at
	// least one part. A word in camel case has a token for each hump.
	overlap       = maxQuery
	overlapTokens = 8 * overlap
)

// Parts divides the words of a text into parts. The vector of each part has room for the words of other fields. In each
// part, positions begin at 1. A short text has one part.
func Parts(tokens []Token) [][]Token {
	if len(tokens) == 0 || tokens[len(tokens)-1].Position <= maxWhole && vectorBytes(tokens) <= maxPartBytes {
		return [][]Token{tokens}
	}
	var parts [][]Token
	for from := 0; ; {
		to, bytes := from, 0
		for to < len(tokens) && tokens[to].Position-tokens[from].Position < maxPart && bytes <= maxPartBytes {
			bytes += vectorBytes(tokens[to : to+1])
			to++
		}
		part := make([]Token, to-from)
		for i, t := range tokens[from:to] {
			t.Position -= tokens[from].Position - 1
			part[i] = t
		}
		if parts = append(parts, part); to == len(tokens) {
			return parts
		}
		last := tokens[to-1].Position
		for from = to; to-from < overlapTokens && tokens[from-1].Position > last-overlap; {
			from--
		}
	}
}

// vectorBytes returns an upper bound of the bytes that the words need in a vector. A vector has each word with a scope,
// a position and a weight. It may also have the word's stem.
func vectorBytes(tokens []Token) (bytes int) {
	for _, t := range tokens {
		bytes += 2 * (len(t.Folded) + 16)
	}
	return bytes
}
