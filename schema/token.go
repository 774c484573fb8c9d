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

// These are the kinds of tokens. A user token acts as its user, and a session of single sign-on does in its
// organization. A site key may only post that site's events. A front-end token finds every published site by its
// address and posts its events. A site token reads one published site. It is signed and not stored. Callers without a
// token have a separate kind, for the operations that admit them. A publishable key posts the events of one site. It is
// part of an address, and not a bearer token. An insights token reads the insights of one site. A share link's session
// reads the part of the insights that the link shows. It is signed and not stored.
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

	// An integration's token finds the integration's installations. An installation's token may do everything that the
	// installation's scopes allow.
	TokenIntegration  TokenKind = "integration"
	TokenInstallation TokenKind = "installation"
)

// TokenPrefix is the prefix of every token that we make, so that scanners for leaked secrets recognize the tokens.
const TokenPrefix = "oct_"

// integrationPrefix is the prefix of the tokens of integrations and installations, which are stored separately. Our
// other tokens never have this prefix, because their digits contain no underscore.
const integrationPrefix = TokenPrefix + "int_"

// NewIntegrationToken makes a token of an integration or of an installation.
func NewIntegrationToken() string {
	return integrationPrefix + strings.TrimPrefix(NewToken(), TokenPrefix)
}

// IsIntegrationToken reports whether a token has the form of integrations' and installations' tokens.
func IsIntegrationToken(token []byte) bool {
	return bytes.HasPrefix(token, []byte(integrationPrefix))
}

// MinTokenLength is the shortest token that an operator may choose for the first user.
const MinTokenLength = 16

// TokenHash is the only form in which tokens are stored. A fast hash is enough, because our tokens have 256 random bits
// and cannot be guessed.
type TokenHash [sha256.Size]byte

// HashToken hashes a bearer token in the form in which it was sent.
func HashToken(token []byte) TokenHash { return sha256.Sum256(token) }

// HashBrowserSecret hashes the secret of a browser's cookie, or the secret of a sign-in link. The hash of a secret
// differs from the hash of a bearer token with the same text. So secrets are not accepted as bearer tokens, and bearer
// tokens are not accepted as secrets.
func HashBrowserSecret[T string | []byte](secret T) TokenHash {
	return sha256.Sum256(append([]byte("browser session "), secret...))
}

// NewToken makes a token of 256 random bits.
func NewToken() string {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // crypto/rand.Read never returns an error: it ends the process instead.
	return TokenPrefix + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(secret[:]))
}

// ValidToken reports whether a token can be sent in an Authorization header. An operator may have chosen the token.
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
