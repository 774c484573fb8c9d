package api_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestOnlyTheFrameSeesFasthttp checks that no package except the frame imports fasthttp. The linter checks the other
// import rules. This rule is a test, so every run of go test checks it.
func TestOnlyTheFrameSeesFasthttp(t *testing.T) {
	t.Parallel()
	found := 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, imported := range parsed.Imports {
			if !strings.Contains(imported.Path.Value, "fasthttp") {
				continue
			}
			found++
			if filepath.Dir(path) != "frame" {
				t.Errorf("%s imports %s", path, imported.Path.Value)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found == 0 {
		t.Error("no file imports fasthttp: the test looks for the wrong name")
	}
}
