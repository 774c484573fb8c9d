package schema

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"time"
)

// InsightsSessionPrefix is the prefix of the tokens for sessions of share links. No other token has this prefix,
// because the characters after TokenPrefix in other tokens contain no underscore.
const InsightsSessionPrefix = TokenPrefix + "isl_"

// InsightsSessionToken is the content of the token for a session. The session belongs to a share link.
type InsightsSessionToken struct {
	// Link is the id of the link, from [NewID].
	Link string
	// Generation is the generation that the link had when the session was opened.
	Generation int
	ExpiresAt  time.Time
}

// These are the sizes of the parts of a session's token, in bytes: the link's id, the generation, the expiry in
// seconds, and a MAC over these parts.
const (
	sessionIDBytes = 16
	sessionSigned  = sessionIDBytes + 4 + 8
	sessionBytes   = sessionSigned + sha256.Size
)

// Sign returns the token as text. The text is signed with the installation's key.
func (t InsightsSessionToken) Sign(key []byte) string {
	var text [sessionBytes]byte
	// An id from NewID is the base32 text of 16 bytes. Its 26 digits can represent 130 bits.
	_, _ = idEncoding.Decode(text[:sessionIDBytes], []byte(t.Link))
	binary.BigEndian.PutUint32(text[sessionIDBytes:], uint32(t.Generation))
	binary.BigEndian.PutUint64(text[sessionIDBytes+4:], uint64(t.ExpiresAt.Unix()))
	copy(text[sessionSigned:], sessionMAC(key, text[:sessionSigned]))
	return InsightsSessionPrefix + idEncoding.EncodeToString(text[:])
}

// IsInsightsSession reports whether a token has the form of a token for a share link's session.
func IsInsightsSession(token []byte) bool {
	return bytes.HasPrefix(token, []byte(InsightsSessionPrefix))
}

// ReadInsightsSession returns the content of a token. `signed` is false if the key did not sign the token.
func ReadInsightsSession(key, token []byte) (t InsightsSessionToken, signed bool) {
	digits, ok := strings.CutPrefix(string(token), InsightsSessionPrefix)
	if !ok || len(digits) != idEncoding.EncodedLen(sessionBytes) {
		return t, false
	}
	var text [sessionBytes]byte
	if n, err := idEncoding.Decode(text[:], []byte(digits)); err != nil || n != sessionBytes {
		return t, false
	}
	if !hmac.Equal(text[sessionSigned:], sessionMAC(key, text[:sessionSigned])) {
		return t, false
	}
	return InsightsSessionToken{
		Link:       idEncoding.EncodeToString(text[:sessionIDBytes]),
		Generation: int(binary.BigEndian.Uint32(text[sessionIDBytes:])),
		ExpiresAt:  time.Unix(int64(binary.BigEndian.Uint64(text[sessionIDBytes+4:])), 0),
	}, true
}

func sessionMAC(key, signed []byte) []byte {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write(signed) // Write of a hash never returns an error
	return mac.Sum(nil)
}
