package tracker

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"io"
	"regexp"
	"sync"

	"github.com/andybalholm/brotli"

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

// bundle is a bundle as pages load it.
type bundle struct {
	content []byte
	// path is the path that never changes, such as /o.0123456789abcdef.js, and integrity its hash in the form of HTML.
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
		files = append(files, frame.Static{
			Path: path, Media: "text/javascript; charset=utf-8", Fixed: fixed, Plain: content,
			Compressed: sync.OnceValue(func() frame.Compressed { return compress(content) }),
		})
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

// compress is called at a file's first request: few processes serve any.
func compress(content []byte) frame.Compressed {
	write := func(to func(io.Writer) io.WriteCloser) []byte {
		var b bytes.Buffer
		w := to(&b)
		_, err := w.Write(content)
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			panic("BUG: memory takes all that is written: " + err.Error())
		}
		return b.Bytes()
	}
	return frame.Compressed{
		Brotli: write(func(w io.Writer) io.WriteCloser { return brotli.NewWriterLevel(w, brotli.BestCompression) }),
		Gzip: write(func(w io.Writer) io.WriteCloser {
			compressor, err := gzip.NewWriterLevel(w, gzip.BestCompression)
			if err != nil {
				panic("BUG: " + err.Error())
			}
			return compressor
		}),
	}
}
