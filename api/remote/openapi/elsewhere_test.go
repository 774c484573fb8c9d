package openapi_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi2conv"
	"github.com/getkin/kin-openapi/openapi3"

	"github.com/go-json-experiment/json"
)

// TestBundlesOpenElsewhere reads bundled specifications with another OpenAPI library. Every path must have its
// operations. For version 2.0, the library first converts the document. It converts only parts that it finds below
// paths.
func TestBundlesOpenElsewhere(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/bundled/*.want.json")
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".want.json"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var old openapi2.T
			if err := json.Unmarshal(text, &struct {
				Swagger *string `json:"swagger"`
			}{&old.Swagger}); err != nil {
				t.Fatal(err)
			}
			loader := openapi3.NewLoader()
			var document *openapi3.T
			if old.Swagger != "" {
				if err := old.UnmarshalJSON(text); err != nil {
					t.Fatal(err)
				}
				document, err = openapi2conv.ToV3WithLoader(&old, loader, nil)
			} else {
				document, err = loader.LoadFromData(text)
			}
			if err != nil {
				t.Fatal(err)
			}
			// The library knows only the members of version 3.0. So the test allows members of other versions, such as
			// definitions.
			if err := document.Validate(t.Context(), openapi3.AllowExtraSiblingFields("definitions", "pathItems", "webhooks")); err != nil {
				t.Error(err)
			}
			for path, item := range document.Paths.Map() {
				// In version 2.0, the library does not follow a reference that is a path.
				if was := old.Paths[path]; len(item.Operations()) == 0 && (was == nil || was.Ref == "") {
					t.Errorf("%s has no operations", path)
				}
				for method, operation := range item.Operations() {
					for _, response := range operation.Responses.Map() {
						if response.Value == nil || response.Value.Description == nil {
							t.Errorf("%s %s has a response without a description", method, path)
						}
					}
				}
			}
		})
	}
}
