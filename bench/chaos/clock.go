package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
)

// clockStepped is a fault: the clock of a node, or of the machine with its engines, shows a wrong time for some
// seconds.
const clockStepped = "clock stepped"

// machineClock is the target of a fault that sets the clocks of all processes.
const machineClock = "machine"

const day = 24 * time.Hour

// clockSteps has the differences from the correct time to which a clock is set.
var clockSteps = []time.Duration{
	2 * time.Second, -2 * time.Second, time.Hour, -time.Hour, 400 * day, -400 * day,
}

// clocks sets the clocks of processes. A Go binary that is built with the flags from `overlay` adds a number of
// seconds, which it reads from a file, to the result of time.Now. Engines in C and C++ load libfaketime, which reads
// another file. Monotonic clocks do not change.
type clocks struct {
	dir      string
	faketime string // path of libfaketime; "" if it is not installed

	mu      sync.Mutex
	offsets map[string]time.Duration // how far the clock of each target is ahead
}

const (
	// clockEnv is an environment variable with the path of a file. The file has the number of seconds by which Go's
	// clock in a process is ahead.
	clockEnv = "CHAOS_CLOCK"
	// faketimeGlob is the path where Debian's package libfaketime installs the library.
	faketimeGlob = "/usr/lib/*/faketime/libfaketimeMT.so.1"
)

// newClocks returns clocks that show the correct time. `glob` matches the path of libfaketime. newClocks makes `dir`
// readable for engines that run as another user. If libfaketime is not installed, the clocks of engines in C and C++
// always show the correct time.
func newClocks(dir, glob string) (*clocks, error) {
	c := &clocks{dir: dir, offsets: map[string]time.Duration{}}
	found, err := filepath.Glob(glob)
	if err != nil {
		return nil, err
	}
	if len(found) > 0 {
		c.faketime = found[0]
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	return c, c.write(machineClock)
}

// fileOf returns the path of the file with the offset of Go's clock in a node, or in the engines.
func (c *clocks) fileOf(name string) string { return filepath.Join(c.dir, name+".clock") }

func (c *clocks) faketimeFile() string { return filepath.Join(c.dir, "faketime") }

// set sets the clock of a target ahead by `step`. Processes notice the change within a second.
func (c *clocks) set(target string, step time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offsets[target] = step
	names := []string{target}
	if target == machineClock {
		for name := range c.offsets {
			names = append(names, name)
		}
	}
	var errs []error
	for _, name := range names {
		errs = append(errs, c.write(name))
	}
	return errors.Join(errs...)
}

// write writes the files that set a target's clock. A node's clock is ahead by the sum of the machine's step and the
// node's own step.
func (c *clocks) write(name string) error {
	offset := c.offsets[machineClock]
	if name != machineClock {
		offset += c.offsets[name]
	}
	// The processes have mapped the file into memory, so write changes the file's bytes in place.
	file, err := os.OpenFile(c.fileOf(name), os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	seconds := int64(offset / time.Second)
	_, err = file.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(seconds)), 0)
	if err = errors.Join(err, file.Close()); err != nil || name != machineClock {
		return err
	}
	text := fmt.Appendf(nil, "%+d\n", seconds)
	return os.WriteFile(c.faketimeFile(), text, 0o644)
}

// add adds a node whose clock shows the correct time. It returns the environment variable for the node's process.
func (c *clocks) add(name string) (env string, err error) {
	return clockEnv + "=" + c.fileOf(name), c.set(name, 0)
}

// engineEnv returns the environment variables with which the engines read their clock files.
func (c *clocks) engineEnv() map[string]string {
	env := map[string]string{clockEnv: c.fileOf(machineClock)}
	if c.faketime != "" {
		env["LD_PRELOAD"], env["FAKETIME_TIMESTAMP_FILE"] = c.faketime, c.faketimeFile()
		env["FAKETIME_CACHE_DURATION"], env["FAKETIME_DONT_FAKE_MONOTONIC"] = "1", "1"
	}
	return env
}

// goClock is a Go source file that `overlay` adds to the package `time`.
const goClock = `package time

import (
	"syscall"
	"unsafe"
)

var chaosClock = func() *int64 {
	right := new(int64)
	path, found := syscall.Getenv("` + clockEnv + `")
	if !found {
		return right
	}
	file, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		panic("cannot read the clock: " + err.Error())
	}
	bytes, err := syscall.Mmap(file, 0, 8, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		panic("cannot map the clock: " + err.Error())
	}
	return (*int64)(unsafe.Pointer(&bytes[0]))
}()
`

// goNow is the statement in time.Now that reads the wall clock.
const goNow = "sec, nsec, mono := runtimeNow()\n"

// overlay returns the flags for `go build` with which the binary's clock can be set.
func (c *clocks) overlay(ctx context.Context) (flags []string, err error) {
	said, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("cannot find Go's sources: %w", err)
	}
	room := filepath.Join(string(bytes.TrimSpace(said)), "src", "time")
	source, err := os.ReadFile(filepath.Join(room, "time.go"))
	if err != nil {
		return nil, err
	}
	if bytes.Count(source, []byte("func Now() Time {\n\t"+goNow)) != 1 {
		return nil, fmt.Errorf("cannot set the clock of %s: time.Now is another function there", runtime.Version())
	}
	source = bytes.Replace(source, []byte(goNow), []byte(goNow+"\tsec += *chaosClock\n"), 1)
	replaced := map[string]string{}
	for name, text := range map[string][]byte{"time.go": source, "chaos_clock.go": []byte(goClock)} {
		replaced[filepath.Join(room, name)] = filepath.Join(c.dir, name)
		if err := os.WriteFile(filepath.Join(c.dir, name), text, 0o600); err != nil {
			return nil, err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return nil, err
	}
	at := filepath.Join(c.dir, "overlay.json")
	return []string{"-overlay", at}, os.WriteFile(at, list, 0o600)
}

// stepClock sets a clock to a wrong time, and sets it to the correct time some seconds later. Every node must be ready
// after each of these changes.
func (r *rig) stepClock(ctx context.Context, target string, variant int) error {
	step := clockSteps[variant%len(clockSteps)]
	for _, offset := range []time.Duration{step, 0} {
		if err := r.clocks.set(target, offset); err != nil {
			return err
		}
		// The sleep is part of the fault. The clock is wrong during this time.
		time.Sleep(2*time.Second + time.Duration(variant%5)*time.Second)
		if err := r.ready(ctx); err != nil {
			return fmt.Errorf("%s ahead: %w", step, err)
		}
	}
	return nil
}
