package gitsync

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"

	"github.com/octavo-docs/octavo/api/remote/outbound"
)

// Remote is a branch of a repository, with the login for the repository.
type Remote struct {
	URL string // an http or https URL; a login in it is used if Username and Password are empty
	Ref string // a name such as refs/heads/main
	// Commit is the hash of the commit to fetch. If it is empty, the branch's newest commit is fetched. Servers only
	// send commits that are reachable from a branch.
	Commit string
	// Username and Password are sent only to the origin of URL. Forges accept a token as the password, with a user name
	// that the forge defines.
	Username, Password string
	// Cache is the key under which the fetched objects are cached for the next fetch.
	Cache CacheKey
}

// Config has the dependencies and limits of a Client.
type Config struct {
	Guard   *outbound.Guard
	Limits  Limits
	TempDir string // folder for packs, or "" for the system's folder for temporary files
	// CacheDir is the folder of the cache. It has the objects of fetches with a key in Remote.Cache, up to CacheBytes.
	// If CacheDir is empty or CacheBytes is 0, nothing is cached.
	CacheDir   string
	CacheBytes int64
	// Warn is called with errors of the cache. These errors do not stop a fetch. Warn may be nil.
	Warn func(error)
}

// Client fetches from repositories and pushes to them. It may be used by many goroutines concurrently.
type Client struct {
	transport  transport.Transport
	limits     Limits
	tempDir    string
	cacheDir   string
	cacheBytes int64
	warn       func(error)
}

const (
	maxRedirects     = 5
	handshakeTimeout = 10 * time.Second
	// headersTimeout is long, because a server first selects and packs the objects.
	headersTimeout = 2 * time.Minute
)

// New returns a Client. It opens no connection.
func New(cfg Config) *Client {
	l := cfg.Limits
	body := max(l.PackBytes+l.PackBytes/1000, l.RefsBytes) + 1<<20 // a pack is sent with additional framing bytes
	client := cfg.Guard.Client(outbound.Limits{
		TLS: handshakeTimeout, Headers: headersTimeout, Whole: l.Time, Redirects: maxRedirects, WireBytes: body, Bytes: body,
	})
	client.Transport = &answers{client.Transport, l.RefsBytes}
	return &Client{
		transport: githttp.NewClient(client), limits: l, tempDir: cfg.TempDir, cacheDir: cfg.CacheDir, cacheBytes: cfg.CacheBytes, warn: cfg.Warn,
	}
}

// open returns the address and the login of a Remote in the form of go-git.
func (r Remote) open() (*transport.Endpoint, transport.AuthMethod, error) {
	bad := func(detail string) (*transport.Endpoint, transport.AuthMethod, error) {
		return nil, nil, &Error{Step: StepResolve, Reason: Unreachable, Detail: detail}
	}
	u, err := url.Parse(r.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return bad("the address is no http or https URL") // the error of url.Parse would contain a password
	}
	if u.User != nil && r.Username == "" && r.Password == "" {
		r.Username = u.User.Username()
		r.Password, _ = u.User.Password()
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/"), strings.TrimSuffix(u.RawPath, "/")
	endpoint, err := transport.NewEndpoint(u.String())
	if err != nil {
		return bad("the address is no URL of a repository")
	}
	if !strings.HasPrefix(r.Ref, "refs/") {
		return nil, nil, &Error{Step: StepFindRef, Reason: NoRef, Detail: "its name must begin with refs/"}
	}
	if r.Username == "" && r.Password == "" {
		return endpoint, nil, nil
	}
	return endpoint, &githttp.BasicAuth{Username: r.Username, Password: r.Password}, nil
}

// secrets returns the parts of the login that errors must not contain, both plain and in the form of URLs.
func (r Remote) secrets() []string {
	password := r.Password
	if u, err := url.Parse(r.URL); err == nil && u.User != nil && password == "" && r.Username == "" {
		password, _ = u.User.Password()
	}
	token := base64.StdEncoding.EncodeToString([]byte(r.Username + ":" + password))
	var secrets []string
	for _, text := range []string{password, url.QueryEscape(password), url.PathEscape(password), token} {
		if password != "" {
			secrets = append(secrets, text)
		}
	}
	return secrets
}

// answers checks each answer of a server before go-git reads it. Without these checks, go-git would add the bodies of
// refusals to its errors. It would also read a list of refs of any length into memory.
type answers struct {
	next      http.RoundTripper
	refsBytes int64
}

var (
	errRefsTooLarge = errors.New("the list of refs is too long")
	errServerFailed = errors.New("the server failed")
	errNotGit       = errors.New("the answer is not of Git")
)

// RoundTrip implements http.RoundTripper.
func (a *answers) RoundTrip(req *http.Request) (*http.Response, error) {
	response, err := a.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	switch status := response.StatusCode; {
	case status >= 500 || status == http.StatusTooManyRequests:
		_ = response.Body.Close() // the status is more informative than an error of Close
		return nil, errServerFailed
	case status >= 300:
		_ = response.Body.Close()
		response.Body = http.NoBody
	case !strings.HasPrefix(response.Header.Get("Content-Type"), "application/x-git-"):
		_ = response.Body.Close() // the answer is a page for people, or belongs to the older protocol without packs
		return nil, errNotGit
	case strings.HasSuffix(req.URL.Path, "/info/refs"):
		response.Body = &refsBody{response.Body, a.refsBytes}
	}
	return response, nil
}

type refsBody struct {
	io.ReadCloser
	left int64
}

func (b *refsBody) Read(data []byte) (int, error) {
	n, err := b.ReadCloser.Read(data)
	if b.left -= int64(n); b.left < 0 {
		return 0, errRefsTooLarge
	}
	return n, err
}

// within returns a context that bounds the time of one fetch or push.
func (c *Client) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, c.limits.Time)
}

func parseHash(text string) (plumbing.Hash, bool) {
	return plumbing.NewHash(text), plumbing.IsHash(text)
}
