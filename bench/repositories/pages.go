package main

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// page is a page of the space, in the form of the API.
type page struct {
	ID, Type, Title, Description, Path string
	Pages                              []page
	Document                           map[string]any
	Markdown                           string
}

// edit adds a mark after a word of a page. If `document` is true, the request has the page as a document. Otherwise it
// has the page as Markdown.
type edit struct {
	page, mark string
	document   bool
}

var (
	// plain matches a line that begins with at least five words. It captures a word of at least five letters.
	plain = regexp.MustCompile(`(?m)^\pL+(?: \pL+){2,} (\pL{5,}) \pL+[^\n]*$`)
	// dense matches a line that begins with at least five Chinese or Japanese characters. It captures these characters.
	dense = regexp.MustCompile(`(?m)^([\p{Han}\p{Hiragana}\p{Katakana}]{5,})[^\n]*$`)
	// word matches a word of at least five letters.
	word = regexp.MustCompile(`\pL{5,}`)
	// marks matches the mark that an edit adds to a page. A mark is not a word of any language, so no page contains it
	// before the edit.
	marks = regexp.MustCompile(`zqzq\d+zq`)
)

func markOf(text string) string { return marks.FindString(text) }

// readPages reads the texts of all pages, and counts the pages that show a tag to a reader.
func (r *round) readPages(ctx context.Context) error {
	pages, err := r.documents(ctx)
	if err != nil {
		return err
	}
	r.pages = len(pages)
	for _, p := range pages {
		var read page
		if err := r.client.Call(ctx, http.MethodGet, r.pagePath(p.ID)+"?format=document", nil, http.StatusOK,
			&read); err != nil {
			return err
		}
		if r.lookAt(p, read.Document) {
			r.tagged++
		}
	}
	return nil
}

func (r *round) pagePath(id string) string { return "/v1/spaces/" + r.space + "/content/page/" + id }

// documents lists the pages that may have a text, in the order of the space.
func (r *round) documents(ctx context.Context) ([]page, error) {
	var tree struct{ Pages []page }
	if err := r.client.Call(ctx, http.MethodGet, "/v1/spaces/"+r.space+"/content/pages", nil, http.StatusOK,
		&tree); err != nil {
		return nil, err
	}
	var all []page
	var walk func(list []page)
	walk = func(list []page) {
		for _, p := range list {
			if p.Type == "document" {
				all = append(all, p)
			}
			walk(p.Pages)
		}
	}
	walk(tree.Pages)
	return all, nil
}

// visible calls `look` with each text of a document that is outside of code and formulas. It stops if `look` returns
// false.
func visible(node any, look func(text string) bool) bool {
	switch n := node.(type) {
	case []any:
		for _, below := range n {
			if !visible(below, look) {
				return false
			}
		}
	case map[string]any:
		if code[n["type"]] {
			return true
		}
		if text, is := n["text"].(string); is && !marked(n["marks"]) && !look(text) {
			return false
		}
		for _, member := range []string{"document", "nodes", "leaves", "fragments"} {
			if !visible(n[member], look) {
				return false
			}
		}
	}
	return true
}

var code = map[any]bool{"code": true, "code-line": true, "math": true, "inline-math": true}

// marked reports whether a text's marks say that it is code.
func marked(marks any) bool {
	list, _ := marks.([]any)
	for _, m := range list {
		if mark, is := m.(map[string]any); is && mark["type"] == "code" {
			return true
		}
	}
	return false
}

// uneditable is a part of the error message that the API returns for an edit of a page whose file Octavo cannot change.
const uneditable = "cannot change: "

// edit adds a mark after a word in some pages, which are distributed evenly over the space. It sends half of the pages
// as Markdown and half as documents.
func (r *round) edit(ctx context.Context) error {
	pages, err := r.documents(ctx)
	if err != nil {
		return err
	}
	var bodies []any
	step := max(1, len(pages)/(2*r.Edits+1))
	for i := 0; i < len(pages) && len(bodies) < 2*r.Edits; i += step {
		e := edit{page: pages[i].ID, mark: fmt.Sprintf("zqzq%dzq", i), document: len(bodies)%2 == 1}
		body, err := r.edits(ctx, e)
		if err != nil {
			return err
		}
		if body != nil {
			bodies = append(bodies, map[string]any{"operation": "update_page", "page": e.page, "document": body})
			r.edited = append(r.edited, e)
		}
	}
	if len(bodies) == 0 {
		return nil
	}
	requests := "/v1/spaces/" + r.space + "/change-requests"
	var request struct{ ID string }
	if err := r.client.Call(ctx, http.MethodPost, requests, []byte("{}"), http.StatusCreated, &request); err != nil {
		return err
	}
	edits := r.edited
	r.edited = nil
	for i, body := range bodies {
		changes := map[string]any{"changes": []any{body}}
		err := r.client.Call(ctx, http.MethodPost, requests+"/"+request.ID+"/content", changes, http.StatusOK, nil)
		if err != nil && strings.Contains(err.Error(), uneditable) {
			continue
		}
		if err != nil {
			return err
		}
		r.edited = append(r.edited, edits[i])
	}
	return r.client.Call(ctx, http.MethodPost, requests+"/"+request.ID+"/merge", nil, http.StatusOK, nil)
}

// edits returns the edited text of a page. It returns nil if there is no word after which a mark can be added.
func (r *round) edits(ctx context.Context, e edit) (any, error) {
	format := "markdown"
	if e.document {
		format = "document"
	}
	var read page
	if err := r.client.Call(ctx, http.MethodGet, r.pagePath(e.page)+"?format="+format, nil, http.StatusOK,
		&read); err != nil {
		return nil, err
	}
	if e.document {
		if marksWord(read.Document, e.mark) {
			return map[string]any{"document": read.Document}, nil
		}
		return nil, nil
	}
	outside := fences.ReplaceAllStringFunc(
		read.Markdown,
		func(block string) string { return strings.Repeat("\n", len(block)) },
	)
	at := plain.FindStringSubmatchIndex(outside)
	if at == nil {
		at = dense.FindStringSubmatchIndex(outside)
	}
	if at == nil {
		return nil, nil
	}
	return map[string]any{"markdown": read.Markdown[:at[3]] + e.mark + read.Markdown[at[3]:]}, nil
}

// fences matches fenced code blocks.
var fences = regexp.MustCompile("(?ms)^(```|~~~).*?^(```|~~~)")

// marksWord looks for the first paragraph with a suitable word, and adds the mark after this word. It reports whether
// it found such a paragraph.
func marksWord(node any, mark string) bool {
	switch n := node.(type) {
	case []any:
		for _, below := range n {
			if marksWord(below, mark) {
				return true
			}
		}
	case map[string]any:
		if n["type"] != "paragraph" {
			return !code[n["type"]] && (marksWord(n["document"], mark) || marksWord(n["nodes"], mark))
		}
		var leaf map[string]any
		walkLeaves(n, func(l map[string]any) bool {
			if text, is := l["text"].(string); is && !marked(l["marks"]) && word.MatchString(text) &&
				tags.FindString(text) == "" {
				leaf = l
			}
			return leaf == nil
		})
		if leaf == nil {
			return false
		}
		text := leaf["text"].(string)
		end := word.FindStringIndex(text)[1]
		leaf["text"] = text[:end] + mark + text[end:]
		return true
	}
	return false
}

func walkLeaves(node any, look func(leaf map[string]any) bool) bool {
	switch n := node.(type) {
	case []any:
		for _, below := range n {
			if !walkLeaves(below, look) {
				return false
			}
		}
	case map[string]any:
		if n["object"] == "leaf" {
			return look(n)
		}
		return walkLeaves(n["nodes"], look) && walkLeaves(n["leaves"], look)
	}
	return true
}
