package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/bench/gitserver"
	"github.com/octavo-docs/octavo/bench/product"
	"github.com/octavo-docs/octavo/bench/single"
	"github.com/octavo-docs/octavo/bench/witness"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/schema"
)

const (
	sites    = 2
	requests = 30 // number of requests to each site, at each step of the preparation
	perPost  = 10 // number of events in a request; a request becomes one message of the log
)

// world is an installation with events, pages, files and a Git repository. It has three data directories, and no node
// runs on them.
type world struct {
	dir     string
	binary  string
	address string
	token   string
	more    []string // settings of every node

	org, space, imported string
	sites                []string
	pages                []string
	repository           string
	stopGit              func() error
	events               int               // acknowledged events so far
	relations            map[string]string // files of Postgres tables and indexes in the data directory, by name

	// `older`, `stored` and `waiting` are the paths of the data directories. `older` is an earlier copy of `stored`,
	// with fewer objects of each kind. `waiting` is a copy of `stored` whose log has additional events that are not in
	// the table yet.
	older, stored, waiting string
}

// newWorld makes the three data directories below `dir`.
func newWorld(ctx context.Context, dir, binary string) (w *world, err error) {
	w = &world{
		dir: dir, binary: binary, token: schema.NewToken(), relations: map[string]string{},
		older: filepath.Join(dir, "older"), stored: filepath.Join(dir, "stored"),
		waiting: filepath.Join(dir, "waiting"),
		more: []string{
			"OCTAVO_OUTBOUND_ALLOW=127.0.0.1", "OCTAVO_RATE_LIMIT=0", "OCTAVO_QUERY_CACHE=0", "OCTAVO_DRAIN_WAIT=0s",
		},
	}
	if w.address, err = enginetest.FreeAddress(); err != nil {
		return nil, err
	}
	root, err := enginetest.ModuleRoot()
	if err != nil {
		return nil, err
	}
	if os.Getenv("OCTAVO_ENGINES_DIR") == "" {
		w.more = append(w.more, "OCTAVO_ENGINES_DIR="+filepath.Join(root, "deploy", "engines"))
	} else {
		w.more = append(w.more, "OCTAVO_ENGINES_DIR="+os.Getenv("OCTAVO_ENGINES_DIR"))
	}
	if err := w.serveGit(ctx); err != nil {
		return nil, err
	}
	return w, w.prepare(ctx)
}

func (w *world) close() error { return w.stopGit() }

// node returns a node that uses a data directory. The node's log file has the directory's name.
func (w *world) node(dir string, more ...string) (*single.Node, error) {
	log, err := os.Create(dir + ".log")
	if err != nil {
		return nil, err
	}
	return &single.Node{
		Binary: w.binary, Dir: dir, Log: log, More: append(more, w.more...),
		Client: product.Client{Address: w.address, Token: w.token},
	}, nil
}

// with starts a node, calls `work` with it, and then stops the node.
func (w *world) with(ctx context.Context, dir string, work func(*single.Node) error, more ...string) error {
	n, err := w.node(dir, more...)
	if err != nil {
		return err
	}
	defer func() { _ = n.Log.Close() }()
	if err := n.Start(); err != nil {
		return err
	}
	if err = n.Ready(ctx); err == nil {
		err = work(n)
	}
	if err = errors.Join(err, n.Stop()); err != nil {
		text, _ := os.ReadFile(dir + ".log")
		err = fmt.Errorf("%w\n%s", err, text)
	}
	return err
}

func (w *world) prepare(ctx context.Context) error {
	data := filepath.Join(w.dir, "data")
	err := w.with(ctx, data, func(n *single.Node) error {
		return errors.Join(w.create(ctx, n), w.edit(ctx, n, 0), w.pull(ctx, n.Client), w.load(ctx, n, true))
	})
	if err == nil {
		err = copyTree(data, w.older)
	}
	if err == nil {
		err = w.with(ctx, data, func(n *single.Node) error {
			return errors.Join(w.edit(ctx, n, 1), w.load(ctx, n, true), w.readPages(ctx, n), w.locate(ctx, data))
		})
	}
	if err == nil {
		err = copyTree(data, w.stored)
	}
	if err == nil {
		err = w.with(ctx, data, func(n *single.Node) error { return w.load(ctx, n, false) }, "OCTAVO_ROLES=api")
	}
	if err == nil {
		err = os.Rename(data, w.waiting)
	}
	return err
}

// create creates the organization, its sites and its spaces.
func (w *world) create(ctx context.Context, n *single.Node) (err error) {
	if w.org, err = n.Client.Create(ctx, "/v1/orgs", "Damage"); err != nil {
		return err
	}
	base := "/v1/orgs/" + url.PathEscape(w.org)
	for range sites {
		id, err := n.Client.Create(ctx, base+"/sites", "Site")
		if err != nil {
			return err
		}
		w.sites = append(w.sites, id)
	}
	if w.space, err = n.Client.Create(ctx, base+"/spaces", "Pages"); err != nil {
		return err
	}
	w.imported, err = n.Client.Create(ctx, base+"/spaces", "Imported")
	return err
}

func spacePath(space string) string { return "/v1/spaces/" + url.PathEscape(space) }

type member = map[string]any

// edit adds pages and a file to the space.
func (w *world) edit(ctx context.Context, n *single.Node, step int) error {
	var request struct{ ID string }
	base := spacePath(w.space) + "/change-requests"
	err := n.Client.Call(ctx, http.MethodPost, base, member{}, http.StatusCreated, &request)
	if err != nil {
		return err
	}
	base += "/" + url.PathEscape(request.ID)
	var changes []member
	for i := range 20 {
		text := fmt.Sprintf("Step %d, page %d.\n\n%s", step, i, strings.Repeat("Some text of the page. ", 30))
		title := fmt.Sprintf("Page %d of %d", i, step)
		changes = append(changes, member{
			"operation": "insert_page", "title": title, "document": member{"markdown": text},
		})
	}
	// Postgres cannot compress these bytes, so it stores them in the TOAST table, and not in the table's own file.
	noise := make([]byte, 40_000)
	for i := range noise {
		noise[i] = byte(i*i*7919>>7 ^ i*31)
	}
	name := fmt.Sprintf("file-%d.png", step)
	changes = append(changes, member{"operation": "insert_files", "files": []member{{"name": name, "base64": noise}}})
	err = n.Client.Call(ctx, http.MethodPost, base+"/content", member{"changes": changes}, http.StatusOK, nil)
	if err == nil {
		err = n.Client.Call(ctx, http.MethodPost, base+"/merge", nil, http.StatusOK, nil)
	}
	return err
}

// readPages reads the ids of the space's pages into w.pages.
func (w *world) readPages(ctx context.Context, n *single.Node) error {
	var content struct{ Pages []struct{ ID string } }
	err := n.Client.Call(ctx, http.MethodGet, spacePath(w.space)+"/content/pages", nil, http.StatusOK, &content)
	for _, p := range content.Pages {
		w.pages = append(w.pages, p.ID)
	}
	return err
}

// load posts events of two months to all sites. If `stored` is true, `load` waits until the events are stored.
func (w *world) load(ctx context.Context, n *single.Node, stored bool) error {
	const month = 31 * 24 * time.Hour
	for i := range requests {
		for _, site := range w.sites {
			at := time.Now().Add(-time.Minute - time.Duration(i%2)*month)
			if err := w.post(ctx, n.Client, site, at, i); err != nil {
				return err
			}
		}
	}
	w.events += requests * perPost
	if !stored {
		return nil
	}
	return witness.Await(ctx, func(ctx context.Context) error {
		for _, site := range w.sites {
			if have, err := w.count(ctx, n.Client, site); err != nil || have != w.events {
				return errors.Join(err, fmt.Errorf("%d of %d events are stored", have, w.events))
			}
		}
		return nil
	})
}

// post posts perPost events, with the timestamp `at`, to a site.
func (w *world) post(ctx context.Context, c product.Client, site string, at time.Time, number int) error {
	var events []member
	for i := range perPost {
		events = append(events, member{
			"type": "page_view", "timestamp": at.UTC().Format(time.RFC3339),
			"session":  member{"visitorId": fmt.Sprintf("v%d", (number+i)%37), "sessionId": fmt.Sprintf("s%d", number)},
			"location": member{"url": fmt.Sprintf("https://docs.example.com/%d/%d", number, i)},
		})
	}
	path := product.Insights(w.org, site) + "/events"
	return c.Call(ctx, http.MethodPost, path, member{"events": events}, http.StatusNoContent, nil)
}

const allTime = `{"range":{"from":"1970-01-01T00:00:00Z","to":"2100-01-01T00:00:00Z"},`

// count returns the number of a site's stored events.
func (w *world) count(ctx context.Context, c product.Client, site string) (int, error) {
	var result struct{ Columns []struct{ Values []int } }
	err := c.Call(ctx, http.MethodPost, product.Insights(w.org, site)+"/events/aggregate",
		[]byte(allTime+`"select":[{"column":"eventsCount"}]}`), http.StatusOK, &result)
	if err != nil || len(result.Columns) != 1 || len(result.Columns[0].Values) != 1 {
		return 0, errors.Join(err, fmt.Errorf("the count is %+v", result))
	}
	return result.Columns[0].Values[0], nil
}

// locate reads the paths of tables' and indexes' files from Postgres into w.relations.
func (w *world) locate(ctx context.Context, data string) error {
	var engines struct {
		Postgres string `json:"postgres"`
	}
	text, err := os.ReadFile(filepath.Join(data, "engines.json"))
	if err == nil {
		err = json.Unmarshal(text, &engines)
	}
	if err != nil {
		return fmt.Errorf("cannot read the engines' addresses: %w", err)
	}
	conn, err := pgx.Connect(ctx, engines.Postgres)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	rows, err := conn.Query(ctx, `select c.relname, pg_relation_filepath(c.oid) from pg_class c
		where pg_relation_filepath(c.oid) is not null
		union all select c.relname || '.toast', pg_relation_filepath(c.reltoastrelid) from pg_class c
		where c.reltoastrelid <> 0`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var name, path string
		if err := rows.Scan(&name, &path); err != nil {
			return err
		}
		w.relations[name] = filepath.Join("postgres", "data", path)
	}
	return rows.Err()
}

// serveGit creates a Git repository and serves it to the node.
func (w *world) serveGit(ctx context.Context) error {
	root := filepath.Join(w.dir, "git")
	if err := os.MkdirAll(root, 0o700); err != nil {
		return err
	}
	var stream strings.Builder
	stream.WriteString("commit refs/heads/main\ncommitter b <b@example> 1700000000 +0000\ndata 1\nm\n")
	for i := range 20 {
		text := fmt.Sprintf("# Page %d\n\n%s", i, strings.Repeat(fmt.Sprintf("Text %d. ", i*7919), 20))
		fmt.Fprintf(&stream, "M 100644 inline page-%d.md\ndata %d\n%s\n", i, len(text), text)
	}
	if err := gitserver.Make(ctx, filepath.Join(root, "docs"), strings.NewReader(stream.String())); err != nil {
		return err
	}
	address, stop, err := gitserver.Start(ctx, root)
	w.repository, w.stopGit = address+"/docs", stop
	return err
}

// pull imports the repository, so that the node caches the repository's objects.
func (w *world) pull(ctx context.Context, c product.Client) error {
	body := member{"url": w.repository, "ref": "refs/heads/main", "repoCacheID": "docs", "force": true}
	base := spacePath(w.imported) + "/git"
	if err := c.Call(ctx, http.MethodPost, base+"/import", body, http.StatusNoContent, nil); err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return witness.Await(bounded, func(ctx context.Context) error {
		var operations struct {
			Items []struct{ State, Reason string }
		}
		err := c.Call(ctx, http.MethodGet, base+"/operations?limit=1", nil, http.StatusOK, &operations)
		if err != nil || len(operations.Items) == 0 || operations.Items[0].State != "done" {
			return errors.Join(err, fmt.Errorf("the import is %+v", operations.Items))
		}
		return nil
	})
}
