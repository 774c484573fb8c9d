package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"syscall"
	"time"

	"github.com/octavo-docs/octavo/cmd/observe"
)

// adminOff is the value of OCTAVO_ADMIN_LISTEN that turns the operators' listener off.
const adminOff = "off"

// admin is the operators' listener: metrics, profiles, version and health. It shows tenants' ids and the state of the
// process without a token. So only its listening address protects it.
type admin struct {
	listener net.Listener
	http     *http.Server
}

// startAdmin starts the operators' listener, unless it is off. If the address is taken, the node does not start.
// Otherwise missing metrics would be noticed only when they are needed.
func (n *node) startAdmin(ctx context.Context) error {
	if n.settings.Admin == adminOff {
		return nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", n.settings.Admin)
	if err != nil {
		return fmt.Errorf("cannot listen for operators: %w (OCTAVO_ADMIN_LISTEN names the address, or off)", err)
	}
	n.admin = &admin{listener: listener, http: &http.Server{
		Handler: n.adminPages(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 75 * time.Second,
	}}
	n.onStop("operators' listener", n.admin.http.Shutdown)
	go func() {
		if err := n.admin.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			n.log.Error("The operators' listener failed.", "error", err)
		}
	}()
	return nil
}

// adminPages returns the handler of the operators' listener. It does not serve /debug/pprof/cmdline, because this page
// would show secrets in command-line flags.
func (n *node) adminPages() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", observe.Handler(n.registry))
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = printJSON(w, buildInfo()) // fails only if the client has disconnected
	})
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	for _, profile := range []string{"allocs", "block", "goroutine", "heap", "mutex", "threadcreate"} {
		mux.Handle("GET /debug/pprof/"+profile, pprof.Handler(profile))
	}
	health := n.server.Health()
	mux.Handle("GET /healthz", health)
	mux.Handle("GET /readyz", health)
	return mux
}

// address returns the listener's address, or "off".
func (a *admin) address() string {
	if a == nil {
		return adminOff
	}
	return a.listener.Addr().String()
}

// descriptorsBeside is the number of file descriptors that are reserved for engines, log files and other listeners, and
// not for clients' connections.
const descriptorsBeside = 1024

// maxConns returns OCTAVO_MAX_CONNS, or less if the process has too little memory or too few file descriptors.
// Accepting a connection needs a descriptor. Go's runtime has already raised the soft limit to the hard limit.
func (n *node) maxConns() int {
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	if err != nil || limit.Cur >= uint64(n.sizes.connections+descriptorsBeside) {
		return n.sizes.connections
	}
	most := max(int(limit.Cur)-descriptorsBeside, int(limit.Cur)/2)
	n.log.Warn("The limit of open files (ulimit -n) is too low for OCTAVO_MAX_CONNS: fewer connections are accepted.",
		"connections", most, "open_files", limit.Cur)
	return most
}
