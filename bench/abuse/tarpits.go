package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"

	"github.com/octavo-docs/octavo/bench/gitserver"
	"github.com/octavo-docs/octavo/bench/product"
	"github.com/octavo-docs/octavo/bench/witness"
	"github.com/octavo-docs/octavo/schema"
)

const (
	// The attacking user has tarpitOrganizations organizations, and enqueues tarpitJobs jobs in each organization.
	tarpitOrganizations, tarpitJobs = 3, 4
	// tarpitTime is the longest time that a job of another organization may take during the attack.
	tarpitTime = 30 * time.Second
	// importTime is the longest time that an import of largeFiles files may take during the attack.
	importTime = 5 * time.Minute
)

// hosts has the two HTTP servers to which jobs connect. `tarpit` answers very slowly, and `honest` answers immediately.
type hosts struct {
	tarpit, honest *httptest.Server
	held           map[string]*atomic.Int64 // number of requests that the tarpit has not finished, by path
	reached        atomic.Int64             // number of requests to the honest host
}

func newHosts(ctx context.Context, repositories string) (*hosts, error) {
	backend, err := gitserver.Handler(ctx, repositories, "/git")
	if err != nil {
		return nil, err
	}
	h := &hosts{held: map[string]*atomic.Int64{}}
	for _, t := range h.traps() {
		h.held[t.path] = &atomic.Int64{}
	}
	h.tarpit = httptest.NewServer(http.HandlerFunc(h.hold))
	mux := http.NewServeMux()
	mux.Handle("/git/", backend)
	mux.HandleFunc(specPath, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(
			[]byte(`{"openapi":"3.1.0","info":{"title":"A","version":"1"},"paths":{}}`),
		) // ignore the error, because the client may disconnect
	})
	for _, path := range []string{hookPath, tunnelPath} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			h.reached.Add(1)
			w.WriteHeader(http.StatusOK)
		})
	}
	h.honest = httptest.NewServer(mux)
	return h, nil
}

func (h *hosts) close() {
	h.tarpit.CloseClientConnections()
	h.tarpit.Close()
	h.honest.Close()
}

// hold answers a request to the tarpit. It sends one byte every four seconds until the client disconnects or all bytes
// of a text are sent.
func (h *hosts) hold(w http.ResponseWriter, r *http.Request) {
	held := h.held[r.URL.Path]
	held.Add(1)
	defer held.Add(-1)
	_, _ = io.Copy(io.Discard, r.Body) // a server detects a disconnect only after it has read the body
	ticks := time.NewTicker(4 * time.Second)
	defer ticks.Stop()
	if r.URL.Path == refsPath {
		w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
	}
	for _, octet := range []byte("001e# service=git-upload-pack\n" +
		"                                                   ") {
		select {
		case <-r.Context().Done():
			return
		case <-ticks.C:
		}
		if r.Method == http.MethodPost {
			continue // a delivery ends when the client receives a status, so hold writes nothing
		}
		if _, err := w.Write([]byte{octet}); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush() // if Flush fails, the next write returns the error
	}
}

// trap describes a kind of job that connects to a host of the user's choice. `ask` enqueues such a job for an
// organization. It returns a function that reports whether the job is done.
type trap struct {
	kind schema.JobKind
	path string // path of the tarpit that the job requests
	ask  func(
		ctx context.Context, c product.Client, organization, host string, i int,
	) (done func(context.Context) error, err error)
}

func (o options) tarpits(ctx context.Context, node *node, dir string) error {
	if err := makeRepositories(ctx, dir); err != nil {
		return err
	}
	hosts, err := newHosts(ctx, dir)
	if err != nil {
		return err
	}
	defer hosts.close()
	victim, err := node.Client.Create(ctx, "/v1/orgs", "Victim")
	if err != nil {
		return err
	}
	attacker, err := otherUser(ctx, node, victim)
	if err != nil {
		return err
	}
	fmt.Printf(
		"%-44s %8s %8s\n",
		fmt.Sprintf("%d tarpits of a user", tarpitOrganizations*tarpitJobs),
		"held",
		"others s",
	)
	var failed []error
	for _, t := range hosts.traps() {
		for i := range tarpitOrganizations {
			organization, err := attacker.Create(ctx, "/v1/orgs", "Tarpit")
			if err != nil {
				return err
			}
			for j := range tarpitJobs {
				if _, err := t.ask(ctx, attacker, organization, hosts.tarpit.URL, i*tarpitJobs+j); err != nil {
					return fmt.Errorf("%s: %w", t.kind.Name, err)
				}
			}
		}
		held, err := hosts.full(ctx, t)
		if err != nil {
			return fmt.Errorf("%s: %w", t.kind.Name, err)
		}
		took, err := timed(ctx, tarpitTime, func() (func(context.Context) error, error) {
			return t.ask(ctx, node.Client, victim, hosts.honest.URL, tarpitOrganizations*tarpitJobs)
		})
		fmt.Printf("%-44s %8d %8.1f\n", t.kind.Name, held, took.Seconds())
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: another organization's job: %w", t.kind.Name, err))
		}
		if t.kind.Name != (schema.SyncGit{}).Kind() {
			continue
		}
		took, err = timed(ctx, importTime, func() (func(context.Context) error, error) {
			return imported(ctx, node.Client, victim, hosts.honest.URL+"/git/large.git")
		})
		fmt.Printf("%-44s %8d %8.1f\n", fmt.Sprintf("%s of %d MB", t.kind.Name, largeFiles*largeFile>>20),
			hosts.held[t.path].Load(), took.Seconds())
		if err != nil {
			failed = append(failed, fmt.Errorf("an honest import: %w", err))
		}
	}
	return errors.Join(failed...)
}

// full waits until all workers of the trap's kind of job are waiting for the tarpit.
func (h *hosts) full(ctx context.Context, t trap) (held int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err = witness.Await(ctx, func(context.Context) error {
		if held = h.held[t.path].Load(); held < int64(t.kind.Workers) {
			return fmt.Errorf("the tarpit holds %d of %d workers", held, t.kind.Workers)
		}
		return nil
	})
	return held, err
}

// timed calls `ask`, which enqueues a job. It returns the time until the job was done.
func timed(
	ctx context.Context, limit time.Duration, ask func() (func(context.Context) error, error),
) (time.Duration, error) {
	began := time.Now()
	done, err := ask()
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err = witness.Await(ctx, done)
	return time.Since(began), err
}

// otherUser invites another user to an organization, and returns a client with that user's token.
func otherUser(ctx context.Context, node *node, organization string) (product.Client, error) {
	var invited struct{ Users []string }
	people := map[string]any{"emails": []string{"attacker@example.com"}}
	path := "/v1/orgs/" + organization + "/invites"
	if err := node.Client.Call(ctx, http.MethodPost, path, people, http.StatusOK, &invited); err != nil {
		return product.Client{}, err
	}
	if len(invited.Users) != 1 {
		return product.Client{}, fmt.Errorf("%d people are invited", len(invited.Users))
	}
	token, err := node.Run(ctx, nil, "token", "create", "--user", invited.Users[0])
	return product.Client{Address: node.Client.Address, Token: strings.TrimSpace(token)}, err
}
