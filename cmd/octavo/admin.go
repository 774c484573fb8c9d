package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"syscall"
	"time"

	"github.com/octavo-docs/octavo/cmd/observe"
)

// adminOff is the OCTAVO_ADMIN_LISTEN of a node without an operators' listener.
const adminOff = "off"

// admin is the operators' listener. What it shows names tenants and looks into
// the process, and it asks for no token: it is kept from the public by its
// address.
type admin struct {
	listener net.Listener
	http     *http.Server
}

// startAdmin starts the operators' listener, unless it is off. An address that
// is taken ends the start: a node that nobody can look into would be found out
// when it is too late.
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
			n.log.Error("the operators' listener has ended", "error", err)
		}
	}()
	return nil
}

// adminPages has no /debug/pprof/cmdline: settings given as flags are in it,
// secrets too.
func (n *node) adminPages() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", observe.Handler(n.registry))
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(buildInfo()) // the client may have gone
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

// address is where the listener is, or off.
func (a *admin) address() string {
	if a == nil {
		return adminOff
	}
	return a.listener.Addr().String()
}

// descriptorsBeside are the file descriptors that are not connections of
// clients: of the engines, the log's files, other listeners.
const descriptorsBeside = 1024

// maxConns is OCTAVO_MAX_CONNS, or less where the process has not as many file
// descriptors: accepting one that it has none for would fail. Go has raised the
// soft limit to the hard one at the start.
func (n *node) maxConns() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur >= uint64(n.settings.MaxConns+descriptorsBeside) {
		return n.settings.MaxConns
	}
	most := max(int(limit.Cur)-descriptorsBeside, int(limit.Cur)/2)
	n.log.Warn("fewer connections than OCTAVO_MAX_CONNS: the limit of open files (ulimit -n) is too low for as many",
		"connections", most, "open_files", limit.Cur)
	return most
}
