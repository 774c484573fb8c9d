package chserver

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"github.com/ebitengine/purego"
)

// The library ignores failed writes, so a full disk would lose data that was acknowledged. The write guard
// (deploy/engines/writeguard) ends the process at the first failed write. The guard is a C library that replaces libc's
// writing functions, so the loader must load it before libc.

// guardedWrites are libc's functions that the write guard replaces.
var guardedWrites = []string{
	"close", "copy_file_range", "fallocate", "fallocate64", "fdatasync", "fsync", "ftruncate", "ftruncate64", "msync",
	"posix_fallocate", "posix_fallocate64", "pwrite", "pwrite64", "pwritev", "pwritev2", "pwritev64", "pwritev64v2",
	"sendfile", "sendfile64", "splice", "sync_file_range", "syncfs", "syscall", "truncate", "truncate64",
	"write", "writev",
}

const preload = "LD_PRELOAD"

// PutGuard makes `cmd` load the write guard before libc. `cmd` inherits the guard as an open file, because the loader
// accepts no path with a space or a colon. The caller must not close the file before `cmd` has started.
func PutGuard(cmd *exec.Cmd, guard *os.File) {
	const firstExtra = 3 // the descriptor of the first of cmd.ExtraFiles
	value := preload + "=/proc/self/fd/" + strconv.Itoa(firstExtra+len(cmd.ExtraFiles))
	if others := os.Getenv(preload); others != "" {
		value += ":" + others
	}
	cmd.Env = append(cmd.Env, value)
	cmd.ExtraFiles = append(cmd.ExtraFiles, guard)
}

// errUnguarded means that the library's writes bypass the write guard.
var errUnguarded = errors.New("cannot start the ClickHouse engine without its write guard, " +
	"because a full disk would lose data: start the program as `octavo serve` does, " +
	"with LD_PRELOAD=deploy/engines/writeguard/writeguard.so and without file capabilities " +
	"(the loader ignores LD_PRELOAD for a program with file capabilities)")

// checkWrites returns an error if a writing call of the library bypasses the write guard. `path` is the library's file,
// and `address` is the address of its `symbol`.
func checkWrites(path, symbol string, address uintptr) error {
	asked, err := purego.Dlsym(purego.RTLD_DEFAULT, "octavo_guards")
	if err != nil {
		return errUnguarded
	}
	var guards func(function uintptr) bool
	purego.RegisterFunc(&guards, asked)
	targets, err := callTargets(path, symbol, address)
	if err != nil {
		return fmt.Errorf("cannot check the engine library's calls: %w", err)
	}
	if targets["write"] == 0 {
		return errors.New("cannot guard the engine library's writes: it does not call libc's write")
	}
	for _, name := range guardedWrites {
		if target, called := targets[name]; called && !guards(target) {
			return fmt.Errorf("%w: the library's calls of %s bypass the guard", errUnguarded, name)
		}
	}
	return nil
}

// callTargets returns the address of each function that the library calls in another library. It reads the addresses
// that the loader wrote into the library's memory.
func callTargets(path, symbol string, address uintptr) (map[string]uintptr, error) {
	file, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return nil, err
	}
	var base uintptr
	for _, s := range symbols {
		if s.Name == symbol {
			base = address - uintptr(s.Value)
		}
	}
	calls := file.Section(".rela.plt")
	if base == 0 || calls == nil {
		return nil, fmt.Errorf("%s has no symbol %s, or no calls", path, symbol)
	}
	data, err := calls.Data()
	if err != nil {
		return nil, err
	}
	targets := map[string]uintptr{}
	const entry = 24 // elf.Rela64: the slot's offset, the symbol, the addend
	for ; len(data) >= entry; data = data[entry:] {
		slot, index := binary.NativeEndian.Uint64(data), elf.R_SYM64(binary.NativeEndian.Uint64(data[8:]))
		if index > 0 {
			targets[symbols[index-1].Name] = *(*uintptr)(foreign(base + uintptr(slot)))
		}
	}
	return targets, nil
}
