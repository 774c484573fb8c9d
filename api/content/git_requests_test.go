package content_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/jobs/jobstest"
	"github.com/octavo-docs/octavo/schema"
)

// bind gives the space merge rules that only its admin may bypass. From then on, a user with the role create requests
// the imports.
func (b *gitBench) bind() {
	b.T.Helper()
	b.settle(map[string]any{"mergeRules": map[string]any{"type": "rules", "rules": []any{
		map[string]any{"rule": "require_at_least_one_approved_review"},
		map[string]any{"rule": "allow_bypass", "users": []string{b.Ours.Users[schema.RoleAdmin].ID}},
	}}})
	b.token = b.Ours.Tokens[schema.RoleCreate]
}

func (b *gitBench) settle(settings map[string]any) schema.Space {
	b.T.Helper()
	return apitest.Ask[schema.Space](b.Harness, schema.RoleAdmin, "PATCH", "/v1/spaces/"+b.Ours.Space.ID, settings, 200)
}

func (b *gitBench) head() string {
	b.T.Helper()
	return apitest.Ask[schema.Space](
		b.Harness,
		schema.RoleAdmin,
		"GET",
		"/v1/spaces/"+b.Ours.Space.ID,
		nil,
		200,
	).Revision
}

func (b *gitBench) request(id string) schema.ChangeRequest {
	b.T.Helper()
	return apitest.Ask[schema.ChangeRequest](b.Harness, schema.RoleAdmin, "GET", b.RequestPath(id), nil, 200)
}

func (b *gitBench) requests(status string) []schema.ChangeRequest {
	b.T.Helper()
	return apitest.Ask[schema.List[schema.ChangeRequest]](
		b.Harness,
		schema.RoleAdmin,
		"GET",
		"/v1/spaces/"+b.Ours.Space.ID+"/change-requests?status="+status,
		nil,
		200,
	).Items
}

// status changes the status of a change request. The HTTP status of the response must be `want`.
func (b *gitBench) status(id, status string, want int) {
	b.T.Helper()
	b.Want(want, "PATCH", b.RequestPath(id), b.Ours.Tokens[schema.RoleAdmin], map[string]any{"status": status})
}

func (b *gitBench) merged(id string) {
	b.T.Helper()
	if result := b.MergeNow(id); result.Result != "merge" {
		b.T.Fatalf("%+v: %v", result, conflictList(b.Harness, id, ""))
	}
}

// proposed runs an import. It returns the change request that the import has created or updated. It checks that the
// space is unchanged.
func (b *gitBench) proposed(more map[string]any) (schema.ChangeRequest, schema.GitOperation) {
	b.T.Helper()
	head := b.head()
	o := b.done("import", more)
	if o.ChangeRequest == "" || b.head() != head {
		b.T.Fatalf("the import changed the space: %+v", o)
	}
	request := b.request(o.ChangeRequest)
	if request.Status != "open" || request.Revision != o.Revision || len(b.requests("open")) != 1 {
		b.T.Fatalf("%+v %+v", request, o)
	}
	return request, o
}

// TestGitImportsFollowMergeRules requests imports under all kinds of merge rules. The rules apply to some of the users,
// and other users may bypass them.
func TestGitImportsFollowMergeRules(t *testing.T) {
	t.Parallel()
	review := map[string]any{
		"type":  "rules",
		"rules": []any{map[string]any{"rule": "require_at_least_one_approved_review"}},
	}
	bypass := func(b *gitBench, role schema.Role) map[string]any {
		return map[string]any{"type": "rules", "rules": []any{
			map[string]any{"rule": "require_specific_reviewers", "users": []string{b.Ours.Users[schema.RoleAdmin].ID}},
			map[string]any{"rule": "allow_bypass", "users": []string{b.Ours.Users[role].ID}},
		}}
	}
	trust := func(b *gitBench, ref, folder string) map[string]any {
		branch := map[string]any{"url": b.forge.HTTP.URL + "/a.git", "ref": ref}
		if folder != "" {
			branch["repoProjectDirectory"] = folder
		}
		return map[string]any{"mergeRules": review, "gitTrusted": []any{branch}}
	}
	rules := func(rules map[string]any) func(*gitBench) {
		return func(b *gitBench) { b.settle(map[string]any{"mergeRules": rules}) }
	}
	for name, c := range map[string]struct {
		prepare   func(b *gitBench)
		more      map[string]any
		bound     bool
		allowedBy string
	}{
		"no rules":       {func(*gitBench) {}, nil, false, ""},
		"rules":          {rules(review), nil, true, ""},
		"rules by force": {rules(review), map[string]any{"force": true}, true, ""},
		"an admin": {func(b *gitBench) {
			rules(review)(b)
			b.token = b.Ours.Tokens[schema.RoleAdmin]
		}, nil, true, ""},
		"of the organization": {func(b *gitBench) {
			b.Want(200, "PATCH", "/v1/orgs/"+b.Ours.Organization.ID, b.Ours.Tokens[schema.RoleAdmin],
				map[string]any{"mergeRules": review})
		}, nil, true, ""},
		"of the organization, not of the space": {func(b *gitBench) {
			b.Want(200, "PATCH", "/v1/orgs/"+b.Ours.Organization.ID, b.Ours.Tokens[schema.RoleAdmin],
				map[string]any{"mergeRules": review})
			rules(map[string]any{"type": "none"})(b)
		}, nil, false, ""},
		"locked": {func(b *gitBench) { b.settle(map[string]any{"editMode": "locked"}) }, nil, true, ""},
		"locked, who may bypass": {func(b *gitBench) {
			b.settle(map[string]any{"editMode": "locked", "mergeRules": bypass(b, schema.RoleCreate)})
		}, nil, false, "bypass"},
		"who may bypass":     {func(b *gitBench) { rules(bypass(b, schema.RoleCreate))(b) }, nil, false, "bypass"},
		"another may bypass": {func(b *gitBench) { rules(bypass(b, schema.RoleAdmin))(b) }, nil, true, ""},
		"standalone":         {rules(review), map[string]any{"standalone": true}, false, ""},
		"trusted":            {func(b *gitBench) { b.settle(trust(b, "refs/heads/main", "")) }, nil, false, "trusted"},
		"another branch":     {func(b *gitBench) { b.settle(trust(b, "refs/heads/other", "")) }, nil, true, ""},
		"trusted, any folder": {func(b *gitBench) { b.settle(trust(b, "refs/heads/main", "")) },
			map[string]any{"repoProjectDirectory": "guide"}, false, "trusted"},
		"trusted folder": {func(b *gitBench) { b.settle(trust(b, "refs/heads/main", "/guide/")) },
			map[string]any{"repoProjectDirectory": "guide"}, false, "trusted"},
		"another folder": {func(b *gitBench) { b.settle(trust(b, "refs/heads/main", "guide")) }, nil, true, ""},
		"no longer trusted": {func(b *gitBench) {
			b.settle(trust(b, "refs/heads/main", ""))
			b.settle(map[string]any{"gitTrusted": []any{}})
		}, nil, true, ""},
		"an installation": {func(b *gitBench) {
			rules(bypass(b, schema.RoleCreate))(b)
			b.token = b.InstallationToken(b.Ours, b.Installed(b.Ours, "i-"+schema.NewID(), schema.ScopeSpaceGitSync))
		}, nil, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newGitBench(t)
			commit := b.commit(gitBook)
			b.token = b.Ours.Tokens[schema.RoleCreate]
			c.prepare(b)
			head := b.head()
			o := b.done("import", c.more)
			if o.AllowedBy != c.allowedBy || (o.ChangeRequest != "") != c.bound {
				t.Errorf("%+v", o)
			}
			b.Exec(
				`do $$ begin assert (select count(*) from audit_log where object_type = 'git-operation'
				and action = 'update' and after ->> 'state' = 'done'
				and coalesce(after ->> 'allowedBy', '') = '` + c.allowedBy + `'
				and (after ? 'changeRequestId') = ` + fmt.Sprint(c.bound) + `) = 1, 'no audit entry'; end $$`,
			)
			if !c.bound {
				if (b.head() != head) != (c.more["standalone"] == nil) || len(b.requests("open")) != 0 {
					t.Errorf("%+v", o)
				}
				return
			}
			if b.head() != head {
				t.Error("the space has changed")
			}
			request := b.request(o.ChangeRequest)
			if !strings.Contains(request.Subject, "a") || !strings.Contains(request.Subject, "main") ||
				!strings.Contains(request.Subject, commit[:12]) ||
				request.Status != "open" {
				t.Errorf("%+v", request)
			}
			if name != "an installation" && name != "an admin" &&
				request.CreatedBy.ID != b.Ours.Users[schema.RoleCreate].ID {
				t.Errorf("the author is %+v", request.CreatedBy)
			}
			pages := apitest.Ask[schema.RevisionPages](
				b.Harness,
				schema.RoleRead,
				"GET",
				b.RequestPath(request.ID)+"/content/pages",
				nil,
				200,
			).Pages
			if len(pages) == 0 {
				t.Error("the request has no pages")
			}
			if len(o.Notes) == 0 ||
				!strings.Contains(
					o.Notes[len(o.Notes)-1].Text,
					fmt.Sprintf("opened the change request %d", request.Number),
				) {
				t.Errorf("%+v", o.Notes)
			}
		})
	}
}

// boundBook imports a book into a space with merge rules that apply to the importer. It returns the files of the book
// and the change request.
func boundBook(t *testing.T) (*gitBench, map[string]string, schema.ChangeRequest) {
	t.Helper()
	b := newGitBench(t)
	b.bind()
	files := maps.Clone(gitBook)
	b.commit(files)
	request, _ := b.proposed(nil)
	return b, files, request
}

// TestGitRequestIsOne checks that each import updates the change request of its branch until the request is closed. An
// import without changes opens no request.
func TestGitRequestIsOne(t *testing.T) {
	t.Parallel()
	b, files, first := boundBook(t)
	if again, _ := b.proposed(nil); again.ID != first.ID || again.Revision != first.Revision {
		t.Errorf("an import without changes: %+v", again)
	}
	files["last.md"] = "# Last\n\nThe end of Git.\n"
	files["new.md"] = "# New\n\nWords.\n"
	files["SUMMARY.md"] += "* [New](new.md)\n"
	second := b.commit(files)
	request, o := b.proposed(nil)
	if request.ID != first.ID || request.Revision == first.Revision ||
		!strings.Contains(request.Subject, second[:12]) ||
		o.Commit != second {
		t.Errorf("%+v %+v", request, o)
	}
	b.merged(request.ID)
	if *b.page("more/last").Markdown != "The end of Git." || b.page("more/new").Title != "New" {
		t.Error("the merge left something out")
	}
	content := apitest.Ask[schema.Revision](
		b.Harness,
		schema.RoleRead,
		"GET",
		"/v1/spaces/"+b.Ours.Space.ID+"/content",
		nil,
		200,
	)
	if len(content.Files) != 1 || content.Files[0].Name != "pic.png" {
		t.Errorf("%+v", content.Files)
	}
	// If a commit changes no page, reviewers have nothing to review.
	for _, step := range []func(){func() {}, func() { files["tools/script.sh"] = "echo ho\n"; b.commit(files) }} {
		step()
		head := b.head()
		if o := b.done("import", nil); o.ChangeRequest != "" || b.head() != head || len(b.requests("open")) != 0 {
			t.Errorf("an import without changes: %+v", o)
		}
	}
	if o := b.done("export", nil); o.Commit != b.forge.Git("a.git", "", "rev-parse", "main") ||
		b.files()["tools/script.sh"] != "echo ho\n" {
		t.Errorf("%+v", o)
	}
	files["last.md"] = "# Last\n\nThe third end.\n"
	delete(files, ".gitbook/assets/pic.png")
	files["README.md"] = strings.Replace(files["README.md"], "![pic](.gitbook/assets/pic.png)\n", "No picture.\n", 1)
	b.commit(files)
	next, _ := b.proposed(nil)
	if next.ID == first.ID {
		t.Error("a merged request was updated")
	}
	b.merged(next.ID)
	content = apitest.Ask[schema.Revision](
		b.Harness,
		schema.RoleRead,
		"GET",
		"/v1/spaces/"+b.Ours.Space.ID+"/content",
		nil,
		200,
	)
	if *b.page("more/last").Markdown != "The third end." || len(content.Files) != 0 {
		t.Errorf("%+v", content.Files)
	}
	// Each branch and each folder has its own request.
	b.forge.Files("a.git", "other", map[string]string{"README.md": "# Home\n\nOther.\n", "docs/README.md": "# Docs\n"})
	one := b.done("import", map[string]any{"ref": "refs/heads/other"})
	two := b.done("import", map[string]any{"ref": "refs/heads/other", "repoProjectDirectory": "docs"})
	if one.ChangeRequest == "" || two.ChangeRequest == "" || one.ChangeRequest == two.ChangeRequest ||
		len(b.requests("open")) != 2 {
		t.Errorf("%+v %+v", one, two)
	}
}

// TestGitRequestIsArchived archives the request of an import. The next import opens another request. Only one of these
// two requests can be open at a time.
func TestGitRequestIsArchived(t *testing.T) {
	t.Parallel()
	b, files, first := boundBook(t)
	b.status(first.ID, "archived", 200)
	b.status(first.ID, "open", 200)
	if again, _ := b.proposed(nil); again.ID != first.ID {
		t.Error("a request that is open again is not updated")
	}
	b.status(first.ID, "archived", 200)
	second, _ := b.proposed(nil)
	if second.ID == first.ID {
		t.Fatal("an archived request was updated")
	}
	b.status(first.ID, "open", 409)
	b.merged(second.ID)
	b.status(first.ID, "draft", 409)
	if got := b.titles(); len(got) != 5 {
		t.Errorf("%q", got)
	}
	// No user has edited the open request. So if an import bypasses the rules, it includes the request's changes.
	files["last.md"] = "# Last\n\nThe second end.\n"
	b.commit(files)
	third, _ := b.proposed(nil)
	admin := b.Ours.Tokens[schema.RoleAdmin]
	b.ChangeContent(schema.RoleEdit, third.ID, `{"operation":"insert_page","title":"By hand"}`)
	b.token = admin
	if o := b.sync("import", nil); o.State != schema.GitFailed ||
		!strings.Contains(o.Reason, fmt.Sprintf("change request %d", third.Number)) {
		t.Errorf("%+v", o)
	}
	if b.request(third.ID).Status != "open" {
		t.Error("an edited request was put aside")
	}
	o := b.done("import", map[string]any{"force": true})
	if b.request(third.ID).Status != "archived" || *b.page("more/last").Markdown != "The second end." ||
		o.AllowedBy != "bypass" ||
		len(b.requests("open")) != 0 {
		t.Errorf("%+v", o)
	}
	b.status(third.ID, "open", 409)
}

// TestGitRequestMeetsEdits edits the space, the request and the branch. The edits are merged, and a user resolves the
// conflicts.
func TestGitRequestMeetsEdits(t *testing.T) {
	t.Parallel()
	b := newGitBench(t)
	files := maps.Clone(gitBook)
	b.commit(files)
	b.done("import", nil)
	b.bind()
	files["guide/README.md"] = strings.Replace(
		files["guide/README.md"],
		"Second   words stay",
		"Second words of Git",
		1,
	)
	files["last.md"] = "# Last\n\nThe end of Git.\n"
	b.commit(files)
	b.edit("guide", "First words.", "First words of us.")
	b.edit("more/last", "The end.", "The end of us.")
	request, _ := b.proposed(nil)
	if result := b.MergeNow(request.ID); result.Result != "conflicts" {
		t.Fatalf("%+v", result)
	}
	list := conflictList(b.Harness, request.ID, "")
	if len(list) != 1 {
		t.Fatalf("%+v", list)
	}
	b.Want(
		200,
		"POST",
		b.RequestPath(request.ID)+"/conflicts/"+list[0]["id"].(string),
		b.Ours.Tokens[schema.RoleAdmin],
		map[string]any{"take": "ours"},
	)
	b.Want(200, "POST", b.RequestPath(request.ID)+"/update", b.Ours.Tokens[schema.RoleAdmin], nil)
	b.ChangeContent(
		schema.RoleEdit,
		request.ID,
		fmt.Sprintf(
			`{"operation":"update_page","page":%q,"document":{"markdown":"Run it as the reviewer says.\n\n1) `+
				`one\n2) two"}}`,
			b.page("guide/setup").ID,
		),
	)
	// Git changes another part of the page. The request then has both changes.
	files["README.md"] = strings.Replace(files["README.md"], "*  list", "*  longer list", 1)
	b.commit(files)
	b.proposed(nil)
	// Git changes a page that a user has changed in the request. No edit is lost. The reason names the request and the
	// page.
	files["guide/setup.md"] = strings.Replace(files["guide/setup.md"], "Run it.", "Run it twice.", 1)
	b.commit(files)
	if o := b.sync("import", nil); o.State != schema.GitFailed ||
		!strings.Contains(o.Reason, fmt.Sprintf("the change request %d and the repository", request.Number)) ||
		!strings.Contains(o.Reason, `"Setup"`) {
		t.Errorf("%+v", o)
	}
	files["guide/setup.md"] = strings.Replace(
		files["guide/setup.md"],
		"Run it twice.",
		"Run it as the reviewer says.",
		1,
	)
	b.commit(files)
	b.proposed(nil)
	b.merged(request.ID)
	b.done("export", nil)
	want := maps.Clone(files)
	want["guide/README.md"] = strings.Replace(want["guide/README.md"], "First words.", "First words of us.", 1)
	for path, text := range b.files() {
		if want[path] != text {
			t.Errorf("%s is %q instead of %q", path, text, want[path])
		}
	}
	// With force, the request has exactly the pages of Git.
	b.edit("more/last", "The end of Git.", "The end of us again.")
	files["last.md"], files["guide/README.md"] = "# Last\n\nForced.\n", want["guide/README.md"]
	b.commit(files)
	forced, _ := b.proposed(map[string]any{"force": true})
	b.ChangeContent(schema.RoleEdit, forced.ID, `{"operation":"insert_page","title":"By hand"}`)
	if again, _ := b.proposed(map[string]any{"force": true}); again.ID != forced.ID {
		t.Error("force opened another request")
	}
	b.merged(forced.ID)
	if *b.page("more/last").Markdown != "Forced." || slices.Contains(b.titles(), "By hand") {
		t.Errorf("%q", b.titles())
	}
}

// TestGitExportsWait exports to a branch. An open change request contains an import of the same branch. The export
// waits until the request is closed, and its state shows this. Other exports run.
func TestGitExportsWait(t *testing.T) {
	t.Parallel()
	b, _, request := boundBook(t)
	for _, force := range []bool{false, true} {
		o := b.sync("export", map[string]any{"force": force})
		if o.State != "waiting" || o.ChangeRequest != request.ID ||
			!strings.Contains(o.Reason, fmt.Sprintf("change request %d", request.Number)) ||
			o.FinishedAt != nil {
			t.Errorf("%+v", o)
		}
	}
	b.insertInto(request.ID)
	b.done("export", map[string]any{"ref": "refs/heads/elsewhere"})
	b.operations()
	b.merged(request.ID)
	for _, o := range b.operations()[1:3] {
		if o.State != "queued" || o.ChangeRequest != "" {
			t.Errorf("%+v", o)
		}
	}
	first, second := b.operations()[2], b.operations()[1]
	if first.WaitsFor != "" || second.WaitsFor != first.ID || !strings.Contains(second.Reason, first.ID) {
		t.Errorf("%+v %+v", first, second)
	}
	jobstest.RunAll(t, b.Store)
	// A later export to another branch does not replace the earlier exports.
	if got := b.operations(); got[2].State != schema.GitDone || got[1].State != schema.GitDone ||
		got[1].Commit != b.forge.Git("a.git", "", "rev-parse", "main") {
		t.Errorf("%+v %+v", got[2], got[1])
	}
	files := b.files()
	files["last.md"] = "# Last\n\nThe second end.\n"
	b.commit(files)
	request, _ = b.proposed(nil)
	if o := b.sync("export", nil); o.State != "waiting" {
		t.Errorf("%+v", o)
	}
	b.merged(request.ID)
	jobstest.RunAll(t, b.Store)
	if o := b.operations()[0]; o.State != schema.GitDone || b.files()["guide/setup/by-hand.md"] == "" ||
		b.files()["last.md"] != files["last.md"] {
		t.Errorf("%+v %q", o, b.files())
	}
	// After the request is archived, the branch still has commits that the space does not have. The export reports
	// this.
	b.commit(files)
	files["last.md"] = "# Last\n\nThe third end.\n"
	b.commit(files)
	request, _ = b.proposed(nil)
	b.queue("export", nil)
	jobstest.RunAll(t, b.Store)
	b.status(request.ID, "archived", 200)
	jobstest.RunAll(t, b.Store)
	if o := b.operations()[0]; o.State != schema.GitFailed ||
		!strings.Contains(o.Reason, "changes that were not imported") {
		t.Errorf("%+v", o)
	}
	// A forced export makes the branch equal to the space, so the archived import is lost.
	b.done("export", map[string]any{"force": true})
	b.status(request.ID, "open", 409)
	if b.files()["last.md"] != "# Last\n\nThe second end.\n" {
		t.Errorf("%q", b.files())
	}
}

// insertInto adds a page to a change request.
func (b *gitBench) insertInto(request string) {
	b.T.Helper()
	pages := apitest.Ask[schema.RevisionPages](
		b.Harness,
		schema.RoleRead,
		"GET",
		b.RequestPath(request)+"/content/pages",
		nil,
		200,
	).Pages
	at := slices.IndexFunc(pages, func(p schema.RevisionPage) bool { return p.Title == "Guide" })
	b.ChangeContent(
		schema.RoleEdit,
		request,
		fmt.Sprintf(
			`{"operation":"insert_page","title":"By hand","into":%q,"document":{"markdown":"Of the reviewer."}}`,
			pages[at].Pages[0].ID,
		),
	)
}

// TestGitTrustedBranches checks that only administrators of the space can set and see the trusted branches.
func TestGitTrustedBranches(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	path := "/v1/spaces/" + h.Ours.Space.ID
	body := map[string]any{
		"gitTrusted": []any{
			map[string]any{
				"url":                  "https://git.example/a.git",
				"ref":                  "refs/heads/main",
				"repoProjectDirectory": "docs",
			},
		},
	}
	installation := h.InstallationToken(
		h.Ours,
		h.Installed(h.Ours, "i-"+schema.NewID(), schema.ScopeSpaceMetadataWrite, schema.ScopeSpaceGitSync),
	)
	before := h.Rows()
	for role, token := range h.Ours.Tokens {
		switch role {
		case schema.RoleAdmin:
		case schema.RoleGuest: // guests do not see the space
			h.WantError(h.Do("PATCH", path, token, body), http.StatusNotFound)
		default:
			h.WantError(h.Do("PATCH", path, token, body), http.StatusForbidden)
		}
	}
	h.WantError(h.Do("PATCH", path, installation, body), http.StatusForbidden)
	const branch = `{"url":"https://a.example","ref":"refs/heads/a"}`
	for _, c := range []struct{ list, field string }{
		{`[{"ref":"refs/heads/main"}]`, "gitTrusted[0].url"}, {`[{"url":"https://a.example"}]`, "gitTrusted[0].ref"},
		{`[{"url":"https://a.example","ref":"main"}]`, "gitTrusted[0].ref"},
		{`[{"url":"https://me:x@a.example","ref":"refs/heads/a"}]`, "gitTrusted[0].url"},
		{`"all"`, "gitTrusted"},
		{"[" + strings.Repeat(branch+",", 20) + branch + "]", "gitTrusted"},
	} {
		e := h.WantError(
			h.Do("PATCH", path, h.Ours.Tokens[schema.RoleAdmin], `{"gitTrusted":`+c.list+`}`),
			http.StatusBadRequest,
		)
		if len(e.Details) == 0 || e.Details[0].Field != c.field {
			t.Errorf("%s: %+v", c.list, e)
		}
	}
	if diff := cmp.Diff(before, h.Rows()); diff != "" {
		t.Errorf("something was stored: %s", diff)
	}
	space := apitest.Ask[schema.Space](h, schema.RoleAdmin, "PATCH", path, body, 200)
	if len(space.GitTrusted) != 1 || space.GitTrusted[0].Ref != "refs/heads/main" {
		t.Errorf("%+v", space.GitTrusted)
	}
	if got := apitest.Ask[schema.Space](h, schema.RoleCreate, "GET", path, nil, 200); got.GitTrusted != nil {
		t.Errorf("%+v", got.GitTrusted)
	}
	if got := apitest.Ask[schema.Space](h, schema.RoleAdmin, "PATCH", path, map[string]any{"gitTrusted": []any{}},
		200); len(got.GitTrusted) != 0 {
		t.Errorf("%+v", got.GitTrusted)
	}
}

// TestGitRounds edits both sides at random in rounds of imports, merges and exports. Each edit adds a unique word to a
// separate paragraph. At the end of a round, every word is in the space once, and in the repository once. With -short,
// the test has two seeds: a space that was imported, and a space that is only synchronized.
func TestGitRounds(t *testing.T) {
	t.Parallel()
	const paragraphs, rounds = 6, 5
	seeds := uint64(4)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 30))
			b := newGitBench(t)
			written := 0
			word := func() string { written++; return fmt.Sprintf("w%dw", written) }
			titles := []string{"Alpha", "Beta", "Gamma"}
			text := func() string {
				var lines []string
				for range paragraphs {
					lines = append(lines, "Paragraph "+word()+" begins here.")
				}
				return strings.Join(lines, "\n\n")
			}
			files := map[string]string{}
			name := func(title string) string { return strings.ToLower(title) + ".md" }
			for _, title := range titles {
				files[name(title)] = "# " + title + "\n\n" + text() + "\n"
			}
			b.commit(files)
			if seed%2 == 0 {
				b.done("import", nil)
			}
			b.bind()
			// change rewrites a paragraph of one side. Side 0, which is Git, changes only even paragraphs. Side 1
			// changes only odd paragraphs.
			change := func(text string, side int) string {
				blocks := strings.Split(strings.TrimSuffix(text, "\n"), "\n\n")
				first := len(blocks) - paragraphs
				at := first + side + 2*random.IntN(paragraphs/2)
				blocks[at] = strings.Replace(blocks[at], " here.", " "+word()+" here.", 1)
				return strings.Join(blocks, "\n\n")
			}
			for round := range rounds {
				request := ""
				for range 1 + random.IntN(3) {
					title := titles[random.IntN(len(titles))]
					files[name(title)] = change(files[name(title)], 0) + "\n"
					if random.IntN(3) == 0 {
						added := fmt.Sprintf("Git%d", written)
						files[name(added)], titles = "# "+added+"\n\n"+text()+"\n", append(titles, added)
					}
					b.commit(files)
					if pages := b.titles(); len(pages) > 0 && random.IntN(2) == 0 {
						page := b.page(strings.ToLower(pages[random.IntN(len(pages))]))
						b.edit(page.Path, *page.Markdown, change(*page.Markdown, 1))
					}
					o := b.done("import", nil)
					if request = o.ChangeRequest; request == "" {
						t.Fatalf("%+v", o)
					}
					if random.IntN(3) == 0 {
						if result := apitest.Ask[schema.MergeResult](b.Harness, schema.RoleAdmin, "POST",
							b.RequestPath(request)+"/update", nil, 200); result.Result != "update" {
							t.Fatalf("%+v %v", result, conflictList(b.Harness, request, ""))
						}
					}
					if random.IntN(3) == 0 {
						added := fmt.Sprintf("Hand%d", written)
						b.ChangeContent(
							schema.RoleEdit,
							request,
							fmt.Sprintf(
								`{"operation":"insert_page","title":%q,"document":{"markdown":%q}}`,
								added,
								text(),
							),
						)
					}
				}
				b.queue("export", nil)
				b.merged(request)
				jobstest.RunAll(t, b.Store)
				if o := b.operations()[0]; o.State != schema.GitDone {
					t.Fatalf("round %d: %+v", round, o)
				}
				files = b.files()
				inGit, inSpace := "", ""
				for _, text := range files {
					inGit += text
				}
				titles = nil
				for _, title := range b.titles() {
					inSpace += *b.page(strings.ToLower(title)).Markdown
					if files[name(title)] != "" && !strings.HasPrefix(title, "Hand") {
						titles = append(titles, title)
					}
				}
				for n := range written {
					for side, text := range map[string]string{"the space": inSpace, "the repository": inGit} {
						if got := strings.Count(text, fmt.Sprintf("w%dw", n+1)); got != 1 {
							t.Fatalf("round %d: w%dw is in %s %d times", round, n+1, side, got)
						}
					}
				}
				if o := b.done("import", nil); o.ChangeRequest != "" {
					t.Fatalf(
						"round %d: an import of what was exported: %+v %s %q",
						round,
						o,
						b.Do(
							"GET",
							b.RequestPath(o.ChangeRequest)+"/changes",
							b.Ours.Tokens[schema.RoleAdmin],
							nil,
						).Body,
						b.files()["SUMMARY.md"],
					)
				}
			}
		})
	}
}
