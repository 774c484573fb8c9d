package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/bench/product"
)

// round is the measurement of one repository.
type round struct {
	options
	result
	client                product.Client
	organization          string
	source, folder        string
	bare, address         string
	space, imported, head string
	edited                []edit
	excepted              []exception
	unexpected            []exception     // tags that were found and that no exception allows
	met                   map[string]bool // keys of the exceptions whose tag was found
}

func (r *round) run(ctx context.Context) error {
	if err := copied(ctx, r.source, r.bare); err != nil {
		return err
	}
	var err error
	if r.space, err = r.client.Create(ctx, "/v1/orgs/"+r.organization+"/spaces", title(r.source)); err != nil {
		return err
	}
	if r.imported, err = commit(ctx, r.bare, "main"); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{
		func(ctx context.Context) error { return r.operation(ctx, "import", "main") },
		r.exportUntouched, r.readPages, r.edit, r.exportEdits, r.exportNew,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// operation imports or exports a branch, and waits until the operation is done.
func (r *round) operation(ctx context.Context, kind, branch string) error {
	ctx, cancel := context.WithTimeout(ctx, r.Wait)
	defer cancel()
	git := "/v1/spaces/" + r.space + "/git"
	body := map[string]any{"url": r.address, "ref": "refs/heads/" + branch, "repoProjectDirectory": r.folder}
	if kind == "export" {
		body["commitMessage"] = "m"
	}
	if err := r.client.Call(ctx, http.MethodPost, git+"/"+kind, body, http.StatusNoContent, nil); err != nil {
		return err
	}
	for {
		var operations struct {
			Items []struct {
				State, Reason string
				Notes         []struct{ Path, Text string }
			}
		}
		if err := r.client.Call(ctx, http.MethodGet, git+"/operations?limit=1", nil, http.StatusOK,
			&operations); err != nil {
			return err
		}
		last := operations.Items[0]
		switch last.State {
		case "done":
			if kind == "import" {
				r.notes = len(last.Notes)
			}
			for _, note := range last.Notes {
				r.say("%s of %s: note on %s: %s", kind, branch, note.Path, note.Text)
			}
			return nil
		case "failed":
			return fmt.Errorf("the %s of %s failed: %s", kind, branch, last.Reason)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the %s of %s is %s: %s", kind, branch, last.State, last.Reason)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// say prints details if --verbose is set.
func (r *round) say(format string, values ...any) {
	if r.Verbose {
		fmt.Printf("  "+format+"\n", values...)
	}
}

// exportUntouched exports the unedited pages, and counts the files that the export changes.
func (r *round) exportUntouched(ctx context.Context) error {
	if err := r.operation(ctx, "export", "main"); err != nil {
		return err
	}
	var err error
	if r.head, err = commit(ctx, r.bare, "main"); err != nil {
		return err
	}
	changed, err := changes(ctx, r.bare, r.imported, r.head)
	r.untouched = len(changed)
	for _, c := range changed {
		r.say("untouched: %c %s: %.300q %.300q", c.status, c.path, c.removed, c.added)
	}
	return err
}

// exportEdits exports the edits, and counts which edits are exact and which are lost.
func (r *round) exportEdits(ctx context.Context) error {
	if err := r.operation(ctx, "export", "main"); err != nil {
		return err
	}
	before := r.head
	var err error
	if r.head, err = commit(ctx, r.bare, "main"); err != nil {
		return err
	}
	changed, err := changes(ctx, r.bare, before, r.head)
	if err != nil {
		return err
	}
	found := map[string]change{}
	for _, c := range changed {
		mark := markOf(strings.Join(c.added, "\n"))
		if mark == "" {
			r.others++
			r.say("nobody's edit: %c %s: %.300q %.300q", c.status, c.path, c.removed, c.added)
			continue
		}
		found[mark] = c
	}
	for _, e := range r.edited {
		count := &r.markdown
		if e.document {
			count = &r.document
		}
		count.made++
		c, there := found[e.mark]
		switch {
		case !there:
			count.lost++
			r.say("lost: %s", e.page)
		case c.hunks == 1 && len(c.removed) == 1 && len(c.added) == 1 &&
			strings.Replace(c.added[0], e.mark, "", 1) == c.removed[0]:
			count.exact++
		default:
			r.say("more than its line, document %t: %s: %d hunks\n    - %s\n    + %s", e.document, c.path, c.hunks,
				strings.Join(c.removed, "\n    - "), strings.Join(c.added, "\n    + "))
		}
	}
	return nil
}

// exportNew exports the space to a new branch, and compares this branch with the imported branch.
func (r *round) exportNew(ctx context.Context) error {
	if err := r.operation(ctx, "export", "new"); err != nil {
		return err
	}
	changed, err := changes(ctx, r.bare, "main", "new")
	if err != nil {
		return err
	}
	paths, err := git(ctx, r.bare, nil, "ls-tree", "-r", "-z", "--name-only", "main")
	if err != nil {
		return err
	}
	r.equal = strings.Count(paths, "\x00")
	for _, c := range changed {
		r.say("new branch: %c %s", c.status, c.path)
		switch c.status {
		case 'A':
			r.added++
		default:
			r.equal--
			r.different++
		}
	}
	return nil
}
