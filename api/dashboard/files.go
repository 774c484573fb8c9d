package dashboard

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"html"
	"net/url"
	"path"
	"strings"

	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

//go:embed dist/app.js
var script []byte

//go:embed dist/chunk.js
var shared []byte

//go:embed dist/more.js
var more []byte

//go:embed dist/world.js
var worldMap []byte

//go:embed dist/app.css
var style []byte

//go:embed src/icon.svg
var icon []byte

//go:embed src/index.html
var index string

const scriptMedia = "text/javascript; charset=utf-8"

// Table returns the page, its files, and the sessions of its readers.
func Table(st *store.Store, urls schema.URLs) frame.Table {
	return frame.Table{Operations: sessionOperations(newSessions(st, urls)), Files: files(urls.Base())}
}

// files returns the page for a public address, and the files that the page loads. The address may have a path, because
// a proxy may serve the page below a path. Scripts import each other by relative names with hashes. So files computes
// the name of a script after the names of the scripts that it imports.
func files(base string) []frame.Static {
	prefix := ""
	if u, err := url.Parse(base); err == nil {
		prefix = strings.TrimRight(u.Path, "/")
	}
	var all []frame.Static
	var scripts []string
	page := index
	for _, asset := range []struct {
		name, media string
		content     []byte
	}{
		{"world.js", scriptMedia, worldMap},
		{"chunk.js", scriptMedia, shared},
		{"more.js", scriptMedia, more},
		{"app.js", scriptMedia, script},
		{"app.css", "text/css; charset=utf-8", style},
		{"icon.svg", "image/svg+xml", icon},
	} {
		content := asset.content
		if asset.media == scriptMedia {
			content = []byte(strings.NewReplacer(scripts...).Replace(string(content)))
		}
		address := hashed(asset.name, content)
		scripts = append(scripts, `"./`+asset.name+`"`, `"./`+path.Base(address)+`"`)
		file := frame.NewStatic(address, asset.media, content)
		file.Fixed = true
		all = append(all, file)
		page = strings.ReplaceAll(page, "{"+asset.name+"}", html.EscapeString(prefix+address))
	}
	document := frame.NewStatic("/", "text/html; charset=utf-8", []byte(page))
	document.Policy = frame.OwnPagePolicy
	return append(all, document)
}

// hashed returns the path of a file. The path contains a hash of the file's bytes, so the content at a path never
// changes. The path contains no word for which an ad blocker would block the file.
func hashed(name string, content []byte) string {
	sum := sha256.Sum256(content)
	stem, extension, _ := strings.Cut(name, ".")
	return "/o/" + stem + "." + hex.EncodeToString(sum[:8]) + "." + extension
}
