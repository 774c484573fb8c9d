package content_test

import (
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/octavo-docs/octavo/api/jobs/jobstest"
	"github.com/octavo-docs/octavo/schema"
)

// losses are the ways in which the author of an operation loses the right to it. `installed` is true if the author is
// an installation, whose address is `path`.
var losses = map[string]struct {
	installed bool
	take      func(b *gitBench, path string)
}{
	"removed": {false, func(b *gitBench, _ string) {
		b.Want(204, "DELETE", b.member(), b.Ours.Tokens[schema.RoleAdmin], nil)
	}},
	"demoted": {false, func(b *gitBench, _ string) {
		b.Want(200, "PATCH", b.member(), b.Ours.Tokens[schema.RoleAdmin], `{"role":"edit"}`)
	}},
	"level of the space": {false, func(b *gitBench, _ string) { b.settle(map[string]any{"defaultLevel": "edit"}) }},
	"uninstalled": {true, func(b *gitBench, path string) {
		b.Want(204, "DELETE", path, b.Ours.Tokens[schema.RoleAdmin], nil)
	}},
	"paused": {true, func(b *gitBench, path string) {
		b.Want(200, "PATCH", path, b.Ours.Tokens[schema.RoleAdmin], `{"status":"paused"}`)
	}},
	"scope": {true, func(b *gitBench, path string) {
		b.Want(200, "PATCH", path, b.Ours.Tokens[schema.RoleAdmin], `{"scopes":[]}`)
	}},
	"space of an installation": {true, func(b *gitBench, path string) {
		b.Want(200, "PATCH", path, b.Ours.Tokens[schema.RoleAdmin], `{"space_selection":"selected"}`)
	}},
}

// member returns the path of the member who asks for the operations.
func (b *gitBench) member() string {
	return "/v1/orgs/" + b.Ours.Organization.ID + "/members/" + b.Ours.Users[schema.RoleCreate].ID
}

// author sets the token of the next operations. It returns the path of the installation.
func (b *gitBench) author(installed bool) (path string) {
	b.T.Helper()
	b.token = b.Ours.Tokens[schema.RoleCreate]
	if !installed {
		return ""
	}
	made := b.Installed(b.Ours, "i-"+schema.NewID(), schema.ScopeSpaceGitSync)
	b.token = b.InstallationToken(b.Ours, made)
	return "/v1/integrations/" + made["integrationName"] + "/installations/" + made["installationId"]
}

// wantForbidden checks that the last operation has ended, changed nothing in the repository, and forgotten its
// credentials. `reason` is a part of its reason.
func (b *gitBench) wantForbidden(state, reason, tip string) {
	b.T.Helper()
	o := b.operations()[0]
	if o.State != state || !strings.Contains(o.Reason, reason) || o.FinishedAt == nil || o.Commit != "" {
		b.T.Errorf("%+v", o)
	}
	if now := b.forge.Git("a.git", "", "rev-parse", "main"); now != tip {
		b.T.Errorf("the branch has the commit %s, want %s", now, tip)
	}
	if login, err := b.Store.GitCredentials(b.T.Context(), o.ID); login != "" || err != nil {
		b.T.Errorf("the operation has the credentials %q, %v", login, err)
	}
}

// TestGitOfFormerAuthors takes the right to an operation from its author while the operation waits, while it is queued,
// and while it runs. The operation then fails.
func TestGitOfFormerAuthors(t *testing.T) {
	t.Parallel()
	const reason = "may not import to and export from this space any more"
	for name, loss := range losses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _, request := boundBook(t)
			path := b.author(loss.installed)
			if o := b.sync("export", map[string]any{"force": true}); o.State != schema.GitWaiting {
				t.Fatalf("%+v", o)
			}
			tip := b.forge.Git("a.git", "", "rev-parse", "main")
			loss.take(b, path)
			b.status(request.ID, "archived", 200)
			jobstest.RunAll(t, b.Store)
			b.wantForbidden(schema.GitFailed, reason, tip)
		})
		for _, kind := range []string{"import", "export"} {
			for when, running := range map[string]bool{"queued": false, "running": true} {
				t.Run(name+" "+kind+" "+when, func(t *testing.T) {
					t.Parallel()
					b := newGitBench(t)
					tip := b.commit(gitBook)
					path, head := b.author(loss.installed), b.head()
					b.queue(kind, map[string]any{"force": true})
					take := sync.OnceFunc(func() { loss.take(b, path) })
					if running {
						b.forge.Before = func(http.ResponseWriter, *http.Request) bool {
							take()
							return false
						}
					} else {
						take()
					}
					jobstest.RunAll(t, b.Store)
					b.wantForbidden(schema.GitFailed, reason, tip)
					if now := b.head(); now != head {
						t.Errorf("the space has the revision %s, want %s", now, head)
					}
				})
			}
		}
	}
}

// TestGitOfTransferredSpaces transfers a space after an import failed, while an export waits and another is queued. All
// are cancelled. Their credentials are gone, and a retry of the failed import does nothing.
func TestGitOfTransferredSpaces(t *testing.T) {
	t.Parallel()
	b, _, request := boundBook(t)
	admin, space := b.Ours.Tokens[schema.RoleAdmin], b.Ours.Space.ID
	collection, target := b.Collection(b.Ours, nil), b.Organization(b.Ours)
	b.Exec("update spaces set parent_id = $1 where id = $2", collection, space)
	b.token = admin // who may export from the space in the other organization, too
	failed := b.sync("import", map[string]any{"ref": "refs/heads/none"})
	if held, err := b.Store.GitCredentials(t.Context(), failed.ID); failed.State != schema.GitFailed || held == "" {
		t.Fatalf("%+v, %v", failed, err)
	}
	job := b.failedJobs()[0].ID
	if o := b.sync("export", map[string]any{"force": true}); o.State != schema.GitWaiting {
		t.Fatalf("%+v", o)
	}
	b.queue("export", map[string]any{"force": true})
	tip := b.forge.Git("a.git", "", "rev-parse", "main")
	b.Want(204, "DELETE",
		"/v1/orgs/"+b.Ours.Organization.ID+"/sites/"+b.Ours.Site.ID+"/site-spaces/"+b.SiteSpace(b.Ours), admin, nil)
	b.Want(200, "POST", "/v1/collections/"+collection+"/transfer", admin, map[string]any{"organization": target})
	b.status(request.ID, "archived", 200)
	b.Want(200, "POST", "/v1/orgs/"+target+"/jobs/"+job+"/retry", admin, nil)
	jobstest.RunAll(t, b.Store)
	b.wantForbidden(schema.GitCancelled, "went to another organization", tip)
	if held, err := b.Store.GitCredentials(t.Context(), failed.ID); held != "" || err != nil {
		t.Errorf("the failed import has the credentials %q, %v", held, err)
	}
	const why = "the space went to another organization: ask for it again there; it had failed: "
	if o := b.operations()[2]; o.ID != failed.ID || o.State != schema.GitCancelled || o.Reason != why+failed.Reason ||
		!reflect.DeepEqual(o.FinishedAt, failed.FinishedAt) {
		t.Errorf("%+v, was %+v", o, failed)
	}
	if o := b.operations()[1]; o.State != schema.GitCancelled || o.FinishedAt == nil {
		t.Errorf("%+v", o)
	}
}
