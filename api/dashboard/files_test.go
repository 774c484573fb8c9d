package dashboard

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/frame"
)

// named matches the paths of the page's files.
var named = regexp.MustCompile(`^/o/(app|chunk|more|world|icon)\.[0-9a-f]{16}\.(js|css|svg)$`)

// imported matches the names that a script imports, and the kind of import.
var imported = regexp.MustCompile(`(from|import\(|import)"\./([^"]*)"`)

// TestPage checks that the page loads only its own files, also if it is served below a path. The names of the files
// must depend on their bytes, and must not contain words that ad blockers look for.
func TestPage(t *testing.T) {
	t.Parallel()
	for base, prefix := range map[string]string{
		"http://127.0.0.1:8080": "", "https://docs.example.com/base": "/base", "https://docs.example.com/a/b/": "/a/b",
	} {
		all := files(base)
		page := string(all[len(all)-1].Plain)
		var imports []string
		for _, file := range all[:len(all)-1] {
			if !file.Fixed || !named.MatchString(file.Path) {
				t.Errorf("%s: fixed is %v", file.Path, file.Fixed)
			}
			lazy := strings.HasPrefix(file.Path, "/o/more.") || strings.HasPrefix(file.Path, "/o/world.")
			if strings.Contains(page, `="`+prefix+file.Path+`"`) == lazy {
				t.Errorf("%s: the page loads %s at once: %v", base, file.Path, !lazy)
			}
			for _, name := range imported.FindAllStringSubmatch(string(file.Plain), -1) {
				if !slices.ContainsFunc(all, func(f frame.Static) bool { return f.Path == "/o/"+name[2] }) {
					t.Errorf("%s imports %s, which is no file", file.Path, name[2])
				}
				imports = append(imports, name[1])
			}
		}
		if slices.Sort(imports); !slices.Equal(imports, []string{"from", "from", "import(", "import("}) {
			t.Errorf("scripts import by %q", imports)
		}
		if len(all) != 7 || all[6].Policy == "" || strings.ContainsAny(page, "{}") || strings.Contains(page, "://") ||
			strings.Contains(page, "style=") || strings.Contains(page, "<style") {
			t.Errorf("%s: %s", base, page)
		}
	}
	if policy := frame.OwnPagePolicy; strings.Contains(policy, "unsafe") ||
		!strings.HasPrefix(policy, "default-src 'none';") {
		t.Error(policy)
	}
}

// TestTypes checks the types of the TypeScript sources.
func TestTypes(t *testing.T) {
	t.Parallel()
	checker, err := filepath.Abs(filepath.Join("node_modules", ".bin", "tsc"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), checker, "--project", ".").CombinedOutput()
	if err != nil {
		t.Errorf("%v (make dashboard): %s", err, out)
	}
}
