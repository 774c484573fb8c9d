package schema

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

// TokenKind is the kind of a caller's token.
type TokenKind string

// These are the kinds of tokens. A user token acts as its user. A session of single sign-on also acts as its user, but
// only in its organization. A site key may only post the events of its site. A front-end token can find every published
// site by the site's address, and can post the events of these sites. A site token can read one published site. It is
// signed and not stored. Callers without a token have a kind too, because some operations do not need a token. A
// publishable key can post the events of one site. It is a part of an address, and not a bearer token. An insights
// token can read the insights of one site. The session of a share link can read the part of the insights that the link
// shows. The token of this session is signed and not stored.
const (
	TokenUser     TokenKind = "user"
	TokenSite     TokenKind = "site"
	TokenFrontEnd TokenKind = "front-end"
	TokenReader   TokenKind = "reader"
	TokenSession  TokenKind = "session"
	TokenNone     TokenKind = "none"

	TokenPublishable TokenKind = "publishable-key"

	TokenInsights     TokenKind = "insights"
	TokenInsightsLink TokenKind = "insights-share-link"

	// The token of an integration can find the integration's installations. The token of an installation has the rights
	// that the installation's scopes give.
	TokenIntegration  TokenKind = "integration"
	TokenInstallation TokenKind = "installation"
)

// TokenPrefix is the prefix of every token that Octavo makes, so that scanners for leaked secrets recognize the tokens.
const TokenPrefix = "oct_"

// integrationPrefix is the prefix of the tokens of integrations and installations. These tokens are stored separately
// from all other tokens. No other token has this prefix, because the characters after TokenPrefix in other tokens
// contain no underscore.
const integrationPrefix = TokenPrefix + "int_"

// NewIntegrationToken makes a token for an integration or for an installation.
func NewIntegrationToken() string {
	return integrationPrefix + strings.TrimPrefix(NewToken(), TokenPrefix)
}

// IsIntegrationToken reports whether a token has the form of a token for integrations and installations.
func IsIntegrationToken(token []byte) bool {
	return bytes.HasPrefix(token, []byte(integrationPrefix))
}

// MinTokenLength is the least length of the token that an operator chooses for the first user.
const MinTokenLength = 16

// TokenHash is the hash of a token. Tokens are stored only in this form. A fast hash is enough, because the tokens that
// Octavo makes have 256 random bits and cannot be guessed.
type TokenHash [sha256.Size]byte

// HashToken hashes a bearer token in the form in which it was sent.
func HashToken(token []byte) TokenHash { return sha256.Sum256(token) }

// HashBrowserSecret hashes the secret of a browser's cookie, or the secret of a sign-in link. The hash of a secret
// differs from the hash of a bearer token with the same text. So a secret is not accepted as a bearer token, and a
// bearer token is not accepted as a secret.
func HashBrowserSecret[T string | []byte](secret T) TokenHash {
	return sha256.Sum256(append([]byte("browser session "), secret...))
}

// NewToken makes a token of 256 random bits.
func NewToken() string {
	var secret [32]byte
	// Read of crypto/rand never returns an error: it ends the process instead
	_, _ = rand.Read(secret[:])
	return TokenPrefix + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(secret[:]))
}

// ValidToken reports whether a token can be sent in an Authorization header. Some tokens do not have the form that
// NewToken makes, because operators may choose tokens.
func ValidToken[T string | []byte](token T) bool {
	if len(token) < MinTokenLength || len(token) > 512 {
		return false
	}
	for i := range len(token) {
		if token[i] <= ' ' || token[i] > '~' {
			return false
		}
	}
	return true
}
