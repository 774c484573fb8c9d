package typst

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"

	"github.com/octavo-docs/octavo/cmd/engine/packages"
)

//go:embed compile.mjs
var compile string

//go:embed formulas.mjs
var formulas string

//go:embed limited.mjs
var limited string

// program is the child's whole JavaScript as a single module, because the child may not read the product's files.
var program = strings.ReplaceAll(limited+formulas, "export function", "function") + compile

// Config has the settings of a Renderer. The zero value is valid.
type Config struct {
	// EnginesDir is the folder in which npm has installed the engines (package packages).
	EnginesDir string
	// MemoryBytes limits the child's memory; 0 means 2 GiB.
	MemoryBytes uint64
	// Refusal tells users why this node renders no PDFs. It is empty if the node renders PDFs.
	Refusal string
}

const (
	defaultMemory = 2 << 30
	// maxInput limits the input of one document. The compiler needs all input in memory.
	maxInput = 256 << 20
)

// Renderer makes PDFs, each in a separate process.
type Renderer struct {
	cfg Config
	// described has the descriptions of the fonts. Without them, each document would take a second longer.
	described chan []byte
}

// New builds a Renderer. If the renderer is not installed, only Render fails.
func New(cfg Config) *Renderer {
	if cfg.MemoryBytes == 0 {
		cfg.MemoryBytes = defaultMemory
	}
	r := &Renderer{cfg: cfg, described: make(chan []byte, 1)}
	r.described <- nil
	return r
}

type kind int

const (
	missing kind = iota + 1 // no renderer is installed
	refused                 // the compiler rejected the input
	memory                  // the document needs more memory than allowed
)

// Error is the reason why a PDF could not be made. Its Message is for users.
type Error struct {
	Message string
	kind    kind
	cause   error
}

func (e *Error) Error() string {
	if e.cause != nil {
		return e.Message + ": " + e.cause.Error()
	}
	return e.Message
}

// Unwrap returns the cause, which users must not see.
func (e *Error) Unwrap() error { return e.cause }

// Public returns the part of the error that users may read.
func (e *Error) Public() string { return e.Message }

// Final reports whether the same input will fail again.
func (e *Error) Final() bool { return e.kind == refused || e.kind == memory }

// TooLarge reports whether the document needs too much memory. A part of it might be rendered.
func (e *Error) TooLarge() bool { return e.kind == memory }

// Render compiles the files that `input` sends, among them main.typ, and writes the PDF to `out`. Render streams the
// input and the output, and does not store them in memory. It returns soon after ctx is done.
func (r *Renderer) Render(ctx context.Context, input func(send func(name string, content []byte) error) error, out io.Writer) error {
	fonts, err := r.fonts(ctx)
	if err != nil {
		return err
	}
	return r.run(ctx, false, func(send func(string, []byte) error) error {
		if err := send("fonts.json", fonts); err != nil {
			return err
		}
		return input(send)
	}, out)
}

// fonts returns the compiler's descriptions of the fonts as JSON. The first call starts a child that describes the
// fonts.
func (r *Renderer) fonts(ctx context.Context) (described []byte, err error) {
	select {
	case described = <-r.described:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { r.described <- described }()
	if described != nil {
		return described, nil
	}
	var out bytes.Buffer
	if err := r.run(ctx, true, func(func(string, []byte) error) error { return nil }, &out); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// run runs a child that renders a document. If `describe` is set, the child describes the fonts instead.
func (r *Renderer) run(
	ctx context.Context, describe bool, input func(send func(name string, content []byte) error) error, out io.Writer,
) error {
	command, err := r.command(describe)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Env = "/", []string{"LANG=C.UTF-8"}
	cmd.WaitDelay = waitDelay
	cmd.Stdout = out
	said := &tail{most: maxSaid}
	cmd.Stderr = said
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	// The kernel kills the child when the thread that started it ends. So this goroutine must not change its thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := start(cmd); err != nil {
		return &Error{Message: "the renderer does not start", kind: missing, cause: err}
	}
	most := r.cfg.MemoryBytes + untouched
	err = unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: most, Max: most}, nil)
	var large atomic.Bool
	watching, unwatch := context.WithCancel(ctx)
	defer unwatch()
	go func() {
		if exceeds(watching, cmd.Process.Pid, r.cfg.MemoryBytes) {
			large.Store(true)
			cancel()
		}
	}()
	if err == nil {
		err = send(stdin, input)
	}
	err = errors.Join(err, stdin.Close())
	if err != nil && !large.Load() && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, os.ErrClosed) {
		cancel()
		_ = cmd.Wait() // The child was killed.
		return err
	}
	// A broken pipe only shows that the child has ended. So run returns the reason for which the child has ended.
	ended := cmd.Wait()
	if large.Load() {
		return r.tooLarge(ended)
	}
	if ended == nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return r.verdict(ended, said.String())
}

const (
	// waitDelay is the time for which a child's pipes may stay open after the child's end.
	waitDelay = 5 * time.Second
	maxSaid   = 16 << 10
)

// verdict returns the error for a child that failed.
func (r *Renderer) verdict(ended error, said string) error {
	exit, ok := errors.AsType[*exec.ExitError](ended)
	if !ok {
		return ended // Writing the PDF to out failed.
	}
	var report struct {
		Error  string `json:"error"`
		Memory bool   `json:"memory"`
	}
	lines := strings.Split(strings.TrimSpace(said), "\n")
	_ = json.Unmarshal([]byte(lines[len(lines)-1]), &report) // any other output is not a report
	cause := fmt.Errorf("%w: %s", exit, said)
	// The runtime aborts if it cannot allocate memory.
	if report.Memory || report.Error == "" && exit.Sys().(syscall.WaitStatus).Signaled() {
		return r.tooLarge(cause)
	}
	return &Error{Message: "the renderer refused the document", kind: refused, cause: cause}
}

func (r *Renderer) tooLarge(cause error) error {
	return &Error{
		Message: fmt.Sprintf(
			"the document needs more memory than the renderer may use, which is %d MiB: ask for a part of it",
			r.cfg.MemoryBytes>>20,
		),
		kind: memory, cause: cause,
	}
}

const (
	// untouched is memory that the runtime reserves and does not use. The kernel's limit includes this memory, so the
	// limit is not precise. Therefore `exceeds` also watches the used memory.
	untouched  = 768 << 20
	watchPause = 100 * time.Millisecond
)

// exceeds watches how much memory a process uses. It returns true when the process uses more than `most`, and false
// when the process or ctx ends.
func exceeds(ctx context.Context, pid int, most uint64) bool {
	tick := time.NewTicker(watchPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
		if err != nil {
			return false // the child has ended
		}
		var all, resident uint64
		if _, err := fmt.Sscan(string(text), &all, &resident); err == nil && resident*uint64(os.Getpagesize()) > most {
			return true
		}
	}
}

// command returns the child's command.
func (r *Renderer) command(describe bool) ([]string, error) {
	if r.cfg.Refusal != "" {
		return nil, &Error{Message: r.cfg.Refusal, kind: missing}
	}
	found, err := packages.Find(packages.Config{Dir: r.cfg.EnginesDir})
	if err != nil {
		return nil, &Error{Message: "this machine has no PDF renderer", kind: missing, cause: err}
	}
	node, compiler, err := found.Typst()
	if err != nil {
		return nil, &Error{Message: "the PDF renderer is not installed here: run `make engines`", kind: missing, cause: err}
	}
	modules := filepath.Join(found.Dir(), "node_modules")
	converter := filepath.Join(modules, "tex2typst", "dist", "index.js")
	if _, err := os.Stat(converter); err != nil {
		return nil, &Error{Message: "the PDF renderer's formulas are not installed here: run `make engines`", kind: missing, cause: err}
	}
	files, err := fonts(modules)
	if err != nil {
		return nil, err
	}
	settings, err := json.Marshal(map[string]any{
		"compiler": compiler, "formulas": converter, "fonts": files, "describe": describe, "maxInput": maxInput,
	})
	if err != nil {
		return nil, err
	}
	return []string{
		node, "--permission", "--allow-fs-read=" + compiler, "--allow-fs-read=" + filepath.Join(modules, "tex2typst"), "--allow-fs-read=" + filepath.Join(modules, "@expo-google-fonts"),
		// Use only the baseline compiler of Node.js for WebAssembly. The optimizing compiler would need much memory and
		// save little time.
		"--liftoff-only", "--max-old-space-size=256", "--no-warnings", "--input-type=module", "-e", program, string(settings),
	}, nil
}

// start starts the child in separate namespaces, or without them if the system does not allow them.
func start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if namespaces() {
		apart(cmd.SysProcAttr)
	}
	return cmd.Start()
}

func apart(attributes *syscall.SysProcAttr) {
	attributes.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWPID
	attributes.UidMappings = []syscall.SysProcIDMap{{ContainerID: nobody, HostID: os.Getuid(), Size: 1}}
	attributes.GidMappings = []syscall.SysProcIDMap{{ContainerID: nobody, HostID: os.Getgid(), Size: 1}}
}

// namespaces reports whether the system lets this process create namespaces. It starts a program that does not exist.
// The kernel creates the namespaces before it looks for the program, so the error shows whether they are allowed.
var namespaces = sync.OnceValue(func() bool {
	cmd := exec.Command("/proc/self/exe/none")
	cmd.Path, cmd.Err = "/proc/self/exe/none", nil
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	apart(cmd.SysProcAttr)
	err := cmd.Start()
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENOENT)
})

// nobody is the child's user id within its namespace.
const nobody = 65534

// send writes the frames that compile.mjs reads.
func send(to io.Writer, input func(send func(name string, content []byte) error) error) error {
	err := input(func(name string, content []byte) error {
		if name == "" || uint64(len(content)) > maxInput {
			return fmt.Errorf("cannot send the file %q of %d bytes to the renderer", name, len(content))
		}
		header := binary.LittleEndian.AppendUint32(nil, uint32(len(name)))
		header = binary.LittleEndian.AppendUint32(header, uint32(len(content)))
		if _, err := to.Write(append(header, name...)); err != nil {
			return err
		}
		_, err := to.Write(content)
		return err
	})
	if err != nil {
		return err
	}
	_, err = to.Write(make([]byte, 8))
	return err
}

// tail stores the last bytes of the written text.
type tail struct {
	bytes.Buffer
	most int
}

func (t *tail) Write(p []byte) (int, error) {
	n, err := t.Buffer.Write(p)
	if over := t.Len() - t.most; over > 0 {
		t.Next(over)
	}
	return n, err
}
