package openapi

import (
	"errors"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

var update = flag.Bool("update", false, "write what is read into the files that it is compared with")

// compare checks that a text equals the content of a file.
func compare(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", file, got, want)
	}
}

// result returns a document in a readable form, or its problems.
func result(t *testing.T, document []byte, err error) (text, extension string) {
	t.Helper()
	if err == nil {
		value := jsontext.Value(document)
		if err := value.Indent(); err != nil {
			t.Fatal(err)
		}
		return string(value) + "\n", ".want.json"
	}
	problems, ok := errors.AsType[Problems](err)
	if !ok {
		t.Fatalf("%T %v", err, err)
	}
	var b strings.Builder
	for _, p := range problems {
		b.WriteString(p.Code + " " + p.Error() + "\n")
	}
	return b.String(), ".want.txt"
}

// TestCorpus reads the documents of testdata. Accepted documents become the JSON in the file .want.json. Refused
// documents have the problems in the file .want.txt.
func TestCorpus(t *testing.T) {
	t.Parallel()
	for folder, want := range map[string]string{"accepted": ".want.json", "refused": ".want.txt"} {
		files, err := filepath.Glob(filepath.Join("testdata", folder, "*"))
		if err != nil || len(files) == 0 {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.Contains(file, ".want.") {
				continue
			}
			t.Run(folder+"/"+filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				document, err := Parse(string(text))
				got, extension := result(t, document, err)
				if extension != want {
					t.Fatalf("got %s, want %s", got, want)
				}
				compare(t, strings.TrimSuffix(file, filepath.Ext(file))+extension, got)
			})
		}
	}
}

// TestBundles fetches specifications that consist of several documents. The result contains all parts and refers to no
// other document. Another server listens at the addresses of all other hosts. It must get no connection.
func TestBundles(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("testdata/bundled/*")
	if err != nil || len(folders) == 0 {
		t.Fatal(err)
	}
	for _, folder := range folders {
		if strings.Contains(folder, ".want.") {
			continue
		}
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.FileServer(http.Dir(folder)))
			t.Cleanup(server.Close)
			w := newWeb(t, DefaultLimits)
			entry := "/openapi.yaml"
			if _, err := os.Stat(folder + entry); err != nil {
				entry = "/openapi.json"
			}
			fetched, err := w.fetcher.Fetch(t.Context(), w.at(server, entry), nil)
			got, extension := result(t, fetched.Document, err)
			compare(t, folder+extension, strings.ReplaceAll(got, w.at(server, ""), "http://specs.example"))
			if err == nil {
				if again, err := Parse(string(fetched.Document)); err != nil || string(again) != string(fetched.Document) {
					t.Errorf("the bundle reads as %s, %v", again, err)
				}
			}
			w.untouched()
		})
	}
}
