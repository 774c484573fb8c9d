package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadersSession runs the README's commands that count a site's readers. The output must have the snippet with the
// key that the commands made, and an answer about live visitors.
func TestReadersSession(t *testing.T) {
	t.Parallel()
	i := newAttached(t)
	folder := filepath.Join(filepath.Dir(i.dir), "bin")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(i.cmd.Path, filepath.Join(folder, "octavo")); err != nil {
		t.Fatal(err)
	}
	begin := "curl -s $OCTAVO_URL/v1/orgs/$OCTAVO_ORG/sites/$OCTAVO_SITE/insights/keys"
	output := i.shell("set -a\n. data/quickstart.env\n"+documentSession(t, "README.md", begin), i.env...)
	_, rest, _ := strings.Cut(output, `"key":"`)
	key, _, found := strings.Cut(rest, `"`)
	for _, want := range []string{`data-key="` + key + `"`, i.url + "/o.docs.", `"object":"insights-live"`} {
		if !found || !strings.Contains(output, want) {
			t.Errorf("the session does not show %s:\n%s", want, output)
		}
	}
}
