// Package product builds the octavo binary for a benchmark or a fault run. It also returns settings for nodes, and
// sends single requests to nodes.
//
// The only other package of this module that it may import is cmd/engine/enginetest, to find the module's root.
package product

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
)

// Build builds octavo from the module to `path`.
func Build(ctx context.Context, path string, flags ...string) error {
	root, err := enginetest.ModuleRoot()
	if err != nil {
		return err
	}
	return build(ctx, root, path, flags...)
}

func build(ctx context.Context, root, path string, flags ...string) error {
	arguments := slices.Concat([]string{"build", "-buildvcs=false", "-o", path}, flags, []string{"./cmd/octavo"})
	cmd := exec.CommandContext(ctx, "go", arguments...)
	cmd.Dir = root
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build octavo: %w\n%s", err, output)
	}
	return nil
}

// Shallow reports whether the repository is a shallow clone. A shallow clone lacks older commits, so BuildCommit may
// fail.
func Shallow(ctx context.Context) bool {
	said, err := exec.CommandContext(ctx, "git", "rev-parse", "--is-shallow-repository").Output()
	return err == nil && bytes.HasPrefix(said, []byte("true"))
}

// BuildCommit builds octavo from a commit of this repository, in a temporary work tree.
func BuildCommit(ctx context.Context, commit, path string) (err error) {
	root, err := enginetest.ModuleRoot()
	if err != nil {
		return err
	}
	tree, err := os.MkdirTemp("", "octavo-former-")
	if err != nil {
		return fmt.Errorf("cannot create a work tree: %w", err)
	}
	git := func(arguments ...string) error {
		cmd := exec.CommandContext(ctx, "git", arguments...)
		cmd.Dir = root
		if output, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("cannot build octavo of commit %s: git %s: %w\n%s", commit, arguments[0], err, output)
		}
		return nil
	}
	defer func() { err = errors.Join(err, git("worktree", "remove", "--force", tree)) }()
	if err := git("worktree", "add", "--detach", "--force", tree, commit); err != nil {
		return err
	}
	return build(ctx, tree, path)
}

// Client sends single requests to a node. The package loadgen sends loads.
type Client struct{ Address, Token string }

var plainHTTP = &http.Client{Timeout: time.Minute}

// Call makes a request and returns an error unless the response has the status `want`. A body that is not a []byte is
// sent as JSON. If `into` is not nil, the response is decoded into it. The names of fields are compared without regard
// to case, so the fields of `into` need no tags.
func (c Client) Call(ctx context.Context, method, path string, body any, want int, into any) error {
	var raw []byte
	switch b := body.(type) {
	case nil:
	case []byte:
		raw = b
	default:
		var err error
		if raw, err = json.Marshal(b); err != nil {
			return fmt.Errorf("cannot write the body of %s %s: %w", method, path, err)
		}
	}
	answer, err := c.exchange(ctx, method, path, raw, want)
	if err != nil || into == nil {
		return err
	}
	if err := json.Unmarshal(answer, into, json.MatchCaseInsensitiveNames(true)); err != nil {
		return fmt.Errorf("cannot read the answer of %s %s: %w", method, path, err)
	}
	return nil
}

// Read returns the body of a page, such as /metrics. It fails if the status is not 200.
func (c Client) Read(ctx context.Context, path string) ([]byte, error) {
	return c.exchange(ctx, http.MethodGet, path, nil, http.StatusOK)
}

func (c Client) exchange(ctx context.Context, method, path string, body []byte, want int) ([]byte, error) {
	answer, err := c.Ask(ctx, method, path, body)
	if err == nil && answer.Status != want {
		err = fmt.Errorf("%s %s answered %d, want %d: %.500s", method, path, answer.Status, want, answer.Body)
	}
	if err != nil {
		return nil, err
	}
	return answer.Body, nil
}

// Answer is a node's answer to a request.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Ask sends a request and returns the answer with any status. With the request's header Cache-Control, the node does
// not answer from its cache.
func (c Client) Ask(ctx context.Context, method, path string, body []byte) (a Answer, err error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+c.Address+path, bytes.NewReader(body))
	if err != nil {
		return a, err
	}
	request.Header.Set("Authorization", "Bearer "+c.Token)
	request.Header.Set("Cache-Control", "no-cache")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := plainHTTP.Do(request)
	if err != nil {
		return a, err
	}
	defer func() { _ = response.Body.Close() }()
	if a.Body, err = io.ReadAll(response.Body); err != nil {
		return a, fmt.Errorf("cannot read the answer of %s %s: %w", method, path, err)
	}
	a.Status, a.Header = response.StatusCode, response.Header
	return a, nil
}

// DoorSettings are settings of a node that turn off the limits of the door, the operation for browsers. A load comes
// from one address with one key, and would exceed the limits.
var DoorSettings = []string{"OCTAVO_PUBLIC_RATE_LIMIT=0", "OCTAVO_PUBLISHABLE_KEY_RATE_LIMIT=0"}

// Door creates a publishable key of a site. The key may be used on the pages of one host. Door returns the path at
// which browsers post events with this key.
func (c Client) Door(ctx context.Context, org, site, host string) (string, error) {
	var made struct{ Key string }
	key := map[string]any{"name": "Load", "hosts": []string{host}, "dailyCap": 1_000_000_000}
	err := c.Call(ctx, http.MethodPost, Insights(org, site)+"/keys", key, http.StatusCreated, &made)
	return "/e/" + made.Key, err
}

// Create creates a resource with a title and returns its id.
func (c Client) Create(ctx context.Context, path, title string) (string, error) {
	var made struct{ ID string }
	err := c.Call(ctx, http.MethodPost, path, map[string]any{"title": title}, http.StatusCreated, &made)
	return made.ID, err
}

// Ready returns nil if the node's /readyz succeeds.
func (c Client) Ready(ctx context.Context) error {
	return c.Call(ctx, http.MethodGet, "/readyz", nil, http.StatusOK, nil)
}

// Insights returns the path of a site's insights.
func Insights(organization, site string) string {
	return "/v1/orgs/" + url.PathEscape(organization) + "/sites/" + url.PathEscape(site) + "/insights"
}
