package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/bench/product"
)

const gitImport = "Git import"

// answer is a node's answer to one request.
type answer struct {
	name    string
	status  int // 0 if the node did not answer
	text    string
	missing string // value of the header Octavo-Missing-Rows, if Octavo-Complete is false
	doubled string // value of the header Octavo-Doubled-Rows
	events  string // what /readyz says about events, if the answer has one of these headers
}

// right reports whether the answer equals the answer of the undamaged node.
func (a answer) right(want answer) bool {
	return a.status == want.status && a.text == want.text && a.missing == want.missing && a.doubled == want.doubled
}

// ask requests every stored object from a node, and returns the answers. If `git` is true, it also starts a Git import,
// which needs the cached repository.
func (w *world) ask(ctx context.Context, c product.Client, git bool) (list []answer) {
	one := func(name, method, path string, body []byte, read func([]byte) string) {
		a := answer{name: name}
		got, err := c.Ask(ctx, method, path, body)
		if a.status = got.Status; err != nil {
			a.text = err.Error()
		} else if a.text = string(got.Body); got.Status == http.StatusOK {
			a.text = read(got.Body)
		}
		if got.Header.Get("Octavo-Complete") == "false" {
			a.missing = cmp.Or(got.Header.Get("Octavo-Missing-Rows"), "unknown")
		}
		a.doubled = got.Header.Get("Octavo-Doubled-Rows")
		if a.missing != "" || a.doubled != "" {
			a.events = ready(ctx, c).Checks["events"] // read it now, because the node repairs itself soon
		}
		list = append(list, a)
	}
	one("the token's user", http.MethodGet, "/v1/user", nil, id)
	one("sites", http.MethodGet, "/v1/orgs/"+url.PathEscape(w.org)+"/sites", nil, titles)
	for i, site := range w.sites {
		path := product.Insights(w.org, site) + "/events/aggregate"
		const byMonth = `"groupBy":[{"column":"datetime","interval":"month"}]`
		for _, q := range []struct{ name, members string }{
			{"events by month", byMonth + `}`},
			{"visitors by month", byMonth + `,"select":[{"column":"visitorsCount"}]}`},
			{"sessions", `"select":[{"column":"sessionsCount"}]}`},
			{"events by address", `"groupBy":[{"column":"url"}],"limit":1000}`},
			{"exact visitors", `"accuracy":"exact","select":[{"column":"visitorsCount"}]}`},
		} {
			name := fmt.Sprintf("%s of site %d", q.name, i+1)
			one(name, http.MethodPost, path, []byte(allTime+q.members), columns)
		}
	}
	for i, page := range w.pages {
		path := spacePath(w.space) + "/content/page/" + url.PathEscape(page) + "?format=markdown"
		one(fmt.Sprintf("page %d", i+1), http.MethodGet, path, nil, markdown)
	}
	for _, file := range w.files(ctx, c) {
		one("file "+file.Name, http.MethodGet, pathOf(file.DownloadURL), nil, whole)
	}
	if git {
		imported := answer{name: gitImport, status: http.StatusOK}
		if err := w.pull(ctx, c); err != nil {
			imported.status, imported.text = 0, err.Error()
		}
		list = append(list, imported)
	}
	one("imported pages", http.MethodGet, spacePath(w.imported)+"/content/pages", nil, titles)
	return list
}

type file struct{ Name, DownloadURL string }

// files lists the space's files. If the node cannot list the files, it returns addresses whose requests fail too.
func (w *world) files(ctx context.Context, c product.Client) []file {
	var content struct{ Files []file }
	err := c.Call(ctx, http.MethodGet, spacePath(w.space)+"/content", nil, http.StatusOK, &content)
	if err != nil || len(content.Files) != 2 {
		return []file{{"file-0.png", spacePath(w.space) + "/content"}, {"file-1.png", spacePath(w.space) + "/content"}}
	}
	return content.Files
}

// pathOf returns the path and the query of an address.
func pathOf(address string) string {
	if at, err := url.Parse(address); err == nil {
		return at.RequestURI()
	}
	return address
}

func whole(body []byte) string { return string(body) }

// id returns the id of a resource. The rest of the resource is not compared, because its URLs contain the node's
// address.
func id(body []byte) string {
	var resource struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(body, &resource); err != nil {
		return err.Error()
	}
	return resource.ID
}

// columns returns the columns of an aggregate.
func columns(body []byte) string {
	var result struct {
		Columns jsontext.Value `json:"columns"`
	}
	if err := json.Unmarshal(body, &result); err != nil {
		return err.Error()
	}
	return string(result.Columns)
}

// markdown returns the text of a page.
func markdown(body []byte) string {
	var page struct {
		Markdown string `json:"markdown"`
	}
	if err := json.Unmarshal(body, &page); err != nil {
		return err.Error()
	}
	return page.Markdown
}

// titles returns the titles in a list.
func titles(body []byte) string {
	type item struct {
		Title string `json:"title"`
	}
	var list struct {
		Items []item `json:"items"`
		Pages []item `json:"pages"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return err.Error()
	}
	var text []string
	for _, i := range append(list.Items, list.Pages...) {
		text = append(text, i.Title)
	}
	return strings.Join(text, ", ")
}

// readiness is the answer of /readyz.
type readiness struct {
	Status int
	Checks map[string]string
	Text   string
}

func ready(ctx context.Context, c product.Client) (r readiness) {
	got, err := c.Ask(ctx, http.MethodGet, "/readyz", nil)
	if err != nil {
		return readiness{Text: err.Error()}
	}
	r.Status, r.Text = got.Status, string(got.Body)
	var body struct {
		Checks map[string]string `json:"checks"`
	}
	if err := json.Unmarshal(got.Body, &body); err != nil {
		r.Text = err.Error()
	}
	r.Checks = body.Checks
	return r
}

// lost returns the number of messages that the node reports as lost from the log, or 0 if the node does not answer this
// request.
func (w *world) lost(ctx context.Context, c product.Client) int {
	var balance struct{ LostMessages int }
	path := product.Insights(w.org, w.sites[0]) + "/events/balance"
	if c.Call(ctx, http.MethodGet, path, nil, http.StatusOK, &balance) != nil {
		return 0
	}
	return balance.LostMessages
}
