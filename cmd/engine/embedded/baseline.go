package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// baselineFile is the file with the baseline of the directory's data.
const baselineFile = "baseline"

// CheckBaseline returns an error if the data directory has data of another baseline. It changes nothing. It accepts a
// directory without engine data.
func CheckBaseline(dir string, baseline int) error {
	found, filled, err := foundBaseline(dir)
	if err != nil {
		return fmt.Errorf("cannot read the baseline of data directory %s: %w "+
			"(OCTAVO_DATA_DIR names the directory)", dir, err)
	}
	if want := strconv.Itoa(baseline); filled && found != want {
		return fmt.Errorf("cannot use data directory %s: its data has %s and this version uses baseline %s: "+
			"move the directory away, or run the version that wrote the data (OCTAVO_DATA_DIR names the directory)",
			dir, named(found), want)
	}
	return nil
}

func (c *Config) checkBaseline() error {
	if c.Baseline == 0 {
		return nil
	}
	return CheckBaseline(c.DataDir, c.Baseline)
}

func named(baseline string) string {
	if baseline == "" {
		return "no baseline"
	}
	if _, err := strconv.ParseUint(baseline, 10, 31); err != nil {
		baseline = strconv.Quote(baseline)
	}
	return "baseline " + baseline
}

// foundBaseline returns the text of the directory's baseline file, or "" if there is no file. `filled` is false if the
// directory has neither the file nor engine data.
func foundBaseline(dir string) (found string, filled bool, err error) {
	text, err := os.ReadFile(filepath.Join(dir, baselineFile))
	if err == nil {
		return strings.TrimSpace(string(text)), true, nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return "", false, err
	}
	for _, engine := range All.names() {
		if filled, err := hasData(dir, engine); filled || err != nil {
			return "", filled, err
		}
	}
	return "", false, nil
}

// hasData reports whether an engine has written into its folder of the data directory.
func hasData(dir, engine string) (bool, error) {
	entries, err := os.ReadDir(filepath.Join(dir, engine))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return false, err
	}
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return e.Name() != "lost+found" // A new file system has this folder.
	}), nil
}

// ErrNoData is the error of CheckData.
var ErrNoData = errors.New("has no data")

// CheckData fails with ErrNoData if the data directory has no data of a wanted engine. Start would create this data.
func CheckData(dir string, want Set) error {
	for _, engine := range want.names() {
		filled, err := hasData(dir, engine)
		if err != nil {
			return fmt.Errorf("cannot read data directory %s: %w", dir, err)
		}
		if !filled {
			return fmt.Errorf("data directory %s %w of %s", dir, ErrNoData, engine)
		}
	}
	return nil
}

// markBaseline writes the baseline file, before the first engine starts. The caller holds the directory's lock and has
// checked the baseline.
func markBaseline(dir string, baseline int) (err error) {
	path := filepath.Join(dir, baselineFile)
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("cannot mark data directory %s: %w", dir, err)
		}
	}()
	return replaceFile(path, []byte(strconv.Itoa(baseline)+"\n"))
}
