package content_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/remote/outbound/outboundtest"
	"github.com/octavo-docs/octavo/schema"
)

func TestGitOperations(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	creator, reader := h.Ours.Tokens[schema.RoleCreate], h.Ours.Tokens[schema.RoleRead]
	path := "/v1/spaces/" + h.Ours.Space.ID + "/git"
	h.WantError(h.Do("GET", path+"/info", reader, nil), http.StatusNotFound)
	shown := func() any {
		t.Helper()
		return shape.Want(t, shape.Space, h.Do("GET", "/v1/spaces/"+h.Ours.Space.ID, reader, nil).Body)["gitSync"]
	}
	if got := shown(); got != nil {
		t.Errorf("a space without Git shows %v", got)
	}
	for _, call := range [][2]string{
		{"/import", `{"url":"https://me:s3cr3t@git.example/acme/docs.git","ref":"refs/heads/a/b","repoCacheID":"c","repoTreeURL":"https://t","repoCommitURL":"https://c",
			"repoProjectDirectory":"docs","timestamp":"2026-01-02T03:04:05.678+02:00","force":true,"standalone":true,
			"gitInfo":{"provider":"gitlab","url":"https://git.example/acme/docs"}}`},
		{"/export", `{"url":"https://git.example/old.git","ref":"refs/heads/main","commitMessage":"m","timestamp":"2025-01-01T00:00:00Z","gitInfo":null}`},
	} {
		if a := h.Do("POST", path+call[0], creator, call[1]); a.Status != http.StatusNoContent || len(a.Body) != 0 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	// Operations are ordered by their timestamps, and not by the order of the requests.
	a := h.Do("GET", path+"/operations", creator, nil)
	items := shape.Want(t, shape.ListOf(shape.GitOperationShape), a.Body)["items"].([]any)
	first, second := items[0].(map[string]any), items[1].(map[string]any)
	if first["kind"] != "import" || first["timestamp"] != "2026-01-02T01:04:05.678Z" || first["url"] != "https://git.example/acme/docs.git" ||
		first["state"] != "queued" || first["reason"] != nil || second["kind"] != "export" {
		t.Errorf("%s", a.Body)
	}
	// A space with only a queued operation is not synchronized yet.
	h.WantError(h.Do("GET", path+"/info", reader, nil), http.StatusNotFound)
	if got := shown(); got != nil {
		t.Errorf("a space that was never synchronized shows %v", got)
	}
	h.Synchronized(h.Ours.Space.ID)
	info := h.Do("GET", path+"/info", reader, nil)
	got := shape.Want(t, shape.GitSync, info.Body)
	if diff := cmp.Diff(any(got), shown()); diff != "" {
		t.Error(diff)
	}
	delete(got, "updatedAt")
	want := map[string]any{"repoName": "acme/docs", "installationProvider": "gitlab", "url": "https://git.example/acme/docs"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// Only the sealed column contains the password. The job can read it.
	credentials, err := h.Store.GitCredentials(t.Context(), first["id"].(string))
	if err != nil || credentials != "me:s3cr3t" {
		t.Errorf("%q %v", credentials, err)
	}
	none, err := h.Store.GitCredentials(t.Context(), second["id"].(string))
	if err != nil || none != "" {
		t.Errorf("%q %v", none, err)
	}
	h.Exec(`do $$ begin assert not exists (select 1 from git_operations o where o::text like '%s3cr3t%'
		or encode(credentials, 'escape') like '%s3cr3t%'), 'a password is in clear'; end $$`)
	if strings.Contains(h.Log.String()+string(a.Body)+string(info.Body), "s3cr3t") {
		t.Error("a password is in the log or in an answer")
	}
	if a := h.Do("DELETE", path+"/legacy-installation", h.Ours.Tokens[schema.RoleAdmin], nil); a.Status != http.StatusNoContent {
		t.Errorf("%d", a.Status)
	}
}

// TestGitOperationsInParallel queues operations concurrently. They have only a few different timestamps. The pages of
// the list contain each operation once, in order.
func TestGitOperationsInParallel(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	path := "/v1/spaces/" + h.Ours.Space.ID + "/git"
	var wait sync.WaitGroup
	for i := range 14 {
		wait.Go(func() {
			body := fmt.Sprintf(`{"url":"https://git.example/%d","ref":"refs/heads/main","timestamp":"2026-01-0%dT00:00:00Z"}`, i, i%3+1)
			if a := h.Do("POST", path+"/import", h.Ours.Tokens[schema.RoleAdmin], body); a.Status != http.StatusNoContent {
				t.Errorf("%d %s", a.Status, a.Body)
			}
		})
	}
	wait.Wait()
	seen := map[string]bool{}
	last := "9999"
	for page := ""; ; {
		var got schema.List[schema.GitOperation]
		a := h.Do("GET", path+"/operations?limit=4&page="+page, h.Ours.Tokens[schema.RoleAdmin], nil)
		if err := json.Unmarshal(a.Body, &got); err != nil || a.Status != 200 || got.Count != 14 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		for _, o := range got.Items {
			key := o.Timestamp.Format("2006-01-02") + o.ID
			if seen[o.ID] || key >= last {
				t.Errorf("%s after %s", key, last)
			}
			seen[o.ID], last = true, key
		}
		if got.Next == nil {
			break
		}
		page = got.Next.Page
	}
	if len(seen) != 14 {
		t.Errorf("%d operations", len(seen))
	}
	h.WantError(h.Do("GET", path+"/operations?page="+schema.PageToken("git operations "+h.Ours.Space.ID, "x", "y"), h.Ours.Tokens[schema.RoleAdmin], nil),
		http.StatusBadRequest)
}

func TestBadGit(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin := h.Ours.Tokens[schema.RoleAdmin]
	path := "/v1/spaces/" + h.Ours.Space.ID + "/git"
	before := h.Rows()
	for _, test := range []struct{ member, field string }{
		{`"url":null`, "url"}, {`"url":"git.example/a"`, "url"}, {`"url":"ssh://git@git.example/a"`, "url"}, {`"url":"file:///etc/passwd"`, "url"},
		{`"url":"http://127.0.0.1/a"`, "url"}, {`"url":"http://0x7f.1/a"`, "url"}, {`"url":"https://me:x@[::1]:8443/a"`, "url"}, {`"url":"http://localhost:80"`, "url"},
		{`"url":"http://169.254.169.254/"`, "url"}, {`"url":"http://metadata.google.internal/"`, "url"}, {`"url":"http://10.0.0.1/"`, "url"},
		{`"url":"https://git.example:22/a"`, "url"}, {`"url":"http://0x08080808/a"`, "url"},
		{`"repoTreeURL":"javascript:alert(1)"`, "repoTreeURL"}, {`"repoCommitURL":"data:text/html,x"`, "repoCommitURL"},
		{`"url":"https://a.example/` + strings.Repeat("a", 2048) + `"`, "url"},
		{`"ref":null`, "ref"}, {`"ref":"main"`, "ref"}, {`"ref":"refs/tags/v1"`, "ref"}, {`"ref":"refs/heads/"`, "ref"}, {`"ref":"refs/heads/a..b"`, "ref"},
		{`"ref":"refs/heads/-x y"`, "ref"}, {`"ref":"refs/heads/a//b"`, "ref"}, {`"ref":"refs/heads/.a"`, "ref"}, {`"ref":"refs/heads/a.lock"`, "ref"},
		{`"ref":"refs/heads/a\n"`, "ref"}, {`"ref":"refs/heads/@{1}"`, "ref"},
		{`"timestamp":"yesterday"`, "timestamp"}, {`"timestamp":5`, "timestamp"}, {`"timestamp":"0000-01-01T00:00:00Z"`, "timestamp"},
		{`"timestamp":"9999-12-31T23:59:59-12:00"`, "timestamp"}, {`"timestamp":"0001-01-01T00:00:00+12:00"`, "timestamp"},
		{`"force":"yes"`, "force"}, {`"gitInfo":{"provider":"github-legacy"}`, "gitInfo.provider"}, {`"gitInfo":{"url":"x"}`, "gitInfo.url"},
		{`"gitInfo":{"url":"https://me:pass@a.example"}`, "gitInfo.url"}, {`"repoCacheID":"a\u0000"`, "repoCacheID"},
	} {
		for _, operation := range []string{"/import", "/export"} {
			body := map[string]any{"url": "https://git.example/a", "ref": "refs/heads/main", "commitMessage": "m"}
			if err := json.Unmarshal([]byte("{"+test.member+"}"), &body); err != nil {
				t.Fatal(err)
			}
			e := h.WantError(h.Do("POST", path+operation, admin, body), http.StatusBadRequest)
			if len(e.Details) == 0 || e.Details[0].Field != test.field {
				t.Errorf("%s %s: %+v, want %s", operation, test.member, e.Details, test.field)
			}
		}
	}
	e := h.WantError(h.Do("POST", path+"/export", admin, apitest.ImportBody), http.StatusBadRequest)
	if e.Details[0].Field != "commitMessage" {
		t.Errorf("%+v", e)
	}
	if diff := cmp.Diff(before, h.Rows()); diff != "" {
		t.Errorf("something was stored: %s", diff)
	}
}

// TestOpenedGitHosts uses hosts in the operator's network. The operator has allowed them (OCTAVO_OUTBOUND_ALLOW).
func TestOpenedGitHosts(t *testing.T) {
	t.Parallel()
	opened := outboundtest.Policy(t, "10.1.0.0/16", "git.internal")
	h := apitest.New(t, func(_ *frame.Config, d *api.Deps) { d.Outbound = opened })
	for url, status := range map[string]int{
		"http://10.1.2.3:3000/a": http.StatusNoContent, "https://git.internal/a": http.StatusNoContent,
		"http://10.2.2.3/a": http.StatusBadRequest, "http://169.254.169.254/": http.StatusBadRequest,
	} {
		body := map[string]any{"url": url, "ref": "refs/heads/main"}
		if a := h.Do("POST", "/v1/spaces/"+h.Ours.Space.ID+"/git/import", h.Ours.Tokens[schema.RoleAdmin], body); a.Status != status {
			t.Errorf("%s: %d %s", url, a.Status, a.Body)
		}
	}
}
