package main

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/schema"
)

// TestCheckCommand checks that the command prints the verdict and the message, or the whole answer. It must succeed
// only if the verdict is `installed`.
func TestCheckCommand(t *testing.T) {
	t.Parallel()
	for _, verdict := range schema.InstallationEnums()["installationVerdict"] {
		check := schema.InstallationCheck{Object: "installation-check", Verdict: verdict, Message: "Do this.", URL: "u"}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if r.URL.Path != "/v1/orgs/o1/sites/s1/insights/installation-check" || r.Method != http.MethodPost ||
				r.Header.Get("Authorization") != "Bearer t" || string(body) != `{"url":"https://docs.example.com/"}` {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			_ = json.MarshalWrite(w, check)
		}))
		t.Cleanup(server.Close)
		for _, asJSON := range []bool{false, true} {
			c := CheckCmd{
				Site: "s1", Page: "https://docs.example.com/", URL: server.URL + "/", Token: "t", Org: "o1",
				JSON: asJSON,
			}
			var out bytes.Buffer
			err := c.run(t.Context(), &out)
			if bad := verdict != schema.VerdictInstalled; bad != errors.Is(err, errNotInstalled) || !bad && err != nil {
				t.Errorf("%s: %v", verdict, err)
			}
			if !asJSON && out.String() != verdict+": Do this.\n" {
				t.Errorf("%s: %q", verdict, &out)
			}
			var again schema.InstallationCheck
			if asJSON && (json.Unmarshal(out.Bytes(), &again) != nil || again != check) {
				t.Errorf("%s: %q", verdict, &out)
			}
		}
		c := CheckCmd{Site: "s2", Page: "https://docs.example.com/", URL: server.URL, Token: "t", Org: "o1"}
		if err := c.run(t.Context(), io.Discard); err == nil || errors.Is(err, errNotInstalled) ||
			!strings.Contains(err.Error(), "404") {
			t.Errorf("an unknown site: %v", err)
		}
	}
}
