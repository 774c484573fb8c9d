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

// These are the kinds of tokens. A user token acts as its user. A session of single sign-on acts as its user, but only
// in its organization. A site key may only post that site's events. A front-end token can find every published site by
// its address, and can post the events of these sites. A site token can read one published site. It is signed and not
// stored. Callers without a token have their own kind, because some operations do not need a token. A publishable key
// can post the events of one site. It is a part of an address, and not a bearer token. An insights token can read the
// insights of one site. The session of a share link can read the part of the insights that the link shows. Its token is
// signed and not stored.
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

	// An integration's token can find the integration's installations. An installation's token has the rights that the
	// installation's scopes give.
	TokenIntegration  TokenKind = "integration"
	TokenInstallation TokenKind = "installation"
)

// TokenPrefix is the prefix of every token that Octavo makes, so that scanners for leaked secrets recognize the tokens.
const TokenPrefix = "oct_"

// integrationPrefix is the prefix of the tokens of integrations and installations, which are stored separately. Other
// tokens never have this prefix, because their digits contain no underscore.
const integrationPrefix = TokenPrefix + "int_"

// NewIntegrationToken makes a token of an integration or of an installation.
func NewIntegrationToken() string {
	return integrationPrefix + strings.TrimPrefix(NewToken(), TokenPrefix)
}

// IsIntegrationToken reports whether a token has the form of integrations' and installations' tokens.
func IsIntegrationToken(token []byte) bool {
	return bytes.HasPrefix(token, []byte(integrationPrefix))
}

// MinTokenLength is the least length of a token that an operator chooses for the first user.
const MinTokenLength = 16

// TokenHash is the only form in which tokens are stored. A fast hash is enough, because the tokens that Octavo makes
// have 256 random bits and cannot be guessed.
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
	// rand.Read of crypto/rand never returns an error: it ends the process instead.
	_, _ = rand.Read(secret[:])
	return TokenPrefix + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(secret[:]))
}

// ValidToken reports whether a token can be sent in an Authorization header. Not all tokens have the form that NewToken
// makes, because operators may choose tokens.
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
