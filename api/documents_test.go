package api_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/frame"
)

const root = ".."

// notOurs has the names of folders that the tests leave out. Most are filled by other programs.
var notOurs = []string{".git", ".library", "bin", "data", "node_modules", "results", "testdata"}

// TestFoldersAreListed compares the lists of folders with the folders of the repository. The README lists the top
// folders. The doc.go of a folder lists each subfolder that has Go files.
func TestFoldersAreListed(t *testing.T) {
	t.Parallel()
	readme := read(t, "README.md")
	_, table, _ := strings.Cut(readme, "\n| folder |")
	table, _, _ = strings.Cut(table, "\n\n")
	compareNames(t, "README.md", rowsOf(regexp.MustCompile("(?m)^\\| `([a-z]+)` \\|"), table), folders(t, ".", anyFile))
	lists := 0
	for _, folder := range goFolders(t) {
		below := folders(t, folder, goFiles)
		if len(below) < 2 {
			continue
		}
		lists++
		doc := filepath.Join(folder, "doc.go")
		compareNames(t, doc, rowsOf(regexp.MustCompile(`(?m)^//\t([a-z]+) +[^ ]`), read(t, doc)), below)
	}
	if lists < 5 {
		t.Errorf("only %d folders have a list: the test looks at the wrong tree", lists)
	}
}

// compareNames fails for a folder that the list does not name, and for a name of the list that is not a folder. A list
// may also name folders without Go files.
func compareNames(t *testing.T, list string, have, want []string) {
	t.Helper()
	for _, name := range want {
		if !slices.Contains(have, name) {
			t.Errorf("%s does not list the folder %s", list, name)
		}
	}
	for _, name := range have {
		if _, err := os.Stat(filepath.Join(root, filepath.Dir(list), name)); err != nil {
			t.Errorf("%s lists %s: %v", list, name, err)
		}
	}
}

func rowsOf(pattern *regexp.Regexp, text string) (names []string) {
	for _, row := range pattern.FindAllStringSubmatch(text, -1) {
		names = append(names, row[1])
	}
	return names
}

// folders returns the names of the direct subfolders that have a file of a kind, at any depth.
func folders(t *testing.T, folder string, kind func(path string) bool) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(root, folder))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name := entry.Name()
		hidden := strings.HasPrefix(name, ".") || slices.Contains(notOurs, name) || strings.HasSuffix(name, "test")
		if !entry.IsDir() || hidden {
			continue
		}
		if len(files(t, filepath.Join(folder, name), kind)) > 0 {
			names = append(names, name)
		}
	}
	return names
}

func anyFile(string) bool      { return true }
func goFiles(path string) bool { return strings.HasSuffix(path, ".go") }
func papers(path string) bool  { return strings.HasSuffix(path, ".md") }

// goFolders returns every folder that has a Go file in it or below it.
func goFolders(t *testing.T) (list []string) {
	t.Helper()
	for _, path := range files(t, ".", goFiles) {
		for folder := filepath.Dir(path); folder != "."; folder = filepath.Dir(folder) {
			list = append(list, folder)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// files returns the paths of the repository's files of a kind below a folder.
func files(t *testing.T, folder string, kind func(path string) bool) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains(notOurs, entry.Name()):
			return fs.SkipDir
		case !entry.IsDir() && kind(path):
			relative, err := filepath.Rel(root, path)
			paths = append(paths, relative)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	code    = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	setting = regexp.MustCompile(`\bOCTAVO_[A-Z_]*[A-Z]\b`)
)

// ofSites has the pages of the sites that tests serve. The links in these pages are paths of those sites.
var ofSites = []string{
	"api/clienttest/front-end/blocks.md", "api/browsertest/sites/starlight/src/content/docs/index.md",
}

// TestLinksOfDocuments: each relative link of a document leads to a file, and to a heading if the link has one.
func TestLinksOfDocuments(t *testing.T) {
	t.Parallel()
	links := 0
	for _, document := range files(t, ".", papers) {
		if slices.Contains(ofSites, document) {
			continue
		}
		for _, found := range link.FindAllStringSubmatch(code.ReplaceAllString(read(t, document), ""), -1) {
			if strings.Contains(found[1], "://") || strings.HasPrefix(found[1], "mailto:") {
				continue
			}
			links++
			path, anchor, _ := strings.Cut(found[1], "#")
			target := filepath.Join(filepath.Dir(document), path)
			if page := strings.TrimSuffix(path, ".md"); strings.HasPrefix(document, "api/docs/guides/") &&
				(page == "operations" || slices.ContainsFunc(api.Table().Operations, func(op frame.Operation) bool {
					return op.Tag == page
				})) {
				continue // The link leads to a page of the reference.
			}
			if path == "" {
				target = document
			}
			if _, err := os.Stat(filepath.Join(root, target)); err != nil {
				t.Errorf("%s links to %s, which does not exist", document, found[1])
				continue
			}
			if anchor != "" && !slices.Contains(anchors(read(t, target)), anchor) {
				t.Errorf("%s links to %s: the document has no such heading", document, found[1])
			}
		}
	}
	if links < 30 {
		t.Errorf("only %d links: the test looks at the wrong documents", links)
	}
}

// anchors returns the ids that GitHub gives the headings of a document.
func anchors(text string) (list []string) {
	for _, h := range heading.FindAllStringSubmatch(text, -1) {
		id := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(h[1]), "")
		list = append(list, strings.ReplaceAll(id, " ", "-"))
	}
	return list
}

// notSettings has the environment variables that examples, commands and tests use. They are not settings, because
// octavo serve does not read them.
var notSettings = []string{
	"OCTAVO_CONFIG", "OCTAVO_FRONT_END_TOKEN", "OCTAVO_ORG", "OCTAVO_SITE", "OCTAVO_TOKEN", "OCTAVO_URL",
}

// TestSettingsOfDocuments: each setting in a document is in the generated list.
func TestSettingsOfDocuments(t *testing.T) {
	t.Parallel()
	list := setting.FindAllString(read(t, "deploy/SETTINGS.md"), -1)
	for _, document := range files(t, ".", papers) {
		for _, name := range setting.FindAllString(read(t, document), -1) {
			if !slices.Contains(slices.Concat(list, notSettings), name) && !strings.HasPrefix(name, "OCTAVO_TEST_") {
				t.Errorf("%s names %s, which deploy/SETTINGS.md does not have", document, name)
			}
		}
	}
	if len(list) < 80 {
		t.Errorf("deploy/SETTINGS.md has only %d settings", len(list))
	}
}

// place is a row of WHERE.md: a rule, a file, and a name in the file.
var place = regexp.MustCompile("(?m)^\\| ([^*|]+) \\| `([^`|]+)` \\| `(\\w+)` \\|$")

// declares returns a pattern that matches a line which declares a name in Go, SQL, TypeScript or JavaScript.
func declares(name string) *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:func (?:\([^)]*\) )?|type |const |var |export (?:const|function) |` +
		`create or replace function |-- name: )` + name + `\b|^\t` + name + ` +[^: ]`)
}

// TestPlacesOfRules: each file that WHERE.md names exists, and declares the name that decides the rule.
func TestPlacesOfRules(t *testing.T) {
	t.Parallel()
	text := read(t, "WHERE.md")
	rules := map[string]bool{}
	for _, row := range place.FindAllStringSubmatch(text, -1) {
		rule, path, name := row[1], row[2], row[3]
		if rules[rule] {
			t.Errorf("WHERE.md has two rows for %q", rule)
		}
		rules[rule] = true
		if source, err := os.ReadFile(filepath.Join(root, path)); err != nil {
			t.Errorf("%s: %v", rule, err)
		} else if !declares(name).Match(source) {
			t.Errorf("%s: %s does not declare %s", rule, path, name)
		}
	}
	lines, groups := strings.Count(text, "\n| "), strings.Count(text, "\n| **")
	if want := lines - groups - 1; len(rules) != want || len(rules) < 60 {
		t.Errorf("WHERE.md has %d rows of three cells, of %d rows", len(rules), want)
	}
}
