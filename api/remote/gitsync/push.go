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
	// Parent is the fetched commit that becomes the new commit's parent. nil makes a first commit, on a branch that
	// must not exist.
	Parent *Snapshot
	// NewBranch means that the branch must not exist, although there is a parent. Without changes the branch begins at
	// the parent.
	NewBranch bool
	Changes   []Change
	Message   string
	// Name and Email are the name and the address of the author, who is also the committer.
	Name, Email string
	At          time.Time
	// Force overwrites changes of the branch since Parent was fetched.
	Force bool
}

// Push makes a commit and moves the branch to the commit, if the branch still is at the parent. It returns the hash of
// the commit. If the changes have no effect, Push sends no data and returns the hash of the parent.
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
	// A ref that is not listed does not exist, so its hash is zero.
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
		// Reading the ref again distinguishes a lost race from a forbidden push, and a lost answer from a lost push.
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

// build makes the objects of the commit.
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
	if commit.TreeHash.IsZero() { // A commit may have no file.
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

// plainName drops characters that would end a name in a commit.
func plainName(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '<' || r == '>' {
			return -1
		}
		return r
	}, text))
}

// send packs the objects, and sends them with the command that moves the ref.
func send(
	ctx context.Context, session transport.ReceivePackSession, can *capability.List, command *packp.Command,
	made []plumbing.EncodedObject, login []string,
) error {
	store := memory.NewStorage()
	var hashes []plumbing.Hash
	for _, encoded := range made {
		hash := encoded.Hash()
		if _, known := store.Objects[hash]; known { // Two files have the same content.
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
		// The server's text helps the person who configured its hooks and protected branches.
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

// mostWords limits the stored part of a server's text.
const mostWords = 4 << 10

// firstBytes stores the beginning of a server's output during a push, which has the messages of its hooks.
type firstBytes struct{ kept []byte }

func (b *firstBytes) Write(data []byte) (int, error) {
	b.kept = append(b.kept, data[:min(len(data), mostWords-len(b.kept))]...)
	return len(data), nil
}

// refusal is the status of a refused push, with the words of the server: one line without the login.
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

// withLogin finds the login in an address.
var withLogin = regexp.MustCompile(`://[^\s/@]*@`)

// now reads the current hash of a ref, which is the zero hash if the ref does not exist.
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
