package api

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestNoHandlerSeesFasthttp keeps the functions free of the server: only the frame's files may name it.
func TestNoHandlerSeesFasthttp(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var naming []string
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(file, "_test.go") && slices.ContainsFunc(parsed.Imports, func(i *ast.ImportSpec) bool {
			return strings.Contains(i.Path.Value, "fasthttp")
		}) {
			naming = append(naming, file)
		}
	}
	frames := strings.Fields("cors.go docs.go frame.go framing.go handler.go health.go json.go listener.go refuse.go requestid.go server.go")
	if !slices.Equal(naming, frames) {
		t.Errorf("fasthttp is named in %q, the frame's files are %q", naming, frames)
	}
	// What every function is given is declared in one of them.
	for i := range reflect.TypeFor[Caller]().NumField() {
		if field := reflect.TypeFor[Caller]().Field(i); strings.Contains(field.Type.String(), "fasthttp") {
			t.Errorf("Caller.%s is a %s", field.Name, field.Type)
		}
	}
}
