package gitsync

import (
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/storage/memory"
)

// Commit is the commit that a push makes.
type Commit struct {
	// Parent is the parent of the new commit. It must have been fetched. If it is nil, the commit is the first commit
	// of a branch that must not exist.
	Parent *Snapshot
	// NewBranch is true if the branch must not exist although there is a parent. If there are no changes, the branch is
	// created at the parent.
	NewBranch bool
	Changes   []Change
	Message   string
	// Name and Email are the name and the email address of the author. The author is also the committer.
	Name, Email string
	At          time.Time
	// Force is true if the push may overwrite changes that were made in the branch after Parent was fetched.
	Force bool
}

// Push makes a commit and moves the branch to the commit. It does this only if the branch is still at the parent. It
// returns the hash of the commit. If the changes have no effect, Push sends no data and returns the hash of the parent.
func (c *Client) Push(ctx context.Context, r Remote, commit Commit) (string, error) {
	ctx, cancel := c.within(ctx)
	defer cancel()
	endpoint, login, err := r.open()
	if err != nil {
		return "", err
	}
	made, hash, err := commit.build(c.limits)
	if err != nil {
		return "", explain(StepWrite, err)
	}
	expected := plumbing.ZeroHash
	if commit.Parent != nil && !commit.NewBranch {
		expected, _ = parseHash(commit.Parent.Commit)
	}
	session, err := c.transport.NewReceivePackSession(endpoint, login)
	if err != nil {
		return "", explain(StepConnect, err)
	}
	refs, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		return "", explain(StepConnect, err)
	}
	// If the server does not list the ref, the ref does not exist, and its hash is zero.
	if now := refs.References[r.Ref]; now != expected {
		if !commit.Force {
			return "", &Error{Step: StepPush, Reason: RemoteMoved}
		}
		expected = now
	}
	if hash == expected {
		return hash.String(), nil
	}
	if err := send(ctx, session, refs.Capabilities, &packp.Command{Name: plumbing.ReferenceName(r.Ref),
		Old: expected, New: hash}, made, r.secrets()); err != nil {
		// The ref is read again to find out what has happened. The server may have forbidden the push, or another push
		// may have been faster. The push may also have succeeded, and only its answer was lost.
		switch now, asked := c.now(ctx, endpoint, login, r.Ref); {
		case asked && now == hash:
			return hash.String(), nil
		case asked && now != expected:
			return "", &Error{Step: StepPush, Reason: RemoteMoved, cause: err}
		}
		return "", err
	}
	return hash.String(), nil
}

// build makes the objects of the commit and returns them with the commit's hash.
func (c *Commit) build(limits Limits) ([]plumbing.EncodedObject, plumbing.Hash, error) {
	changes, err := group(c.Changes, limits)
	if err != nil {
		return nil, plumbing.ZeroHash, err
	}
	e, before := &editor{}, plumbing.ZeroHash
	commit := &object.Commit{Message: c.Message, Author: object.Signature{Name: plainName(c.Name), Email: plainName(c.Email), When: c.At}}
	commit.Committer = commit.Author
	if c.Parent != nil {
		e.from, before = c.Parent.packs, c.Parent.tree
		parent, _ := parseHash(c.Parent.Commit)
		commit.ParentHashes = []plumbing.Hash{parent}
	}
	if commit.TreeHash, err = e.edit(before, changes, ""); err != nil {
		return nil, plumbing.ZeroHash, err
	}
	if commit.TreeHash == before && c.Parent != nil {
		return nil, commit.ParentHashes[0], nil
	}
	if commit.TreeHash.IsZero() { // a commit may have no files
		if commit.TreeHash, err = e.add(plumbing.TreeObject, nil); err != nil {
			return nil, plumbing.ZeroHash, err
		}
	}
	encoded := new(plumbing.MemoryObject)
	if err := commit.Encode(encoded); err != nil {
		return nil, plumbing.ZeroHash, err
	}
	return append(e.made, encoded), encoded.Hash(), nil
}

// plainName removes characters that would end a name in a commit.
func plainName(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '<' || r == '>' {
			return -1
		}
		return r
	}, text))
}

// send makes a pack of the objects, and sends it with the command that moves the ref.
func send(
	ctx context.Context, session transport.ReceivePackSession, can *capability.List, command *packp.Command,
	made []plumbing.EncodedObject, login []string,
) error {
	store := memory.NewStorage()
	var hashes []plumbing.Hash
	for _, encoded := range made {
		hash := encoded.Hash()
		if _, known := store.Objects[hash]; known { // two objects with the same content have the same hash
			continue
		}
		if _, err := store.SetEncodedObject(encoded); err != nil {
			return explain(StepWrite, err)
		}
		hashes = append(hashes, hash)
	}
	var packed bytes.Buffer
	if _, err := packfile.NewEncoder(&packed, store, false).Encode(hashes, 0); err != nil {
		return explain(StepWrite, err)
	}
	request := packp.NewReferenceUpdateRequestFromCapabilities(can)
	request.Commands, request.Packfile = []*packp.Command{command}, io.NopCloser(&packed)
	if can.Supports(capability.Sideband64k) {
		if err := request.Capabilities.Set(capability.Sideband64k); err != nil {
			return explain(StepPush, err)
		}
	}
	var words firstBytes
	request.Progress = &words
	report, err := session.ReceivePack(ctx, request)
	if report != nil {
		// The server's text helps the person who has configured its hooks and protected branches.
		refused := func(status string) error {
			return &Error{Step: StepPush, Reason: PushRefused, Detail: words.refusal(status, login), cause: err}
		}
		if report.UnpackStatus != "ok" {
			return refused(report.UnpackStatus)
		}
		for _, status := range report.CommandStatuses {
			if status.Status != "ok" {
				return refused(status.Status)
			}
		}
	}
	if err != nil {
		return explain(StepPush, err)
	}
	if report == nil && can.Supports(capability.ReportStatus) {
		return &Error{Step: StepPush, Reason: PushRefused, cause: errors.New("the server did not report on the push")}
	}
	return nil
}

// mostWords is the largest number of bytes of a server's text that are stored.
const mostWords = 4 << 10

// firstBytes stores the beginning of a server's output during a push. This output has the messages of the server's
// hooks.
type firstBytes struct{ kept []byte }

func (b *firstBytes) Write(data []byte) (int, error) {
	b.kept = append(b.kept, data[:min(len(data), mostWords-len(b.kept))]...)
	return len(data), nil
}

// refusal returns the status of a refused push with the text of the server. The result is one line and does not contain
// the login.
func (b *firstBytes) refusal(status string, login []string) string {
	text := string(b.kept)
	for _, secret := range login {
		text = strings.ReplaceAll(text, secret, "…")
		status = strings.ReplaceAll(status, secret, "…")
	}
	if text = said(withLogin.ReplaceAllString(text, "://…@")); text != "" {
		return said(status) + ": " + text
	}
	return said(status)
}

// withLogin matches the login in an address.
var withLogin = regexp.MustCompile(`://[^\s/@]*@`)

// now reads the present hash of a ref. It is the zero hash if the ref does not exist. The second result is false if the
// ref could not be read.
func (c *Client) now(ctx context.Context, endpoint *transport.Endpoint, login transport.AuthMethod, ref string) (plumbing.Hash, bool) {
	session, err := c.transport.NewReceivePackSession(endpoint, login)
	if err != nil {
		return plumbing.ZeroHash, false
	}
	refs, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		return plumbing.ZeroHash, false
	}
	return refs.References[ref], true
}
