package enginetest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/url"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
)

// unique returns a unique name that is valid in every engine without quotes.
func unique(prefix string) string {
	random := make([]byte, 8)
	_, _ = rand.Read(random) // never fails: crypto/rand crashes the program instead
	return prefix + hex.EncodeToString(random)
}

// withDatabase returns a connection URL with another database in its path.
func withDatabase(base, database string) (string, error) {
	u, err := url.Parse(base)
	if err != nil {
		return "", fmt.Errorf("cannot read the engine's URL: %w", err)
	}
	u.Path = "/" + database
	return u.String(), nil
}

// step returns a context for one statement of set-up or clean-up. During clean-up, the test's own context is already
// done.
func step() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), eventually.Patience)
}
