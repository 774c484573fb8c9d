package embedded

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/go-json-experiment/json"
)

// marksFile is a file of the data directory and of each engine's folder. It shows that a folder is missing, belongs to
// another installation, or is from an older copy than the other folders.
const marksFile = "installation.json"

// marks is the content of the data directory's file.
type marks struct {
	ID string `json:"id"`
	// Starts has the number of starts of each engine.
	Starts map[string]int64 `json:"starts"`
	// Losses has, by engine, a loss of data. The engine has started with this loss only because of Config.AcceptLoss.
	// ForgetLosses clears it.
	Losses map[string]string `json:"losses,omitzero"`
}

// accept notes a loss that the operator accepts.
func (m *marks) accept(engine, loss string) {
	if m.Losses == nil {
		m.Losses = map[string]string{}
	}
	m.Losses[engine] = loss
}

// mark is the content of the file in an engine's folder. After a crash, its number of starts may be one more than the
// number in the data directory's file.
type mark struct {
	ID     string `json:"id"`
	Starts int64  `json:"starts"`
}

// essential has the pattern of a file that an engine's folder has since the engine's first start.
var essential = map[string]string{
	Postgres:   filepath.Join("data", "PG_VERSION"),
	Kafka:      filepath.Join("broker", "journal-*"),
	ClickHouse: filepath.Join("store", "*"),
}

// checkMarks returns an error if a wanted engine's folder does not match the data directory's current state. It changes
// nothing. The insights store may be empty or older, because Octavo finds out which events are missing, and restores
// the events that the log has.
func (c *Config) checkMarks() (marks, error) {
	own := marks{Starts: map[string]int64{}}
	known, err := readMarks(filepath.Join(c.DataDir, marksFile), &own)
	if err != nil {
		return own, fmt.Errorf("%w: restore the file, or remove it if the directory is whole", err)
	}
	for _, engine := range c.Want.names() {
		if err := c.checkMark(&own, known, engine); err != nil {
			return own, err
		}
	}
	if own.ID == "" {
		own.ID = rand.Text()
	}
	return own, nil
}

func (c *Config) checkMark(own *marks, known bool, engine string) error {
	folder := filepath.Join(c.DataDir, engine)
	found, err := filepath.Glob(filepath.Join(folder, essential[engine]))
	if err != nil {
		return err
	}
	var m mark
	marked, err := readMarks(filepath.Join(folder, marksFile), &m)
	started := own.Starts[engine]
	accepted := slices.Contains(c.AcceptLoss, engine)
	var reason string
	switch {
	case err != nil:
		reason = "has a damaged file " + marksFile
	case known && marked && m.ID != own.ID, !known && marked && own.ID != "" && m.ID != own.ID:
		reason = "is of another installation"
	case engine == ClickHouse, started == 0:
	case len(found) == 0:
		reason = "lacks its data"
	case !marked || m.Starts < started:
		reason = "is older than the rest of the data directory"
	}
	if reason != "" && !accepted {
		return fmt.Errorf("cannot use data directory %s: %s %s: put back the folder, or restore the whole data "+
			"directory from one backup; `octavo serve --accept-loss %s` goes on without what is missing",
			c.DataDir, folder, reason, engine)
	}
	if reason != "" {
		own.accept(engine, folder+" "+reason)
	}
	if own.ID == "" && marked && !accepted {
		own.ID = m.ID // the data directory's own file is missing, so its id comes from an engine's folder
	}
	own.Starts[engine] = max(started, m.Starts)
	return nil
}

// readMarks reads a file of marks. `known` is false if there is no file.
func readMarks(path string, into any) (known bool, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return false, fmt.Errorf("cannot read %s: %w", path, err)
	}
	return true, nil
}

// write adds a start to the files in the folders of the wanted engines, and then to the data directory's file.
func (m *marks) write(dir string, want Set) error {
	for _, engine := range want.names() {
		m.Starts[engine]++
		if err := replaceJSON(filepath.Join(dir, engine, marksFile), mark{m.ID, m.Starts[engine]}); err != nil {
			return fmt.Errorf("cannot mark the folder of %s: %w", engine, err)
		}
	}
	return m.save(dir)
}

// save writes the data directory's file.
func (m *marks) save(dir string) error {
	if err := replaceJSON(filepath.Join(dir, marksFile), m); err != nil {
		return fmt.Errorf("cannot mark data directory %s: %w", dir, err)
	}
	return nil
}

// replaceJSON atomically and durably writes a value as a file.
func replaceJSON(path string, value any) error {
	text, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		return err
	}
	return replaceFile(path, append(text, '\n'))
}

func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
