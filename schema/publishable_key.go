package schema

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"time"
)

// PublishableKey lets browsers post events of a site from pages on the listed hosts. It is not secret, because
// everybody can read it in these pages.
type PublishableKey struct {
	Object string `json:"object"`
	ID     string `json:"id"`
	Name   string `json:"name"`
	// Key is the text of the key. Pages send this text with their events.
	Key string `json:"key"`
	// Hosts has the hosts of the pages that may use the key. An entry is a host name, or *.example.com for every host
	// below example.com.
	Hosts []string `json:"hosts"`
	// DailyCap is the largest number of events that each node accepts with this key in one day (UTC).
	DailyCap int `json:"dailyCap"`
	// RespectGPC is true if events are not stored when their request has the header Sec-GPC: 1.
	RespectGPC bool `json:"respectGPC"`
	// Generation is the number of the key's present text, counted from 1. Each rotation makes a new text.
	Generation int       `json:"generation"`
	CreatedAt  time.Time `json:"createdAt"`
	// PreviousUntil is the time at which the previous text of the key becomes invalid. It is absent if no previous text
	// is valid.
	PreviousUntil *time.Time   `json:"previousUntil,omitzero"`
	URLs          LocationURLs `json:"urls"`
}

// Location returns the Location header of the response that creates the key.
func (k PublishableKey) Location() string { return k.URLs.Location }

// PublishableKeyPrefix is the beginning of the text of every publishable key. So scanners for leaked secrets can ignore
// such texts.
const PublishableKeyPrefix = "opk_"

// MaxKeyGeneration is the largest generation that fits into a key's text.
const MaxKeyGeneration = 1<<16 - 1

// These are the sizes of the parts of a key's text, in bytes: the id, the generation, and 96 bits of a MAC over both.
// The sum of the sizes fills a whole number of base32 digits.
const (
	keyIDBytes  = 16
	keySigned   = keyIDBytes + 2
	keyBytes    = keySigned + 12
	keyTextSize = len(PublishableKeyPrefix) + keyBytes*8/5
)

// PublishableKeyText returns the text of a key's generation. The text contains a MAC with the installation's secret, so
// it proves that the installation made the key. The id must be from [NewID].
func PublishableKeyText(secret []byte, id string, generation int) string {
	var key [keyBytes]byte
	// An id from NewID is the base32 text of 16 bytes. Its 26 digits can represent 130 bits.
	_, _ = idEncoding.Decode(key[:keyIDBytes], []byte(id))
	binary.BigEndian.PutUint16(key[keyIDBytes:], uint16(generation)) // MaxKeyGeneration bounds the generation
	copy(key[keySigned:], keyMAC(secret, key[:keySigned]))
	return PublishableKeyPrefix + idEncoding.EncodeToString(key[:])
}

// ReadPublishableKey returns the id and the generation in a key's text. `made` is false if the installation did not
// make the text. It accepts only the canonical form of the text.
func ReadPublishableKey(secret []byte, text string) (id string, generation int, made bool) {
	digits, ok := strings.CutPrefix(text, PublishableKeyPrefix)
	if !ok || len(text) != keyTextSize {
		return "", 0, false
	}
	var key [keyBytes]byte
	// The decoder skips line breaks. So if a text contains line breaks, its result is too short.
	if n, err := idEncoding.Decode(key[:], []byte(digits)); err != nil || n != keyBytes {
		return "", 0, false
	}
	if !hmac.Equal(key[keySigned:], keyMAC(secret, key[:keySigned])) {
		return "", 0, false
	}
	return idEncoding.EncodeToString(key[:keyIDBytes]), int(binary.BigEndian.Uint16(key[keyIDBytes:])), true
}

func keyMAC(secret, signed []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	_, _ = mac.Write(signed) // Write of a hash never returns an error
	return mac.Sum(nil)[:keyBytes-keySigned]
}
