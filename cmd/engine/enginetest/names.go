package enginetest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/url"
	"time"
)

const stepTimeout = 60 * time.Second

// unique is a name that fits every engine: lower case, no quoting needed.
func unique(prefix string) string {
	random := make([]byte, 8)
	_, _ = rand.Read(random) // never fails: crypto/rand ends the process instead
	return prefix + hex.EncodeToString(random)
}

// withDatabase replaces the path of a connection URL.
func withDatabase(base, database string) (string, error) {
	u, err := url.Parse(base)
	if err != nil {
		return "", fmt.Errorf("cannot read the engine's URL: %w", err)
	}
	u.Path = "/" + database
	return u.String(), nil
}

// step bounds one statement of set-up or clean-up. It is not the test's context, which is over when clean-up runs.
func step() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), stepTimeout)
}
