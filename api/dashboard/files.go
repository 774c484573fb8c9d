package dashboard

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"html"
	"net/url"
	"strings"

	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

//go:embed dist/app.js
var script []byte

//go:embed dist/app.css
var style []byte

//go:embed src/icon.svg
var icon []byte

//go:embed src/index.html
var index string

// Table returns the page, its files, and the sessions of its readers.
func Table(st *store.Store, urls schema.URLs) frame.Table {
	return frame.Table{Operations: sessionOperations(newSessions(st, urls)), Files: files(urls.Base())}
}

// files returns the page for a public address, and what it loads. A proxy may serve the page below a path.
func files(base string) []frame.Static {
	prefix := ""
	if u, err := url.Parse(base); err == nil {
		prefix = strings.TrimRight(u.Path, "/")
	}
	var all []frame.Static
	page := index
	for _, asset := range []struct {
		name, media string
		content     []byte
	}{
		{"app.js", "text/javascript; charset=utf-8", script},
		{"app.css", "text/css; charset=utf-8", style},
		{"icon.svg", "image/svg+xml", icon},
	} {
		path := hashed(asset.name, asset.content)
		file := frame.NewStatic(path, asset.media, asset.content)
		file.Fixed = true
		all = append(all, file)
		page = strings.ReplaceAll(page, "{"+asset.name+"}", html.EscapeString(prefix+path))
	}
	document := frame.NewStatic("/", "text/html; charset=utf-8", []byte(page))
	document.Policy = frame.OwnPagePolicy
	return append(all, document)
}

// hashed returns the path of a file, with the hash of its bytes: it never has others. No word in it makes an ad blocker
// hide the file.
func hashed(name string, content []byte) string {
	sum := sha256.Sum256(content)
	stem, extension, _ := strings.Cut(name, ".")
	return "/o/" + stem + "." + hex.EncodeToString(sum[:8]) + "." + extension
}
