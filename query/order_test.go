package query

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFilesFormNoCircle checks that no file uses functions, types, variables or constants of another file if that file
// uses the first file, directly or through other files. So the package's files can be read in one order. Methods and
// fields are not checked.
func TestFilesFormNoCircle(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{".", "statecache", "resultcache"} {
		uses := fileUses(t, folder)
		if len(uses) < 3 {
			t.Errorf("%s: %d files only", folder, len(uses))
		}
		if circle := circleOf(uses); circle != nil {
			t.Errorf("%s: files in a circle: %s", folder, strings.Join(circle, " → "))
		}
	}
	known := map[string][]string{"a": {"b"}, "b": {"c"}, "c": {"b"}}
	if circle := circleOf(known); !slices.Contains(circle, "b") || len(circle) != 3 {
		t.Errorf("a circle is %v", circle)
	}
}

// fileUses returns the files that each file of a folder uses, by package-level names.
func fileUses(t *testing.T, folder string) map[string][]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	files, home := map[string]*ast.File{}, map[string]string{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files[path] = f
		for _, name := range declared(f) {
			home[name] = path
		}
	}
	uses := map[string][]string{}
	for path, f := range files {
		uses[path] = nil
		for _, name := range f.Unresolved { // names that another file may declare
			if of := home[name.Name]; of != "" && of != path && !slices.Contains(uses[path], of) {
				uses[path] = append(uses[path], of)
			}
		}
	}
	return uses
}

// declared returns the package-level names of a file, without methods.
func declared(f *ast.File) (names []string) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names = append(names, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					names = append(names, s.Name.Name)
				case *ast.ValueSpec:
					for _, name := range s.Names {
						names = append(names, name.Name)
					}
				}
			}
		}
	}
	return names
}

// circleOf returns a dependency cycle between files, or nil if there is no cycle.
func circleOf(uses map[string][]string) []string {
	done := map[string]bool{}
	var path []string
	var visit func(file string) []string
	visit = func(file string) []string {
		if i := slices.Index(path, file); i >= 0 {
			return append(slices.Clone(path[i:]), file)
		}
		if done[file] {
			return nil
		}
		path = append(path, file)
		for _, next := range uses[file] {
			if circle := visit(next); circle != nil {
				return circle
			}
		}
		path, done[file] = path[:len(path)-1], true
		return nil
	}
	for file := range uses {
		if circle := visit(file); circle != nil {
			return circle
		}
	}
	return nil
}
