package gitsync

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api/remote/gitsync/gitsynctest"
	"github.com/octavo-docs/octavo/api/remote/outbound/outboundtest"
)

// remoteOf returns the Remote with which a client accesses a branch.
func remoteOf(f *gitsynctest.Forge, repository, branch string) Remote {
	return Remote{URL: f.HTTP.URL + "/" + repository, Ref: "refs/heads/" + branch}
}

// testLimits are small for the limits that tests exceed.
var testLimits = Limits{
	Time: time.Minute, RefsBytes: 1 << 20, PackBytes: 8 << 20,
	Objects: 10_000, InflatedBytes: 64 << 20, ObjectBytes: 4 << 20, BaseBytes: 64 << 20,
	Entries: 20_000, Depth: 16, PathBytes: 200, FileBytes: 100_000, PushBytes: 1 << 20,
}

func newClient(t *testing.T, limits Limits, allow ...string) *Client {
	t.Helper()
	dir := t.TempDir()
	t.Cleanup(func() {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("packs are left behind: %v, %v", left, err)
		}
	})
	return New(Config{Guard: outboundtest.Guard(t, append(allow, outboundtest.Loopback)...), Limits: limits, TempDir: dir})
}

// fetch fetches a snapshot, and closes it when the test ends.
func fetch(t *testing.T, c *Client, r Remote) *Snapshot {
	t.Helper()
	s, err := c.Fetch(t.Context(), r)
	if err != nil {
		t.Fatalf("%v (%v)", err, chain(err))
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// chain returns the texts of an error and of its causes, as far as a log could contain them.
func chain(err error) string {
	if err == nil {
		return ""
	}
	text := fmt.Sprintf("%T %+v", err, err)
	switch wrapped := any(err).(type) {
	case interface{ Unwrap() error }:
		text += " | " + chain(wrapped.Unwrap())
	case interface{ Unwrap() []error }:
		for _, inner := range wrapped.Unwrap() {
			text += " | " + chain(inner)
		}
	}
	return text
}
