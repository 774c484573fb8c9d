package docs_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/docs"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
)

// TestClient compares client.txt with the methods of the published client and the operations of the contract. With
// -record, it writes client.txt.
func TestClient(t *testing.T) {
	t.Parallel()
	const folder = "../clienttest"
	if _, err := os.Stat(folder + "/node_modules/@gitbook/api"); err != nil {
		enginetest.Missing(t, fmt.Errorf("no published client: run `make clienttest`: %w", err))
	}
	command := exec.CommandContext(t.Context(), "node", "methods.mjs")
	command.Dir = folder
	listed, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	calls, contract := map[string]string{}, map[string]bool{}
	for line := range strings.Lines(string(listed)) {
		fields := strings.SplitN(strings.TrimSpace(line), " ", 3)
		calls[docs.RouteKey(fields[0], fields[1])] = fields[2]
	}
	rows, err := os.ReadFile(folder + "/operations.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(rows)) {
		method, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		contract[docs.RouteKey(method, path)] = true
	}
	var want []string
	for _, op := range api.Table().Operations {
		key := docs.RouteKey(op.Method, op.Path)
		call, published := calls[key]
		switch {
		case op.Root || !published && !contract[key]:
			continue
		case !published:
			call = "-"
		}
		origin := "published"
		if contract[key] {
			origin = "contract"
		}
		want = append(want, fmt.Sprintf("%s %s %s %s\n", origin, op.Method, op.Path, call))
	}
	slices.SortFunc(want, func(a, b string) int {
		left, right := strings.SplitN(a, " ", 4), strings.SplitN(b, " ", 4)
		return strings.Compare(left[2]+" "+left[1], right[2]+" "+right[1])
	})
	if *record {
		if err := os.WriteFile("client.txt", []byte(strings.Join(want, "")), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if strings.Join(want, "") != docs.ClientFile {
		t.Errorf("client.txt is stale (go test ./api/docs -run TestClient -record): want\n%s", strings.Join(want, ""))
	}
}
