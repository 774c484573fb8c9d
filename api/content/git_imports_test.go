package content_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/jobs/jobstest"
	"github.com/octavo-docs/octavo/schema"
)

// titles returns the titles of all pages of the space, sorted.
func (b *gitBench) titles() []string {
	b.T.Helper()
	var titles []string
	var each func(pages []schema.RevisionPage)
	each = func(pages []schema.RevisionPage) {
		for _, p := range pages {
			titles = append(titles, p.Title)
			each(p.Pages)
		}
	}
	each(
		apitest.Ask[schema.RevisionPages](
			b.Harness,
			schema.RoleAdmin,
			"GET",
			"/v1/spaces/"+b.Ours.Space.ID+"/content/pages",
			nil,
			200,
		).Pages,
	)
	slices.Sort(titles)
	return titles
}

// TestGitImportsOfAnyOrder imports branches and folders one after the other. Before the first import, the space has a
// page.
func TestGitImportsOfAnyOrder(t *testing.T) {
	t.Parallel()
	mainFiles := map[string]string{
		"README.md":        "# Home\n\nOf both.\n",
		"main.md":          "# Main\n\nOf main.\n",
		"guides/README.md": "# Guides\n\nAll.\n",
		"guides/one.md":    "# One\n\nFirst.\n",
	}
	otherFiles := map[string]string{"README.md": "# Home\n\nOf both.\n", "other.md": "# Other\n\nOf the other.\n"}
	titles := map[string][]string{
		"main":   {"Guides", "Home", "Main", "One"},
		"other":  {"Home", "Other"},
		"guides": {"Guides", "One"},
		"all":    {"Guides", "Home", "One", "Other"},
	}
	// A step is a branch, or a folder of the branch main. If the import is not forced, the space then has the pages of
	// the step, the pages outside of the folder, and the pages that were only in the space.
	for name, steps := range map[string]string{
		"a branch":               "main",
		"another branch":         "main other main other",
		"a folder of the branch": "main guides=main main",
		"the root after it":      "guides main guides=main",
		"all of it":              "guides other main guides=main other guides=all main",
	} {
		for _, force := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, force %t", name, force), func(t *testing.T) {
				t.Parallel()
				b := newGitBench(t)
				b.forge.Files("a.git", "main", mainFiles)
				b.forge.Files("a.git", "other", otherFiles)
				b.change(
					map[string]any{
						"operation": "insert_page",
						"title":     "Welcome",
						"document":  map[string]any{"markdown": "Hello."},
					},
				)
				for step := range strings.FieldsSeq(steps) {
					step, left, _ := strings.Cut(step, "=")
					more := map[string]any{"force": force}
					switch step {
					case "guides":
						more["repoProjectDirectory"] = step
					default:
						more["ref"] = "refs/heads/" + step
					}
					b.done("import", more)
					want := slices.Clone(titles[step])
					if !force {
						if want = append(want, "Welcome"); left != "" {
							want = append(want, titles[left]...)
						}
					}
					slices.Sort(want)
					want = slices.Compact(want)
					if diff := cmp.Diff(want, b.titles()); diff != "" {
						t.Errorf("%s: %s", step, diff)
					}
				}
				for _, job := range b.failedJobs() {
					if job.Attempt != 1 {
						t.Errorf("%+v", job)
					}
				}
			})
		}
	}
}

// TestGitFinalFailure changes the database so that the import of a page fails. The failed operation is not retried, and
// the next operation runs at once.
func TestGitFinalFailure(t *testing.T) {
	t.Parallel()
	b := newGitBench(t)
	b.commit(gitBook)
	b.Exec(`alter table git_syncs add constraint broken check (commit_hash = '')`)
	o := b.sync("import", nil)
	failed := b.failedJobs()
	if o.State != schema.GitFailed || len(failed) != 1 || failed[0].Attempt != 1 ||
		strings.Contains(o.Reason, "broken") {
		t.Fatalf("%+v %+v", o, failed)
	}
	b.Exec(`alter table git_syncs drop constraint broken`)
	b.Want(
		http.StatusOK,
		"POST",
		"/v1/orgs/"+b.Ours.Organization.ID+"/jobs/"+failed[0].ID+"/retry",
		b.Ours.Tokens[schema.RoleAdmin],
		nil,
	)
	jobstest.RunAll(t, b.Store)
	if o := b.operations()[0]; o.State != schema.GitDone {
		t.Errorf("%+v", o)
	}
}
