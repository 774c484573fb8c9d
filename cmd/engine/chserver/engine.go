package chserver

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk"
)

// engine is the started library: its root connection keeps it alive and
// serves what no client asked for.
type engine struct {
	lib     *library
	args    []string
	log     *slog.Logger
	version version
	guard   *guard

	root    sync.Mutex // the root connection runs one statement at a time
	conn    *engineConn
	markers atomic.Uint64
}

// startEngine loads the library and opens the data directory. Only one
// engine can live in a process.
func startEngine(ctx context.Context, cfg Config) (*engine, error) {
	if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the data directory: %w", err)
	}
	if err := awaitRoom(ctx, cfg.Logger, cfg.DataDir, disk.OS{}.Free); err != nil {
		return nil, err
	}
	signal.Ignore(unix.SIGXFSZ) // a file beyond the limit of the process is an error of the write, as a full disk is
	signals, err := saveSignals()
	if err != nil {
		return nil, err
	}
	lib, err := openLibrary(cfg.Library)
	if err != nil {
		return nil, err
	}
	configFile, err := writeAccess(cfg.DataDir)
	if err != nil {
		return nil, err
	}
	e := &engine{lib: lib, args: cfg.engineArgs(configFile), log: cfg.Logger}
	if e.conn, err = lib.open(e.args); err != nil {
		return nil, err
	}
	if err := signals.restore(); err != nil {
		return nil, err
	}
	if e.version, err = e.askVersion(); err != nil {
		return nil, fmt.Errorf("cannot ask the engine for its version: %w", err)
	}
	functions, err := e.ask("SELECT name FROM system.table_functions")
	if err != nil {
		return nil, fmt.Errorf("cannot ask the engine for its table functions: %w", err)
	}
	e.guard = newGuard(strings.Fields(functions))
	return e, nil
}

func (e *engine) askVersion() (version, error) {
	text, err := e.ask("SELECT version()")
	return parseVersion(text), err
}

// ask gives a short answer as text.
func (e *engine) ask(question string) (string, error) {
	res, err := e.conn.call(e.lib.query, question, "TSVRaw", nil)
	if err != nil {
		return "", err
	}
	defer res.close()
	return string(res.bytes()), nil
}

// close shuts the engine down: it finishes running merges and writes what it
// holds. All sessions must be closed before.
func (e *engine) close() {
	e.root.Lock()
	defer e.root.Unlock()
	e.conn.close()
}

func (e *engine) nextMarker() string {
	return fmt.Sprintf("octavo-session-%d", e.markers.Add(1))
}

// kill asks the engine to end the running statement of a session. It ends at
// the statement's next block, or never existed: the caller asks again until
// its statement is over.
func (e *engine) kill(marker string) {
	e.root.Lock()
	defer e.root.Unlock()
	res, err := e.conn.call(e.lib.query,
		"KILL QUERY WHERE splitByChar(' ', Settings['"+markerSetting+"'])[1] = {marker:String} ASYNC", "Native",
		[]param{{"marker", marker}})
	if err != nil {
		e.log.Warn("A statement could not be cancelled.", "error", err)
		return
	}
	res.close()
}
