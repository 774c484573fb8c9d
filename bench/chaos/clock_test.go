package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestClocks checks the files that set the clock of a node and the clocks of all processes. It also checks that the
// overlay can be applied to the source code of Go's package time.
func TestClocks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	library := filepath.Join(dir, "libfaketimeMT.so.1")
	if err := os.WriteFile(library, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := newClocks(t.TempDir(), library)
	if err != nil {
		t.Fatal(err)
	}
	env, err := c.add("api-1")
	if err != nil || env != clockEnv+"="+c.fileOf("api-1") {
		t.Fatalf("%q, %v", env, err)
	}
	says := func(file, want string) {
		t.Helper()
		output, err := exec.Command("od", "-An", "-td8", file).Output()
		if got := strings.TrimSpace(string(output)); err != nil || got != want {
			t.Errorf("%s has %s, %v, want %s", filepath.Base(file), got, err, want)
		}
	}
	for _, step := range []struct {
		target        string
		by            time.Duration
		node, machine string
	}{
		{"api-1", time.Hour, "3600", "0"},
		{machineClock, -2 * time.Second, "3598", "-2"},
		{"api-1", 0, "-2", "-2"},
		{machineClock, 0, "0", "0"},
	} {
		if err := c.set(step.target, step.by); err != nil {
			t.Fatal(err)
		}
		says(c.fileOf("api-1"), step.node)
		says(c.fileOf(machineClock), step.machine)
		text, err := os.ReadFile(c.faketimeFile())
		want := map[bool]string{true: "+0\n", false: "-2\n"}[step.machine == "0"]
		if err != nil || string(text) != want {
			t.Errorf("libfaketime reads %q, %v", text, err)
		}
	}
	flags, err := c.overlay(t.Context())
	if err != nil || len(flags) != 2 || flags[0] != "-overlay" {
		t.Fatalf("%v, %v", flags, err)
	}
	if output, err := exec.Command("go", "build", flags[0], flags[1], "time").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, output)
	}
	c, err = newClocks(t.TempDir(), filepath.Join(dir, "none"))
	if err != nil || len(c.engineEnv()) != 1 || c.engineEnv()[clockEnv] != c.fileOf(machineClock) {
		t.Errorf("without libfaketime engines get %v, %v", c.engineEnv(), err)
	}
}
