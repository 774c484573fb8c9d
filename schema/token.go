package schema

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

// TokenKind is the kind of a bearer token's owner.
type TokenKind string

// The kinds of tokens. A user token acts as its user, and a session of single sign-on does in its organization. A site
// key may only post that site's events. A front-end token finds every published site by its address and posts its
// events. A site token reads one published site; it is signed and not stored. Callers without a token are of a kind of
// their own, for the operations that admit them. A publishable key posts the events of one site. It is part of an
// address, and not a bearer token. An insights token reads the insights of one site. A session of a share link reads
// the part of them that the link shows; it is signed and not stored.
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

	// The token of an integration finds its installations. The token of an installation may do what the installation's
	// scopes allow.
	TokenIntegration  TokenKind = "integration"
	TokenInstallation TokenKind = "installation"
)

// TokenPrefix starts every token that we make, so that scanners for leaked secrets recognize it.
const TokenPrefix = "oct_"

// integrationPrefix starts the tokens of integrations and installations, which are stored apart. Our other tokens never
// start with it, because their digits have no underscore.
const integrationPrefix = TokenPrefix + "int_"

// NewIntegrationToken makes a token of an integration or of an installation.
func NewIntegrationToken() string {
	return integrationPrefix + strings.TrimPrefix(NewToken(), TokenPrefix)
}

// IsIntegrationToken reports whether a token has the form of those of integrations and installations.
func IsIntegrationToken(token []byte) bool {
	return bytes.HasPrefix(token, []byte(integrationPrefix))
}

// MinTokenLength is the shortest token that an operator may choose for the first user.
const MinTokenLength = 16

// TokenHash is the only form in which a token is stored. A fast hash is enough, because our tokens have 256 random bits and
// cannot be guessed.
type TokenHash [sha256.Size]byte

// HashToken hashes a bearer token in the form in which it was sent.
func HashToken(token []byte) TokenHash { return sha256.Sum256(token) }

// HashBrowserSecret hashes the secret of a browser's cookie, or of a link that signs in. The hash of a secret differs
// from the hash of a bearer token with the same text. So a secret is not accepted as a bearer token, and a bearer token
// is not accepted as a secret.
func HashBrowserSecret[T string | []byte](secret T) TokenHash {
	return sha256.Sum256(append([]byte("browser session "), secret...))
}

// NewToken makes a token of 256 random bits.
func NewToken() string {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // crypto/rand.Read never returns an error: it ends the process instead.
	return TokenPrefix + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(secret[:]))
}

// ValidToken reports whether a token, which an operator may have chosen, can be sent in an Authorization header.
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
