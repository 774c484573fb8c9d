package saml_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api/saml"
)

// TestMetadata compares the metadata with a file that pysaml2 7.5.5 loads, and that is valid by the schema of SAML's
// metadata. Load a changed file there again: identity providers refuse metadata that has ended, or is not valid.
func TestMetadata(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile("testdata/metadata.xml")
	if err != nil {
		t.Fatal(err)
	}
	got, err := saml.Metadata(service)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)+"\n"); diff != "" {
		t.Error(diff)
	}
}
