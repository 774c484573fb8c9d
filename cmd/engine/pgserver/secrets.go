package pgserver

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
)

const secretsFile = "secrets.json"

// secrets has the passwords. They are hexadecimal, so they need no escaping in SQL or in a URL.
type secrets struct {
	Superuser string `json:"postgres"`
	App       string `json:"octavo"`
}

func newSecrets() secrets { return secrets{Superuser: newSecret(), App: newSecret()} }

func newSecret() string {
	random := make([]byte, 24)
	_, _ = rand.Read(random) // never fails: crypto/rand crashes the program instead
	return hex.EncodeToString(random)
}

// loadSecrets returns nil if no secrets have been saved.
func loadSecrets(dir string) (*secrets, error) {
	path := filepath.Join(dir, secretsFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the Postgres passwords: %w", err)
	}
	var s secrets
	if err := json.Unmarshal(text, &s); err != nil || s.App == "" || s.Superuser == "" {
		return nil, fmt.Errorf("cannot use the Postgres passwords in %s: the file is damaged: remove it and start again to create new ones", path)
	}
	return &s, nil
}

// saveSecrets replaces the file atomically, because with an incomplete file Octavo could not open its data.
func saveSecrets(dir string, s secrets) error {
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("cannot encode the Postgres passwords: %w", err)
	}
	if err := writeFile(filepath.Join(dir, secretsFile), append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("cannot save the Postgres passwords: %w", err)
	}
	return syncDir(dir)
}

func writeFile(path string, text []byte, mode os.FileMode) error {
	temporary := path + ".new"
	if err := os.Remove(temporary); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	err = errors.Join(err, file.Sync(), file.Close())
	if err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

func syncDir(dir string) error {
	file, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("cannot sync %s: %w", dir, err)
	}
	defer func() { _ = file.Close() }()
	if err := file.Sync(); err != nil {
		return fmt.Errorf("cannot sync %s: %w", dir, err)
	}
	return nil
}
