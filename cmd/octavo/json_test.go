package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
)

// TestJSONList checks that a list of any length is one JSON array. A failure before the first element prints no array.
func TestJSONList(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for n := range 4 {
		for _, failure := range []error{nil, broken} {
			var out bytes.Buffer
			list := jsonList{to: &out}
			for i := range n {
				if err := list.add(map[string]any{"i": i, "text": "not UTF-8: \xff"}); err != nil {
					t.Fatal(err)
				}
			}
			if err := list.end(failure); !errors.Is(err, failure) {
				t.Errorf("%d, %v: %v", n, failure, err)
			}
			if n == 0 && failure != nil {
				if out.Len() > 0 {
					t.Errorf("after a failure, it prints %q", &out)
				}
				continue
			}
			var read []struct{ I int }
			err := json.Unmarshal(out.Bytes(), &read)
			if err != nil || len(read) != n || n > 0 && read[n-1].I != n-1 {
				t.Errorf("%d: %v: %s", n, err, &out)
			}
		}
	}
}

// TestListLimit checks that a list ends at its limit, and that 0 means no limit.
func TestListLimit(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int]int{0: 5, 1: 1, 4: 4, 5: 5, 6: 5} {
		var out bytes.Buffer
		err := listFlags{Limit: limit, JSON: true}.list(&out, "N", func(r *rows) error {
			for i := range 5 {
				if err := r.add(i, "%d", i); err != nil {
					return err
				}
			}
			return nil
		})
		var read []int
		if err != nil || json.Unmarshal(out.Bytes(), &read) != nil || len(read) != want {
			t.Errorf("limit %d: %v: %s", limit, err, &out)
		}
	}
}
