package tracker

import (
	"crypto/sha256"
	"crypto/sha512"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"regexp"

	"github.com/octavo-docs/octavo/api/frame"
)

//go:embed dist/*.js
var dist embed.FS

// The bundles.
const (
	Core = "o"      // the core
	Docs = "o.docs" // the core with the extension for documentation
)

// hashed matches the name of a file that never changes.
var hashed = regexp.MustCompile(`^.+\.[0-9a-f]{16}\.js$`)

// bundle is a script that pages load.
type bundle struct {
	content []byte
	// path is the path that never changes, such as /o.0123456789abcdef.js. `integrity` is the bundle's hash in the
	// format of HTML.
	path, integrity string
}

// read returns a file of dist. The embedded files are there, so it cannot fail.
func read(name string) []byte {
	content, err := dist.ReadFile("dist/" + name)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return content
}

// load returns a bundle of this build.
func load(name string) bundle {
	content := read(name + ".js")
	sum, strong := sha256.Sum256(content), sha512.Sum384(content)
	return bundle{
		content: content, path: "/" + name + "." + hex.EncodeToString(sum[:8]) + ".js",
		integrity: "sha384-" + base64.StdEncoding.EncodeToString(strong[:]),
	}
}

// Files returns the files that a node serves.
func Files() []frame.Static {
	var files []frame.Static
	add := func(path string, content []byte, fixed bool) {
		file := frame.NewStatic(path, "text/javascript; charset=utf-8", content)
		file.Fixed = fixed
		files = append(files, file)
	}
	for _, name := range []string{Core, Docs} {
		b := load(name)
		add("/"+name+".js", b.content, false)
		add(b.path, b.content, true)
	}
	entries, err := dist.ReadDir("dist")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	for _, entry := range entries {
		if hashed.MatchString(entry.Name()) {
			add("/"+entry.Name(), read(entry.Name()), true)
		}
	}
	return files
}
