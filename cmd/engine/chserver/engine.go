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

// engine is the started library. Its root connection is open as long as the engine runs, and runs the server's own
// statements.
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

// startEngine loads the library and opens the data directory. A process can start only one engine.
func startEngine(ctx context.Context, cfg Config) (*engine, error) {
	if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot create the data directory: %w", err)
	}
	if err := awaitRoom(ctx, cfg.Logger, cfg.DataDir, disk.OS{}.Free); err != nil {
		return nil, err
	}
	signal.Ignore(unix.SIGXFSZ) // a write beyond the file size limit then fails, like a write to a full disk
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
		return nil, fmt.Errorf("cannot open the insights store in %s: %w: if a line above names a damaged file, put "+
			"back that file; or move the folder away and start with an empty store, which "+
			"the node fills with the events that the log has", cfg.DataDir, err)
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

// ask runs a query on the root connection and returns its short result as text.
func (e *engine) ask(question string) (string, error) {
	res, err := e.conn.call(e.lib.query, question, "TSVRaw", nil)
	if err != nil {
		return "", err
	}
	defer res.close()
	return string(res.bytes()), nil
}

// close shuts the engine down, which finishes running merges and flushes. The caller must close all sessions first.
func (e *engine) close() {
	e.root.Lock()
	defer e.root.Unlock()
	e.conn.close()
}

func (e *engine) nextMarker() string {
	return fmt.Sprintf("octavo-session-%d", e.markers.Add(1))
}

// kill asks the engine to end the running statement of a session. The statement ends at its next block; if it has not
// started yet, `kill` has no effect. So the caller repeats `kill` until the statement has ended.
func (e *engine) kill(marker string) {
	e.root.Lock()
	defer e.root.Unlock()
	res, err := e.conn.call(e.lib.query,
		"KILL QUERY WHERE splitByChar(' ', Settings['"+markerSetting+"'])[1] = {marker:String} ASYNC", "Native",
		[]param{{"marker", marker}})
	if err != nil {
		e.log.Warn("Cannot cancel a statement.", "error", err)
		return
	}
	res.close()
}
