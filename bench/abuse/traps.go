package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/octavo-docs/octavo/bench/product"
	"github.com/octavo-docs/octavo/schema"
)

// The repository large.git has largeFiles files of largeFile bytes each.
const largeFiles, largeFile = 40, 5 << 20

// Each constant is a path on the hosts to which jobs connect. A Git fetch first requests refsPath.
const (
	refsPath   = "/a.git/info/refs"
	specPath   = "/spec"
	hookPath   = "/hook"
	tunnelPath = "/tunnel"
)

func (h *hosts) traps() []trap {
	return []trap{
		{schema.SyncGit{}.JobKind(), refsPath, func(
			ctx context.Context, c product.Client, organization, host string, _ int,
		) (func(context.Context) error, error) {
			path := "/a.git"
			if host == h.honest.URL {
				path = "/git/small.git"
			}
			return imported(ctx, c, organization, host+path)
		}},
		{schema.FetchOpenAPI{}.JobKind(), specPath, fetched},
		{schema.DeliverWebhooks{}.JobKind(), hookPath, h.pinged},
		{schema.SendIntegrationEvent{}.JobKind(), tunnelPath, h.tunnelled},
	}
}

// imported starts an import of a repository into a new space, and returns a function that reports whether it is done.
func imported(
	ctx context.Context, c product.Client, organization, address string,
) (func(context.Context) error, error) {
	space, err := c.Create(ctx, "/v1/orgs/"+organization+"/spaces", "Imported")
	if err != nil {
		return nil, err
	}
	base := "/v1/spaces/" + space + "/git"
	wanted := map[string]any{"url": address, "ref": "refs/heads/main"}
	return func(ctx context.Context) error {
		var operations struct {
			Items []struct{ State, Reason string }
		}
		err := c.Call(ctx, http.MethodGet, base+"/operations", nil, http.StatusOK, &operations)
		if err == nil && (len(operations.Items) != 1 || operations.Items[0].State != "done") {
			err = fmt.Errorf("the import is not done: %+v", operations.Items)
		}
		return err
	}, c.Call(ctx, http.MethodPost, base+"/import", wanted, http.StatusNoContent, nil)
}

// fetched creates an OpenAPI specification that a job fetches from `host`. The returned function reports whether it is
// fetched.
func fetched(
	ctx context.Context, c product.Client, organization, host string, i int,
) (func(context.Context) error, error) {
	path := fmt.Sprintf("/v1/orgs/%s/openapi/spec-%d", organization, i)
	source := map[string]any{"source": map[string]any{"url": host + specPath}}
	return func(ctx context.Context) error {
		var spec struct{ LastProcessedAt, LastVersion any }
		err := c.Call(ctx, http.MethodGet, path, nil, http.StatusOK, &spec)
		if err == nil && spec.LastProcessedAt == nil {
			err = errors.New("the specification is not fetched")
		}
		return err
	}, c.Call(ctx, http.MethodPut, path, source, http.StatusCreated, nil)
}

// pinged creates a webhook and sends it a ping. The returned function reports whether the ping has arrived.
func (h *hosts) pinged(
	ctx context.Context, c product.Client, organization, host string, i int,
) (func(context.Context) error, error) {
	var made struct{ ID string }
	path := "/v1/orgs/" + organization + "/webhooks"
	address := map[string]any{"url": fmt.Sprintf("%s%s?%d", host, hookPath, i)}
	if err := c.Call(ctx, http.MethodPost, path, address, http.StatusCreated, &made); err != nil {
		return nil, err
	}
	return h.another(), c.Call(ctx, http.MethodPost, path+"/"+made.ID+"/ping", nil, http.StatusCreated, nil)
}

// tunnelled creates an integration with a tunnel and causes an event for it. The returned function reports whether the
// event has arrived.
func (h *hosts) tunnelled(
	ctx context.Context, c product.Client, organization, host string, i int,
) (func(context.Context) error, error) {
	path := fmt.Sprintf("/v1/integrations/%s-%d", strings.ToLower(organization), i)
	published := map[string]any{
		"title": "Integration", "description": "It has a tunnel.", "script": "export {}", "organization": organization,
	}
	if err := c.Call(ctx, http.MethodPost, path, published, http.StatusOK, nil); err != nil {
		return nil, err
	}
	tunnel := map[string]any{"tunnelUrl": host + tunnelPath}
	if err := c.Call(ctx, http.MethodPut, path+"/dev", tunnel, http.StatusNoContent, nil); err != nil {
		return nil, err
	}
	installed := map[string]any{"organization": organization}
	return h.another(), c.Call(ctx, http.MethodPost, path+"/installations", installed, http.StatusCreated, nil)
}

// another notes how many requests the honest host has received, and returns a function. The function returns nil if the
// host has received a further request since then.
func (h *hosts) another() func(context.Context) error {
	before := h.reached.Load()
	return func(context.Context) error {
		if h.reached.Load() == before {
			return errors.New("the host is not reached")
		}
		return nil
	}
}

// makeRepositories creates small.git with one page, and large.git with large files.
func makeRepositories(ctx context.Context, root string) error {
	page := "# Files\n\n"
	files := map[string][]byte{}
	for i := range largeFiles {
		name := fmt.Sprintf("assets/file-%d.bin", i)
		page += fmt.Sprintf("* [file %d](%s)\n", i, name)
		files[name] = make([]byte, largeFile)
		_, _ = rand.Read(files[name]) // Read never fails
	}
	files["README.md"] = []byte(page)
	return errors.Join(
		repository(ctx, filepath.Join(root, "small.git"), map[string][]byte{"README.md": []byte("# Small\n\nText.\n")}),
		repository(ctx, filepath.Join(root, "large.git"), files),
	)
}

func repository(ctx context.Context, dir string, files map[string][]byte) error {
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return err
		}
	}
	for _, arguments := range [][]string{
		{"init", "--quiet", "--initial-branch=main"},
		{"add", "."},
		{"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--message=files"},
	} {
		cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir, "-c", "core.compression=0"}, arguments...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", arguments[0], err, out)
		}
	}
	return nil
}
