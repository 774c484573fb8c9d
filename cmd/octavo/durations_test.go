package main

import (
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
)

// TestDurations checks how texts of operators are read as durations. -1 means that the text is refused.
func TestDurations(t *testing.T) {
	t.Parallel()
	// A parser takes some 60 ms to build. Each Parse sets all flags to their defaults again.
	var cli commands
	parser, err := kong.New(&cli, options(strings.NewReader(""))...)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]time.Duration{
		"720h": 720 * time.Hour, "1.5h": 90 * time.Minute, "0": 0, "20d": 20 * 24 * time.Hour, "1d12h": 36 * time.Hour,
		"2w": 14 * 24 * time.Hour, "1y": 365 * 24 * time.Hour, "100ms": 100 * time.Millisecond,
		"20": -1, "d": -1, "20 d": -1, "20dd": -1, "20q": -1, "": -1, "999999y": -1,
	} {
		_, err := parser.Parse([]string{"serve", "--invite-lifetime=" + text})
		if want < 0 {
			if err == nil || !strings.Contains(err.Error(), "20d") {
				t.Errorf("%q: %v, %v, want an error with an example", text, cli.Serve.InviteLifetime, err)
			}
		} else if err != nil || cli.Serve.InviteLifetime != want {
			t.Errorf("%q: %v, %v, want %v", text, cli.Serve.InviteLifetime, err, want)
		}
	}
}
