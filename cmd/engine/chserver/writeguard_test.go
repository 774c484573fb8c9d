package chserver

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// unguarded has the functions that can write or create a file, but that the guard does not replace. The value is the
// reason why it need not replace the function. An empty reason means that the library does not call the function.
var unguarded = map[string]string{}

func init() {
	for reason, names := range map[string]string{
		"": `aio_write aio_write64 aio_fsync aio_fsync64 lio_listio lio_listio64 io_submit io_uring_enter tee vmsplice
			process_vm_writev sendmmsg mkostemp mkostemp64 mkostemps mkostemps64 mkstemp64 mkstemps mkstemps64 mkdtemp
			openat64 creat64 mkdirat mknod mknodat __xmknodat symlinkat renameat renameat2 freopen freopen64 tmpfile
			tmpfile64 fwrite_unlocked fputs_unlocked fputc_unlocked fputwc_unlocked fputws fputws_unlocked putc
			putc_unlocked putwc putwc_unlocked _IO_putc __woverflow fwprintf vfwprintf vdprintf vprintf puts
				putchar_unlocked putwchar putw fcloseall pclose psignal psiginfo vsyslog err errx error warn warnx
				verr verrx vwarn vwarnx __fprintf_chk __vfprintf_chk __printf_chk __vprintf_chk __dprintf_chk
				__vdprintf_chk __syslog_chk fseeko64 fsetpos fsetpos64`,
		"The call returns no error.": "sync",
		// A measurement compared the number of the engine's guarded calls with the number of the kernel's calls, during
		// inserts, merges, mutations and copies with every allowed table engine. Both numbers were equal, so no stream
		// wrote a file.
		"The engine's streams are the terminal, pipes, and files that it reads.": `fopen fopen64 fdopen fwrite fputs
				fputc fputwc fprintf vfprintf dprintf printf putchar perror fflush fflush_unlocked fclose fseek fseeko
				rewind setbuf setvbuf __overflow syslog`,
		"The call concerns terminals and sockets.": "ioctl",
		"The call sends to sockets.":               "send sendto sendmsg",
		"The engine maps no file to write to it.":  "mmap mmap64 mremap",
		"The call makes a name. The library reports a failure.": `open open64 openat creat mkstemp mkdir link linkat
				symlink rename __xmknod`,
	} {
		for _, name := range strings.Fields(names) {
			unguarded[name] = reason
		}
	}
}

// TestEveryWritingCallIsGuarded compares the calls of the engine's library with the functions that the guard replaces.
func TestEveryWritingCallIsGuarded(t *testing.T) {
	t.Parallel()
	libraryPath, guardPath := installed(t)
	library, err := elf.Open(libraryPath)
	must(t, err)
	defer func() { _ = library.Close() }()
	imported, err := library.ImportedSymbols()
	must(t, err)
	called := map[string]bool{}
	for _, symbol := range imported {
		called[symbol.Name] = true
		if reason, writes := unguarded[symbol.Name]; writes && reason == "" {
			t.Errorf("the engine's library calls %s, which can write, and the guard does not replace it", symbol.Name)
		}
	}
	for name, reason := range unguarded {
		if reason != "" && !called[name] {
			t.Errorf("the reason for %s is out of date: the engine's library does not call it", name)
		}
	}
	guard, err := elf.Open(guardPath)
	must(t, err)
	defer func() { _ = guard.Close() }()
	symbols, err := guard.DynamicSymbols()
	must(t, err)
	var replaced []string
	for _, symbol := range symbols {
		if symbol.Section != elf.SHN_UNDEF && symbol.Name != "octavo_guards" {
			replaced = append(replaced, symbol.Name)
		}
	}
	slices.Sort(replaced)
	if !slices.Equal(replaced, guardedWrites) {
		t.Errorf("the guard replaces %v\nthe engine checks %v", replaced, guardedWrites)
	}
}

// TestGuardEndsTheProcess runs a small program that calls a failing function through the guard.
func TestGuardEndsTheProcess(t *testing.T) {
	t.Parallel()
	_, guard := installed(t)
	dir := t.TempDir()
	program, refuse := filepath.Join(dir, "call"), filepath.Join(dir, "refuse.so")
	compile(t, "-o", program, "testdata/call.c", "-ldl")
	compile(t, "-shared", "-fPIC", "-fno-builtin", "-o", refuse, "testdata/refuse.c")
	file, err := os.Create(filepath.Join(dir, "file"))
	must(t, err)
	defer func() { _ = file.Close() }()
	reader, writer, err := os.Pipe()
	must(t, err)
	defer func() { _, _ = reader.Close(), writer.Close() }()
	call := func(name string, errno unix.Errno, on *os.File) (output string, status int) {
		cmd := exec.Command(program, strings.Fields(name)...)
		cmd.Env = []string{preload + "=" + guard + ":" + refuse, fmt.Sprintf("REFUSE=%d", errno)}
		cmd.Stdin = on
		text, _ := cmd.CombinedOutput() // the caller checks the exit status
		return string(text), cmd.ProcessState.ExitCode()
	}
	ends := func(name string, errno unix.Errno, on *os.File) {
		output, status := call(name, errno, on)
		want := fmt.Sprintf("no lost write counts as stored.\" call=%s errno=%d\n", strings.Fields(name)[0], errno)
		if status != exitUnwritten || !strings.HasSuffix(output, want) {
			t.Errorf("%s with %v: exit status %d, said %s", name, errno, status, output)
		}
	}
	passes := func(name string, errno unix.Errno, on *os.File) {
		want := fmt.Sprintf("-1 %d 1\n", errno)
		if strings.HasPrefix(name, "posix_") {
			want = fmt.Sprintf("%d 0 1\n", errno)
		}
		if output, status := call(name, errno, on); status != 0 || output != want {
			t.Errorf("%s with %v: exit status %d, said %s", name, errno, status, output)
		}
	}
	for _, name := range guardedWrites {
		if name == "syscall" {
			name += fmt.Sprint(" ", unix.SYS_COPY_FILE_RANGE)
		}
		ends(name, unix.ENOSPC, file)
		passes(name, unix.EINTR, file)
		withoutDescriptor := []string{"close", "msync", "truncate", "truncate64"}
		if !slices.Contains(withoutDescriptor, name) {
			passes(name, unix.EIO, writer)
		}
	}
	for _, errno := range []unix.Errno{unix.ENOSPC, unix.EDQUOT, unix.EFBIG, unix.EROFS, unix.EIO} {
		ends("write", errno, file)
	}
	passes("write", unix.EPIPE, writer)
	for _, number := range []int{unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_FALLOCATE, unix.SYS_SPLICE} {
		ends(fmt.Sprint("syscall ", number), unix.ENOSPC, file)
	}
	passes(fmt.Sprint("syscall ", unix.SYS_IOPRIO_SET), unix.EIO, file)
}

// TestGuardIsCalledEarly checks that the guard works before its constructors have run, because constructors of other
// libraries may write earlier.
func TestGuardIsCalledEarly(t *testing.T) {
	t.Parallel()
	_, guard := installed(t)
	early := filepath.Join(t.TempDir(), "early.so")
	compile(t, "-shared", "-fPIC", "-o", early, "testdata/early.c")
	cmd := exec.Command("/bin/true")
	cmd.Env = []string{preload + "=" + guard + ":" + early}
	if output, err := cmd.CombinedOutput(); err != nil || len(output) > 0 {
		t.Errorf("%v: %s", err, output)
	}
}

func compile(t *testing.T, arguments ...string) {
	t.Helper()
	if output, err := exec.Command("gcc", arguments...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
}
