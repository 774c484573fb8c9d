package tracker

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"

	"github.com/octavo-docs/octavo/api/frame"
)

// byPath returns the files by their paths, which must be unique.
func byPath(t *testing.T) map[string]frame.Static {
	t.Helper()
	files := map[string]frame.Static{}
	for _, file := range Files() {
		if _, ok := files[file.Path]; ok {
			t.Errorf("two files have the path %s", file.Path)
		}
		files[file.Path] = file
	}
	return files
}

// TestSizes bounds the size of the core, and the size that the extension adds.
func TestSizes(t *testing.T) {
	t.Parallel()
	files := byPath(t)
	core, docs := len(files["/o.js"].Compressed().Brotli), len(files["/o.docs.js"].Compressed().Brotli)
	t.Logf("the core has %d bytes, the extension adds %d", core, docs-core)
	if core == 0 || core > 800 {
		t.Errorf("the core has %d bytes, want at most 800", core)
	}
	if docs <= core || docs-core > 900 {
		t.Errorf("the extension adds %d bytes, want at most 900", docs-core)
	}
}

// TestFiles checks that compressed forms have the bytes of the file. It checks that the name of a file that never
// changes has the hash of its bytes.
func TestFiles(t *testing.T) {
	t.Parallel()
	fixed := 0
	for path, file := range byPath(t) {
		unpacked, err := io.ReadAll(brotli.NewReader(bytes.NewReader(file.Compressed().Brotli)))
		if err != nil || !bytes.Equal(unpacked, file.Plain) {
			t.Errorf("%s as brotli: %v", path, err)
		}
		r, err := gzip.NewReader(bytes.NewReader(file.Compressed().Gzip))
		if err != nil {
			t.Fatal(err)
		}
		if unpacked, err = io.ReadAll(r); err != nil || !bytes.Equal(unpacked, file.Plain) {
			t.Errorf("%s as gzip: %v", path, err)
		}
		sum := sha256.Sum256(file.Plain)
		named := strings.HasSuffix(path, "."+hex.EncodeToString(sum[:8])+".js")
		if named != file.Fixed {
			t.Errorf("%s: fixed is %v", path, file.Fixed)
		}
		if file.Fixed {
			fixed++
		}
	}
	if fixed < 2 {
		t.Errorf("%d files never change", fixed)
	}
}

// node runs a module in Node.js.
func node(t *testing.T, folder, script string) string {
	t.Helper()
	program, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("tests need Node.js: ", err)
	}
	command := exec.CommandContext(t.Context(), program, "--input-type=module", "--eval", script)
	command.Dir = folder
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// TestPackage packs the npm package, installs it from its archive, and imports it where there is no window.
func TestPackage(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	run := func(arguments ...string) []byte {
		command := exec.CommandContext(t.Context(), "npm", arguments...)
		command.Dir = "npm"
		out, err := command.Output()
		if err != nil {
			t.Fatalf("npm %v: %v %s", arguments, err, out)
		}
		return out
	}
	var packed []struct {
		Filename string
		Files    []struct{ Path string }
	}
	listed := run("pack", "--json", "--ignore-scripts", "--pack-destination", folder)
	if err := json.Unmarshal(listed, &packed); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, file := range packed[0].Files {
		names[file.Path] = true
	}
	got := slices.Sorted(maps.Keys(names))
	if want := []string{"README.md", "index.d.ts", "index.js", "package.json"}; !slices.Equal(got, want) {
		t.Errorf("the package has %v, want %v", got, want)
	}
	archive := filepath.Join(folder, packed[0].Filename)
	if _, err := os.Stat(archive); err != nil {
		t.Fatal(err)
	}
	run("install", "--prefix", folder, "--offline", "--ignore-scripts", "--no-audit", "--no-fund", archive)
	out := node(t, folder, `
		const before = Object.keys(globalThis).length
		const { init, track, ...more } = await import('@octavo/tracker')
		init({ server: 'https://octavo.example.com', key: 'opk_x' })
		track('page_view')
		console.log(Object.keys(globalThis).length - before, Object.keys(more).length)`)
	if out != "0 0\n" {
		t.Errorf("without a window: %q", out)
	}
}
