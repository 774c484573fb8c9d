package embedded

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
)

const (
	loginsFile = "logins.json"
	// loginUser is the only user of the Kafka and ClickHouse engines. Only the
	// password is secret.
	loginUser = "octavo"
)

// These environment variables pass the login to an engine's process. Arguments are unsuitable, because every user of
// the machine could read them.
const (
	EnvUser     = "OCTAVO_ENGINE_USER"
	EnvPassword = "OCTAVO_ENGINE_PASSWORD"
)

// Login is the user and password that an engine demands of every connection. The zero value means that no login is
// needed. Package pgserver stores the login of Postgres.
type Login struct {
	User     string `json:"user"`
	Password string `json:"password"`
}

// logins has the logins of Kafka and ClickHouse, by engine name.
type logins map[string]Login

// loadLogins reads the data directory's logins and creates missing ones. Logins and ports are stored, so that a URL
// stays valid after a restart. The caller holds the directory's lock.
func loadLogins(dir string) (logins, error) {
	path := filepath.Join(dir, loginsFile)
	known := logins{}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("cannot read the engines' passwords: %w", err)
	}
	if err == nil && json.Unmarshal(text, &known) != nil {
		known = logins{} // a broken file is not an error: create new logins
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
	if text, err = json.Marshal(known, json.Deterministic(true)); err == nil {
		err = replaceFile(path, append(text, '\n'))
	}
	if err != nil {
		return nil, fmt.Errorf("cannot save the engines' passwords: %w", err)
	}
	return known, nil
}

// newPassword returns a hexadecimal password, which needs no escaping in a URL.
func newPassword() string {
	random := make([]byte, 24)
	_, _ = rand.Read(random) // never fails: crypto/rand crashes the program instead
	return hex.EncodeToString(random)
}

// replaceFile atomically and durably writes a file that only its owner can read.
func replaceFile(path string, text []byte) error {
	temporary := path + ".new"
	// A file that an interrupted call left may have other permissions.
	if err := os.Remove(temporary); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(temporary, path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}
