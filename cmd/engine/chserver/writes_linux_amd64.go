package chserver

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"
)

// The library ignores failed writes: chdb removed the exception from ClickHouse's
// WriteBufferFromFileDescriptor::nextImpl, so the data is simply missing in the file. A disk that is full for a moment
// leaves parts with empty files, which count as stored, replace the parts that they were merged from, and are dropped
// at the next start. So the library's write calls go through a function that ends the process on such an error. What
// was being written has not been acknowledged, and the next start removes it.

// guardedWrites are the functions with which the library writes to files.
var guardedWrites = []string{"write", "writev", "pwrite", "pwrite64"}

// fatalWrites are the errors that end the process: the file cannot be written. Others, such as EINTR, EAGAIN and EPIPE,
// are passed to the library.
var fatalWrites = []unix.Errno{unix.ENOSPC, unix.EDQUOT, unix.EFBIG, unix.EROFS, unix.EIO}

// exitUnwritten is the process's exit status after a failed write (sysexits.h:
// EX_IOERR).
const exitUnwritten = 74

const unwritten = "level=ERROR msg=\"The disk is full or failing: the engine exits, so that nothing counts as stored that is not.\"\n"

// guardWrites inserts the guard between the library and libc. The library was loaded from path, and symbol is at
// address.
func guardWrites(path, symbol string, address uintptr) error {
	file, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("cannot read the engine library: %w", err)
	}
	defer func() { _ = file.Close() }()
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return fmt.Errorf("cannot read the engine library's symbols: %w", err)
	}
	at := slices.IndexFunc(symbols, func(s elf.Symbol) bool { return s.Name == symbol })
	if at < 0 {
		return fmt.Errorf("cannot find where the engine library is loaded: it has no symbol %s", symbol)
	}
	base := address - uintptr(symbols[at].Value)
	errno, err := purego.Dlsym(purego.RTLD_DEFAULT, "__errno_location")
	if err != nil {
		return fmt.Errorf("cannot find libc: %w", err)
	}
	slots, err := slotsOf(file, symbols)
	if err != nil {
		return err
	}
	if len(slots["write"]) == 0 {
		return errors.New("cannot guard the engine library's writes: it does not call libc's write")
	}
	for name, places := range slots {
		own, err := purego.Dlsym(purego.RTLD_DEFAULT, name)
		if err != nil {
			return fmt.Errorf("cannot find libc's %s: %w", name, err)
		}
		guard, err := executable(guardCode(own, errno))
		if err != nil {
			return err
		}
		for _, place := range places {
			if err := redirect(base+place, own, guard); err != nil {
				return fmt.Errorf("cannot guard %s: %w", name, err)
			}
		}
	}
	return nil
}

// slotsOf returns the relocation slots of the guarded functions, as offsets from the library's base, by function name.
func slotsOf(file *elf.File, symbols []elf.Symbol) (map[string][]uintptr, error) {
	const entry = 24 // elf.Rela64
	slots := map[string][]uintptr{}
	for _, section := range file.Sections {
		if section.Type != elf.SHT_RELA { //nolint:misspell // ELF's name
			continue
		}
		data, err := section.Data()
		if err != nil {
			return nil, fmt.Errorf("cannot read the engine library's %s: %w", section.Name, err)
		}
		for ; len(data) >= entry; data = data[entry:] {
			info := binary.LittleEndian.Uint64(data[8:])
			kind, index := elf.R_X86_64(elf.R_TYPE64(info)), elf.R_SYM64(info)
			if kind != elf.R_X86_64_JMP_SLOT && kind != elf.R_X86_64_GLOB_DAT || index == 0 {
				continue
			}
			if name := symbols[index-1].Name; slices.Contains(guardedWrites, name) {
				slots[name] = append(slots[name], uintptr(binary.LittleEndian.Uint64(data)))
			}
		}
	}
	return slots, nil
}

// redirect changes the address in a slot.
func redirect(place, from, to uintptr) error {
	slot := *(**uintptr)(unsafe.Pointer(&place))
	if *slot != from {
		return errors.New("the slot holds another address")
	}
	page := uintptr(unix.Getpagesize())
	if _, _, errno := unix.Syscall(unix.SYS_MPROTECT, place&^(page-1), page, unix.PROT_READ|unix.PROT_WRITE); errno != 0 {
		return fmt.Errorf("mprotect: %w", errno)
	}
	*slot = to
	return nil
}

// executable copies machine code into executable memory, which is never freed.
func executable(code []byte) (uintptr, error) {
	memory, err := unix.Mmap(-1, 0, len(code), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return 0, fmt.Errorf("mmap: %w", err)
	}
	copy(memory, code)
	if err := unix.Mprotect(memory, unix.PROT_READ|unix.PROT_EXEC); err != nil {
		return 0, fmt.Errorf("mprotect: %w", err)
	}
	return uintptr(unsafe.Pointer(unsafe.SliceData(memory))), nil
}

// guardCode returns the machine code of a C function that calls another one with its own arguments and returns its
// result. After a fatal error it writes a line to standard error and exits the process. It cannot be Go code: it runs
// on threads that Go's runtime does not know.
func guardCode(call, errnoLocation uintptr) []byte {
	message := unsafe.Pointer(unsafe.StringData(unwritten)) // static
	address := func(opcode []byte, to uintptr) []byte { return binary.LittleEndian.AppendUint64(opcode, uint64(to)) }
	end := []byte{0xbf, 2, 0, 0, 0}                                                                 // mov edi, 2
	end = append(end, address([]byte{0x48, 0xbe}, uintptr(message))...)                             // mov rsi, message
	end = append(binary.LittleEndian.AppendUint32(append(end, 0xba), uint32(len(unwritten))), 0xb8) // mov edx, length
	end = append(binary.LittleEndian.AppendUint32(end, unix.SYS_WRITE), 0x0f, 0x05)                 // mov eax, write; syscall
	end = append(end, 0xbf, exitUnwritten, 0, 0, 0, 0xb8)                                           // mov edi, status
	end = append(binary.LittleEndian.AppendUint32(end, unix.SYS_EXIT_GROUP), 0x0f, 0x05)            // mov eax, exit_group; syscall
	pass := []byte{0x48, 0xc7, 0xc0, 0xff, 0xff, 0xff, 0xff, 0x48, 0x83, 0xc4, 8, 0xc3}             // mov rax, -1; add rsp, 8; ret
	code := []byte{0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 8}                                     // endbr64; sub rsp, 8
	code = append(address(append(code, 0x48, 0xb8), call), 0xff, 0xd0)                              // mov rax, call; call rax
	code = append(code, 0x48, 0x85, 0xc0, 0x78, 5, 0x48, 0x83, 0xc4, 8, 0xc3)                       // test rax, rax; js +5; add rsp, 8; ret
	code = append(address(append(code, 0x48, 0xb8), errnoLocation), 0xff, 0xd0, 0x8b, 0x00)         // mov rax, errno; call rax; mov eax, [rax]
	const test = 5                                                                                  // bytes
	for i, errno := range fatalWrites {
		toEnd := test*(len(fatalWrites)-1-i) + len(pass)
		code = append(code, 0x83, 0xf8, byte(errno), 0x74, byte(toEnd)) // cmp eax, errno; je end
	}
	return append(append(code, pass...), end...)
}
