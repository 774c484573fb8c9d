package pgserver

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
)

const (
	superuser = "postgres"
	// appUser owns appDatabase and may create databases, but is not a superuser. A superuser's COPY … PROGRAM would
	// turn an SQL injection into a shell on this machine.
	appUser     = "octavo"
	appDatabase = "octavo"
)

// Config configures a server.
type Config struct {
	// BinDir contains postgres and initdb.
	BinDir string
	// Dir is the folder of the cluster (data) and its passwords (secrets.json). The caller must have locked Dir.
	Dir string
	// Port is the TCP port on 127.0.0.1.
	Port int
	// With NoSync, Postgres does not sync its writes, which makes tests faster. Data then survives kill -9 but not a
	// power loss.
	NoSync bool
	// Memory is the memory in bytes for which the server is configured. 0 means 512 MiB.
	Memory int64
}

// Server is one configured server. The server runs when the caller starts the command that Command returns.
type Server struct {
	cfg      Config
	secrets  secrets
	identity identity

	inspected atomic.Bool // set after the first ping has called inspect
}

// New checks the configuration. Nothing is written before Prepare.
func New(cfg Config) (*Server, error) {
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("cannot resolve the Postgres directory %s: %w", cfg.Dir, err)
	}
	cfg.Dir = dir
	if cfg.Port <= 0 || cfg.Port > 65535 {
		return nil, fmt.Errorf("cannot run Postgres on port %d: choose one from 1 to 65535", cfg.Port)
	}
	return &Server{cfg: cfg}, nil
}

func (s *Server) dataDir() string           { return filepath.Join(s.cfg.Dir, "data") }
func (s *Server) binary(name string) string { return filepath.Join(s.cfg.BinDir, name) }

// Prepare creates the cluster on the first call and updates the settings on every call. It calls Reap, so no server
// runs on Dir afterwards.
func (s *Server) Prepare(ctx context.Context) error {
	if err := os.MkdirAll(s.cfg.Dir, 0o700); err != nil {
		return fmt.Errorf("cannot create the Postgres directory: %w (choose a directory that this user may write)", err)
	}
	if err := s.Reap(ctx); err != nil {
		return err
	}
	who, err := chooseIdentity(ctx, s.binary("postgres"), s.cfg.Dir, s.dataDir())
	if err != nil {
		return err
	}
	s.identity = who
	known, err := loadSecrets(s.cfg.Dir)
	if err != nil {
		return err
	}
	made, err := s.exists()
	if err != nil {
		return err
	}
	switch {
	case made && known == nil:
		err = s.resetSecrets(ctx)
	case !made:
		err = s.initialise(ctx, known)
	default:
		s.secrets = *known
	}
	if err != nil {
		return err
	}
	return s.writeSettings(s.dataDir())
}

// Command returns the command that runs the server. SIGINT stops the server cleanly. SIGTERM would wait for clients to
// disconnect. SIGQUIT ends the server and its children immediately, so use it as the signal for the parent's death.
func (s *Server) Command() (*exec.Cmd, error) {
	cmd := exec.CommandContext(context.Background(), s.binary("postgres"), "-D", s.dataDir(), "-p", strconv.Itoa(s.cfg.Port),
		// No Unix socket is used. Its path is limited to 107 bytes, and the path of the data directory may be longer.
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=")
	s.finish(cmd)
	return cmd, nil
}

// inherited lists the variables that a command inherits from this process. All except TMPDIR serve libfaketime, with
// which bench/chaos sets the server's clock.
var inherited = []string{
	"TMPDIR", "LD_PRELOAD", "FAKETIME_TIMESTAMP_FILE", "FAKETIME_CACHE_DURATION", "FAKETIME_DONT_FAKE_MONOTONIC",
}

// finish sets a command's identity, and an environment without this process's settings and secrets.
func (s *Server) finish(cmd *exec.Cmd) {
	cmd.Dir = s.cfg.BinDir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	for _, name := range inherited {
		if value := os.Getenv(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.SysProcAttr = s.identity.attributes()
}

// URL returns the connection string for Octavo's user.
func (s *Server) URL() string { return s.url(appUser, s.secrets.App, appDatabase) }

func (s *Server) url(user, password, database string) string {
	return (&url.URL{
		Scheme: "postgres", User: url.UserPassword(user, password),
		Host: "127.0.0.1:" + strconv.Itoa(s.cfg.Port), Path: "/" + database, RawQuery: "sslmode=disable",
	}).String()
}

// exists reports whether the cluster was created. A cluster of another major version is an error, because this binary
// cannot open it.
func (s *Server) exists() (bool, error) {
	text, err := os.ReadFile(filepath.Join(s.dataDir(), "PG_VERSION"))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("cannot read the Postgres data directory: %w (it must belong to the user that runs octavo)", err)
	}
	return true, s.checkVersion(text)
}
