package content_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/jobs"
	"github.com/octavo-docs/octavo/api/jobs/jobstest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
)

// runJobs runs jobs until the test ends. After a failure, a job waits for an hour.
func (b *gitBench) runJobs() {
	b.T.Helper()
	jobstest.Start(b.T, b.Store, func(cfg *jobs.Config) { cfg.Pause = func(int) time.Duration { return time.Hour } })
}

// becomes waits until the operation at an index of the list has a state.
func (b *gitBench) becomes(at int, state string) (o schema.GitOperation) {
	b.T.Helper()
	eventually.True(b.T, "operation is "+state, func() bool {
		o = b.operations()[at]
		return o.State == state
	})
	return o
}

func (b *gitBench) cancel(id string, want int) (o schema.GitOperation) {
	b.T.Helper()
	path := "/v1/spaces/" + b.Ours.Space.ID + "/git/operations/" + id + "/cancel"
	if want != http.StatusOK {
		b.WantError(b.Do("POST", path, b.token, nil), want)
		return o
	}
	return apitest.Ask[schema.GitOperation](b.Harness, schema.RoleCreate, "POST", path, nil, http.StatusOK)
}

// TestGitQueueAfterFailures checks that a failed operation does not block the next operation.
func TestGitQueueAfterFailures(t *testing.T) {
	t.Parallel()
	nobody := "http://" + enginetest.Address(t) + "/a.git"
	for name, c := range map[string]struct {
		kind string
		more map[string]any
		// passing is true if the cause of the failure may pass, so that another attempt may succeed.
		passing bool
	}{
		"nobody listens":           {"import", map[string]any{"url": nobody}, false},
		"nobody listens, export":   {"export", map[string]any{"url": nobody}, false},
		"no repository":            {"import", map[string]any{"url": "none.git"}, false},
		"no branch":                {"import", map[string]any{"ref": "refs/heads/none"}, false},
		"the server fails":         {"import", map[string]any{"url": "broken.git"}, true},
		"the server fails, export": {"export", map[string]any{"url": "broken.git"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newGitBench(t)
			b.commit(handbook)
			b.forge.Before = func(w http.ResponseWriter, r *http.Request) bool {
				if strings.HasPrefix(r.URL.Path, "/broken.git") {
					w.WriteHeader(http.StatusBadGateway)
					return true
				}
				return false
			}
			if url, ok := c.more["url"].(string); ok && !strings.Contains(url, "://") {
				c.more["url"] = b.forge.HTTP.URL + "/" + url
			}
			b.queue(c.kind, c.more)
			b.queue("import", nil)
			b.runJobs()
			b.becomes(0, schema.GitDone)
			want := schema.GitProgress{Step: schema.GitPages, Done: 3, Total: 3}
			eventually.True(t, "the numbers of a done operation", func() bool {
				o := b.operations()[0]
				return o.Progress != nil && *o.Progress == want
			})
			if !c.passing {
				if o := b.becomes(1, schema.GitFailed); o.Reason == "" || o.NextAttemptAt != nil {
					t.Errorf("%+v", o)
				}
				if failed := b.failedJobs(); len(failed) != 1 || failed[0].Attempt != 1 {
					t.Errorf("%+v", failed)
				}
				return
			}
			o := b.becomes(1, schema.GitRetrying)
			if o.NextAttemptAt == nil || time.Until(*o.NextAttemptAt) < 50*time.Minute || o.FinishedAt != nil ||
				!strings.Contains(o.Reason, "the server failed") {
				t.Errorf("%+v", o)
			}
			b.retryAll(schema.JobRetrying)
			if c.kind == "export" { // there is no newer export to that branch
				eventually.True(t, "another attempt", func() bool { return b.jobs("")[0].Attempt > 0 })
				b.becomes(1, schema.GitRetrying)
				return
			}
			if o := b.becomes(1, schema.GitSuperseded); !strings.Contains(o.Reason, "the server failed") ||
				o.FinishedAt == nil {
				t.Errorf("%+v", o)
			}
		})
	}
}

// jobs returns the organization's jobs for Git in a state. If `state` is "", it returns all such jobs.
func (b *gitBench) jobs(state schema.JobState) []schema.Job {
	b.T.Helper()
	path := "/v1/orgs/" + b.Ours.Organization.ID + "/jobs?kind=sync_git"
	if state != "" {
		path += "&state=" + string(state)
	}
	return apitest.Ask[schema.List[schema.Job]](b.Harness, schema.RoleAdmin, "GET", path, nil, 200).Items
}

func (b *gitBench) retryAll(state schema.JobState) {
	b.T.Helper()
	list := b.jobs(state)
	if len(list) == 0 {
		b.T.Fatalf("no job is %s", state)
	}
	for _, job := range list {
		b.Want(http.StatusOK, "POST", "/v1/orgs/"+b.Ours.Organization.ID+"/jobs/"+job.ID+"/retry",
			b.Ours.Tokens[schema.RoleAdmin], nil)
	}
}

// TestGitCancel cancels operations in every unfinished state. Finished operations cannot be cancelled.
func TestGitCancel(t *testing.T) {
	t.Parallel()
	b := newGitBench(t)
	b.commit(handbook)
	reached, release := make(chan struct{}, 100), make(chan struct{})
	b.forge.Repository("slow.git")
	b.forge.Files("slow.git", "main", handbook)
	b.forge.Before = func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case strings.HasPrefix(r.URL.Path, "/broken.git"):
			w.WriteHeader(http.StatusBadGateway)
			return true
		case strings.HasPrefix(r.URL.Path, "/slow.git"):
			reached <- struct{}{}
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}
		return false
	}
	defer close(release)
	// A queued operation that is cancelled never runs.
	b.queue("import", nil)
	queued := b.operations()[0].ID
	for _, role := range []schema.Role{schema.RoleRead, schema.RoleEdit} {
		b.WantError(b.Do("POST", "/v1/spaces/"+b.Ours.Space.ID+"/git/operations/"+queued+"/cancel",
			b.Ours.Tokens[role], nil), http.StatusForbidden)
	}
	b.WantError(b.Do("POST", "/v1/spaces/"+b.Theirs.Space.ID+"/git/operations/"+queued+"/cancel",
		b.Theirs.Tokens[schema.RoleAdmin], nil), http.StatusNotFound)
	b.cancel("nothing", http.StatusNotFound)
	if o := b.cancel(queued, http.StatusOK); o.State != schema.GitCancelled || o.FinishedAt == nil {
		t.Errorf("%+v", o)
	}
	b.cancel(queued, http.StatusOK)
	b.runJobs()
	// An operation that is cancelled between two attempts is not retried.
	b.queue("import", map[string]any{"url": b.forge.HTTP.URL + "/broken.git"})
	b.becomes(0, schema.GitRetrying)
	b.cancel(b.operations()[0].ID, http.StatusOK)
	if list := b.jobs(schema.JobRetrying); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	// If a running operation is cancelled, it ends, and the next operation begins.
	b.queue("import", map[string]any{"url": b.forge.HTTP.URL + "/slow.git"})
	<-reached
	b.becomes(0, schema.GitRunning)
	b.queue("import", nil)
	b.cancel(b.operations()[1].ID, http.StatusOK)
	done := b.becomes(0, schema.GitDone)
	if o := b.operations()[1]; o.State != schema.GitCancelled {
		t.Errorf("%+v", o)
	}
	b.cancel(done.ID, http.StatusConflict)
	if o := b.operations()[3]; o.ID != queued || o.State != schema.GitCancelled {
		t.Errorf("%+v", o)
	}
	b.has("after all", handbookTexts(nil))
	b.Exec(`do $$ begin assert not exists (select 1 from git_operations where credentials is not null), 'kept'; end $$`)
}

// TestGitCancelAfterAnAttempt cancels an operation between two attempts. At this time, River has not yet recorded the
// end of the last attempt. The job is not retried. If an attempt is running, River does not cancel it, because it may
// be pushing.
func TestGitCancelAfterAnAttempt(t *testing.T) {
	t.Parallel()
	for state, marked := range map[string]bool{schema.GitRetrying: true, schema.GitRunning: false} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			b := newGitBench(t)
			b.commit(handbook)
			b.queue("import", nil)
			b.Exec(`update git_operations set state = '` + state + `'; update river_job set state = 'running'`)
			b.cancel(b.operations()[0].ID, http.StatusOK)
			b.Exec(fmt.Sprintf(`do $$ begin assert (select metadata ? 'cancel_attempted_at' and state = 'running'
				from river_job) = %t, 'the job is marked otherwise'; end $$`, marked))
		})
	}
}

// TestGitHookWords checks that the text of a hook which refuses a push is shown. It is one line and does not contain
// the login.
func TestGitHookWords(t *testing.T) {
	t.Parallel()
	b := newGitBench(t)
	b.commit(handbook)
	b.done("import", nil)
	hook := "#!/bin/sh\necho 'Protected branch: ask ann.' >&2\necho 'not https://you:s3cr3t@git.example, s3cr3t' " +
		">&2\n" +
		"i=0; while [ $i -lt 500 ]; do echo 'and so on and so on' >&2; i=$((i+1)); done\nexit 1\n"
	if err := os.WriteFile(filepath.Join(b.forge.Root, "a.git/hooks/pre-receive"), []byte(hook), 0o700); err != nil {
		t.Fatal(err)
	}
	b.edit("guide", "First words.", "Edited.")
	o := b.sync("export", nil)
	if o.State != schema.GitFailed ||
		!strings.Contains(o.Reason, "declined: Protected branch: ask ann. not https://…@git.example, …") ||
		strings.ContainsAny(o.Reason, "\n\r") || len(o.Reason) > 1000 ||
		strings.Contains(o.Reason+b.Log.String(), "s3cr3t") {
		t.Errorf("%q", o.Reason)
	}
	if failed := b.failedJobs(); len(failed) != 1 || failed[0].Attempt != 1 {
		t.Errorf("%+v", failed)
	}
}
