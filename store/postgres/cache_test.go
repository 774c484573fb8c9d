package postgres

import (
	"fmt"
	"testing"
)

type sized int

func (s sized) Size() int { return int(s) }

// TestCacheIsBounded adds more values than fit into the cache, and checks the cache's size.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	const most = 100_001
	c := NewCache[string, sized](most)
	c.Keep("a", most)
	if _, ok := c.Get("a"); !ok || c.size != most {
		t.Fatalf("the largest value is not kept, or counts as %d", c.size)
	}
	for i := range 300 {
		if c.Keep(fmt.Sprint("b", i%200), 1000); c.size > most {
			t.Fatalf("the cache keeps %d", c.size)
		}
	}
	for key, want := range map[string]bool{"a": false, "b99": true, "b150": false} {
		if _, ok := c.Get(key); ok != want {
			t.Errorf("the cache has %s: %v", key, ok)
		}
	}
}
