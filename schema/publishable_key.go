package schema

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"time"
)

// PublishableKey lets browsers post a site's events from pages on listed hosts. It is not secret, because everybody can
// read it in the pages.
type PublishableKey struct {
	Object string `json:"object"`
	ID     string `json:"id"`
	Name   string `json:"name"`
	// Key is the text that pages send.
	Key string `json:"key"`
	// Hosts has the hosts of the pages. A host is an exact name, or *.example.com for every host below example.com.
	Hosts []string `json:"hosts"`
	// DailyCap is the number of events that each node accepts in a day (UTC).
	DailyCap int `json:"dailyCap"`
	// RespectGPC is true if events of a request with the header Sec-GPC: 1 are not stored.
	RespectGPC bool `json:"respectGPC"`
	// Generation is the number of the key's present text, counted from 1.
	Generation int       `json:"generation"`
	CreatedAt  time.Time `json:"createdAt"`
	// PreviousUntil is the time at which the previous text of the key becomes invalid. It is absent if the previous
	// text is already invalid.
	PreviousUntil *time.Time   `json:"previousUntil,omitzero"`
	URLs          LocationURLs `json:"urls"`
}

// Location returns the Location header of the response that creates the key.
func (k PublishableKey) Location() string { return k.URLs.Location }

// PublishableKeyPrefix is the beginning of the text of every publishable key. Scanners for leaked secrets may ignore
// such a text.
const PublishableKeyPrefix = "opk_"

// MaxKeyGeneration is the last generation that fits into a key's text.
const MaxKeyGeneration = 1<<16 - 1

// These are the sizes of the parts of a key's text, in bytes: the id, the generation, and 96 bits of a MAC over both.
// Their sum is a whole number of base32 digits.
const (
	keyIDBytes  = 16
	keySigned   = keyIDBytes + 2
	keyBytes    = keySigned + 12
	keyTextSize = len(PublishableKeyPrefix) + keyBytes*8/5
)

// PublishableKeyText makes the text of a key's generation. secret is a secret of the installation, so the text proves
// that the installation made the key. The id must be from [NewID].
func PublishableKeyText(secret []byte, id string, generation int) string {
	var key [keyBytes]byte
	// An id from NewID is the base32 text of 16 bytes. Its 26 digits can represent 130 bits.
	_, _ = idEncoding.Decode(key[:keyIDBytes], []byte(id))
	binary.BigEndian.PutUint16(key[keyIDBytes:], uint16(generation)) // MaxKeyGeneration bounds the generation
	copy(key[keySigned:], keyMAC(secret, key[:keySigned]))
	return PublishableKeyPrefix + idEncoding.EncodeToString(key[:])
}

// ReadPublishableKey returns the id and the generation in a key's text, and whether the installation made the text. It
// accepts only the canonical form of the text.
func ReadPublishableKey(secret []byte, text string) (id string, generation int, made bool) {
	digits, ok := strings.CutPrefix(text, PublishableKeyPrefix)
	if !ok || len(text) != keyTextSize {
		return "", 0, false
	}
	var key [keyBytes]byte
	// The decoder skips line breaks, so the result of a text with line breaks is too short.
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
