package translation

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// Work has the inputs that all segments of a run share. From and To are codes of languages, as in the contract.
type Work struct {
	From, To     string
	Instructions string
	Glossary     *Glossary
}

// Segment is a text to translate, with all inputs of its translation.
type Segment struct {
	Key    string
	Source string
	// Terms are the terms of the glossary that occur in Source.
	Terms []Term
}

// Segment returns the segment for a source.
func (w Work) Segment(source string) Segment {
	s := Segment{Source: source}
	if all, err := tokens(source); err == nil {
		s.Terms = w.Glossary.In(plain(all))
	}
	hash := sha256.New()
	add := func(text string) {
		// The lengths separate the texts, so that different lists of texts have different hashes.
		_, _ = hash.Write(binary.AppendUvarint(nil, uint64(len(text)))) // Write of a hash never returns an error
		_, _ = hash.Write([]byte(text))
	}
	for _, text := range []string{w.From, w.To, w.Instructions, source} {
		add(text)
	}
	for _, term := range s.Terms {
		add(term.Source)
		add(term.Target)
	}
	s.Key = base64.RawURLEncoding.EncodeToString(hash.Sum(nil))
	return s
}
