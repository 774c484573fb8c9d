package saml_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api/saml"
)

// TestMetadata compares the metadata with a file. pysaml2 7.5.5 loads this file, and it is valid by the XML schema of
// SAML metadata. If the file must change, check both again, because identity providers refuse metadata that is not
// valid.
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
