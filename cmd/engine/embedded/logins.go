package embedded

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const (
	loginsFile = "logins.json"
	// loginUser is the one user of each own engine: what is secret is the password.
	loginUser = "octavo"
)

// The variables that tell an engine's process its login. They are not arguments because any user of the machine can read those.
const (
	EnvUser     = "OCTAVO_ENGINE_USER"
	EnvPassword = "OCTAVO_ENGINE_PASSWORD"
)

// Login is what an engine asks of every connection. Postgres has its own, kept by package pgserver. The zero value is none.
type Login struct {
	User     string `json:"user"`
	Password string `json:"password"`
}

// logins are the own engines' by name.
type logins map[string]Login

// loadLogins reads the data directory's logins, and makes those that are missing. They outlive restarts, as the ports do: a URL that was
// handed out stays good. The caller holds the directory's lock.
func loadLogins(dir string) (logins, error) {
	path := filepath.Join(dir, loginsFile)
	known := logins{}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("cannot read the engines' passwords: %w", err)
	}
	if err == nil && json.Unmarshal(text, &known) != nil {
		known = logins{} // nothing is lost with them: new ones do as well
	}
	complete := true
	for _, name := range []string{Kafka, ClickHouse} {
		if known[name].User == "" || known[name].Password == "" {
			known[name], complete = Login{loginUser, newPassword()}, false
		}
	}
	if complete {
		return known, os.Chmod(path, 0o600)
	}
	if text, err = json.Marshal(known); err == nil {
		err = replaceFile(path, append(text, '\n'))
	}
	if err != nil {
		return nil, fmt.Errorf("cannot keep the engines' passwords: %w", err)
	}
	return known, nil
}

// newPassword is hexadecimal, so it needs no quoting in a URL.
func newPassword() string {
	random := make([]byte, 24)
	_, _ = rand.Read(random) // never fails: crypto/rand ends the process instead
	return hex.EncodeToString(random)
}

// replaceFile writes a file that only its owner can read, in one step.
func replaceFile(path string, text []byte) error {
	temporary := path + ".new"
	if err := os.Remove(temporary); err != nil && !errors.Is(err, os.ErrNotExist) { // its mode could be another
		return err
	}
	if err := os.WriteFile(temporary, text, 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}
