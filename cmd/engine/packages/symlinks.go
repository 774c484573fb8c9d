package packages

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
)

// linkAll creates the symlinks that the Postgres package lists. npm packages cannot contain symlinks. So the package
// creates its symlinks in an install script, which npm 11 and later do not run.
func linkAll(root string) error {
	list := filepath.Join(root, "native", "pg-symlinks.json")
	text, err := os.ReadFile(list)
	if errors.Is(err, os.ErrNotExist) {
		return nil // a later version of the package may have no symlinks
	}
	if err != nil {
		return fmt.Errorf("cannot read the Postgres package's list of symlinks: %w", err)
	}
	var links []struct {
		Source string `json:"source"`
		Target string `json:"target"`
	}
	if err := json.Unmarshal(text, &links); err != nil {
		return fmt.Errorf("cannot read %s: %w (run `make engines` to install the package again)", list, err)
	}
	for _, link := range links {
		if !filepath.IsLocal(link.Source) || !filepath.IsLocal(link.Target) {
			return fmt.Errorf("cannot use %s: it links %s to %s, which is not inside the package", list, link.Target, link.Source)
		}
		if err := linkOne(filepath.Join(root, link.Source), filepath.Join(root, link.Target)); err != nil {
			return fmt.Errorf("cannot complete the Postgres package: %w (run `make engines` as a user who may write there)", err)
		}
	}
	return nil
}

// linkOne creates a symlink. Several processes may do this at once: a later process finds the link, or atomically
// replaces it with an equal link.
func linkOne(source, target string) error {
	relative, err := filepath.Rel(filepath.Dir(target), source)
	if err != nil {
		return err
	}
	if present, err := os.Readlink(target); err == nil && present == relative {
		return nil
	}
	if info, err := os.Lstat(target); err == nil && info.Mode().IsRegular() {
		return nil // the file is installed as a copy instead of a link
	}
	temporary, err := os.MkdirTemp(filepath.Dir(target), ".link-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	fresh := filepath.Join(temporary, "link")
	if err := os.Symlink(relative, fresh); err != nil {
		return err
	}
	return os.Rename(fresh, target)
}
