package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestHelpShowsOwnFlagsFirst prints the help of a command that has all settings. The few flags of the command itself
// must precede the settings, because an operator who repairs a store reads them.
func TestHelpShowsOwnFlagsFirst(t *testing.T) {
	t.Parallel()
	var cli commands
	var help bytes.Buffer
	parser, err := kong.New(&cli, append(options(nil), kong.Writers(&help, &help), kong.Exit(func(int) {}))...)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = parser.Parse([]string{"repair", "--help"}) // after the help, Parse goes on and may fail
	own, settings, found := strings.Cut(help.String(), "Settings, which")
	if !found {
		t.Fatalf("the help has no group of settings:\n%s", help.String())
	}
	for _, flag := range []string{"--yes", "--from", "--accept-loss", "--json"} {
		if !strings.Contains(own, flag) {
			t.Errorf("the help lacks %s before the settings:\n%s", flag, own)
		}
	}
	for _, flag := range []string{"--data-dir", "--postgres-url", "--postgres-url-file"} {
		if strings.Contains(own, flag) || !strings.Contains(settings, flag) {
			t.Errorf("%s is not among the settings", flag)
		}
	}
}
