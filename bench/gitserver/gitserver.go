// Package gitserver serves the Git repositories of a folder to a node.
package gitserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cgi"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Handler returns a handler that serves the repositories below `root`, at paths that begin with `prefix`. The handler
// runs git http-backend. A repository accepts pushes if its own configuration allows them.
func Handler(ctx context.Context, root, prefix string) (http.Handler, error) {
	path, err := exec.CommandContext(ctx, "git", "--exec-path").Output()
	if err != nil {
		return nil, fmt.Errorf("cannot serve repositories without git: %w", err)
	}
	return &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"), Root: prefix, Stderr: io.Discard,
		Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "HOME=" + root},
	}, nil
}

// Make creates a bare repository with the branch `main`. `stream` has the commits in the format of git fast-import.
func Make(ctx context.Context, path string, stream io.Reader) error {
	for _, args := range [][]string{
		{"init", "--quiet", "--bare", "--initial-branch=main", path}, {"-C", path, "fast-import", "--quiet"},
	} {
		cmd := exec.CommandContext(ctx, "git", args...)
		if args[0] == "-C" {
			cmd.Stdin = stream
		}
		if output, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, output)
		}
	}
	return nil
}

// Start serves the repositories below `root` at a free address until `stop` is called.
func Start(ctx context.Context, root string) (address string, stop func() error, err error) {
	handler, err := Handler(ctx, root, "")
	if err != nil {
		return "", nil, err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: handler}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	return "http://" + listener.Addr().String(), func() error {
		closed := server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			return errors.Join(closed, err)
		}
		return closed
	}, nil
}
