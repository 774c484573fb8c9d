package openapi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// document reads a file of testdata.
func document(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	read, err := Parse(string(text))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return read
}

// TestCompare compares the pairs of testdata/changes. Together they have every kind of change, both breaking and not if it can be
// both.
func TestCompare(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/changes/*.base.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	seen := map[string]map[bool]bool{}
	for _, file := range files {
		name := strings.TrimSuffix(file, ".base.yaml")
		base, next := document(t, file), document(t, name+".next.yaml")
		diff, err := Compare(t.Context(), base, next)
		if err != nil || diff.Truncated {
			t.Fatalf("%s: %+v %v", name, diff, err)
		}
		var b strings.Builder
		for _, c := range diff.Changes {
			if seen[c.Kind] == nil {
				seen[c.Kind] = map[bool]bool{}
			}
			seen[c.Kind][c.Breaking] = true
			fmt.Fprintf(&b, "%-8s %-30s %-8s %-6s %-12s %s | %s\n", map[bool]string{true: "breaking", false: ""}[c.Breaking], c.Kind, c.Direction, c.Method, c.Path, c.Place, c.Text)
		}
		compare(t, name+".want.txt", b.String())
		for _, same := range [][]byte{base, next} {
			if diff, err := Compare(t.Context(), same, same); err != nil || len(diff.Changes) > 0 {
				t.Errorf("%s differs from itself: %+v %v", name, diff, err)
			}
		}
	}
	for _, r := range changeRules {
		want := map[breaks][]bool{always: {true}, never: {false}, inRequests: {true, false}, inResponses: {true, false}}[r.breaks]
		for _, breaking := range want {
			if !seen[r.kind][breaking] {
				t.Errorf("no case has %s, breaking %v", r.kind, breaking)
			}
		}
		if len(seen[r.kind]) > len(want) {
			t.Errorf("%s is breaking and is not", r.kind)
		}
	}
}

// TestCompareLeavesAnchorsOut has a reference to an anchor, which is not followed: nothing is said of what it may lead to.
func TestCompareLeavesAnchorsOut(t *testing.T) {
	t.Parallel()
	document := func(schema string) []byte {
		return []byte(`{"openapi":"3.1.0","paths":{"/a":{"put":{"requestBody":{"content":{"application/json":{"schema":` + schema + `}}}}}},"pet":{"type":"object"}}`)
	}
	anchor, plain := document(`{"$ref":"#pet"}`), document(`{"type":"string"}`)
	for _, pair := range [][2][]byte{{anchor, plain}, {plain, anchor}} {
		if diff, err := Compare(t.Context(), pair[0], pair[1]); err != nil || len(diff.Changes) > 0 {
			t.Errorf("%s and %s: %+v %v", pair[0], pair[1], diff.Changes, err)
		}
	}
}

// TestCompareIsBounded compares documents in which a few references stand for a lot.
func TestCompareIsBounded(t *testing.T) {
	t.Parallel()
	wrap := func(schemas string, uses int) []byte {
		var b strings.Builder
		b.WriteString(`{"openapi":"3.0.3","info":{"title":"A","version":"1"},"components":{"schemas":{` + schemas + `}},"paths":{`)
		for i := range uses {
			fmt.Fprintf(&b, `%s"/a%d":{"get":{"responses":{"200":{"description":"x","content":{"application/json":{"schema":{"$ref":"#/components/schemas/S0"}}}}}}}`, strings.Repeat(",", min(i, 1)), i)
		}
		return []byte(b.String() + "}}")
	}
	chain := func(n, back int, last string) string { // S0 → S1 → … → Sn → Sback, twice each
		var all []string
		for i := range n {
			next := i + 1
			if next == n {
				next = back
			}
			all = append(all, fmt.Sprintf(`"S%d":{"type":%q,"properties":{"a":{"$ref":"#/components/schemas/S%d"},"b":{"$ref":"#/components/schemas/S%d"}}}`, i, last, next, next))
		}
		return strings.Join(all, ",")
	}
	wide := func(n int, kind string) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"p%d":{"type":%q}`, i, kind))
		}
		return `"S0":{"type":"object","properties":{` + strings.Join(all, ",") + `}}`
	}
	for name, test := range map[string]struct {
		before, after string
		uses, changes int
		truncated     bool
	}{
		"a chain":                    {chain(1000, 999, "object"), chain(1000, 999, "object"), 1, 0, false},
		"one schema used 2000 times": {wide(500, "string"), wide(500, "integer"), 2000, 500, false},
		"more changes than are told": {wide(1500, "string"), wide(1500, "integer"), 1, MaxChanges, true},
		// 1009 and 1013 are coprime: the two circles meet in a million pairs.
		"two circles": {chain(1009, 0, "object"), chain(1013, 0, "object"), 1, 0, true},
	} {
		start := time.Now()
		diff, err := Compare(t.Context(), wrap(test.before, test.uses), wrap(test.after, test.uses))
		t.Logf("%s: %s", name, time.Since(start))
		if err != nil || len(diff.Changes) != test.changes || diff.Truncated != test.truncated {
			t.Errorf("%s: %d changes, %v, %v", name, len(diff.Changes), diff.Truncated, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Compare(ctx, wrap(chain(1009, 0, "object"), 1), wrap(chain(1013, 0, "object"), 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	d := &differ{ctx: ctx}
	for range 2 {
		if !d.done() {
			t.Error("it goes on after its context has ended")
		}
	}
	deep := []byte(`{"x-deep":` + strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1) + `}`)
	_, err := Compare(t.Context(), deep, deep)
	if problems, ok := errors.AsType[Problems](err); !ok || !strings.Contains(problems[0].Text, "nested deeper") {
		t.Errorf("too deep: %v", err)
	}
}

// FuzzCompare compares any two documents: none differs from itself.
func FuzzCompare(f *testing.F) {
	files, err := filepath.Glob("testdata/changes/*.base.yaml")
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, file := range files {
		base, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		next, err := os.ReadFile(strings.Replace(file, ".base.", ".next.", 1))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(base), string(next))
	}
	kinds := ChangeKinds()
	f.Fuzz(func(t *testing.T, one, two string) {
		base, err := Parse(one)
		if err != nil {
			return
		}
		if diff, err := Compare(t.Context(), base, base); err != nil || len(diff.Changes) > 0 {
			t.Fatalf("%q differs from itself: %+v %v", one, diff, err)
		}
		next, err := Parse(two)
		if err != nil {
			return
		}
		diff, err := Compare(t.Context(), base, next)
		if err != nil || len(diff.Changes) > MaxChanges {
			t.Fatalf("%d changes, %v", len(diff.Changes), err)
		}
		for _, c := range diff.Changes {
			if !slices.Contains(kinds, c.Kind) || c.Text == "" {
				t.Fatalf("%+v", c)
			}
		}
	})
}
