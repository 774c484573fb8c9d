package gitsync

import (
	"context"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

// Snapshot is a commit of a branch with its files. It is for one goroutine at a time, and its owner closes it.
type Snapshot struct {
	Commit string // hash
	Files  []File // in the order of the tree
	Left   []Left

	tree plumbing.Hash
	pack *pack
}

// Close removes the pack.
func (s *Snapshot) Close() error { return s.pack.close() }

// Read returns the content of a file. The caller owns the bytes.
func (s *Snapshot) Read(f File) ([]byte, error) {
	hash, ok := parseHash(f.Blob)
	if !ok {
		return nil, &Error{Step: StepRead, Reason: Damaged, Detail: "the file has no hash"}
	}
	return readBlob(s.pack, hash)
}

// Fetch reads the newest commit of a branch: that commit alone if the server can do so, or with its history.
func (c *Client) Fetch(ctx context.Context, r Remote) (*Snapshot, error) {
	ctx, cancel := c.within(ctx)
	defer cancel()
	endpoint, login, err := r.open()
	if err != nil {
		return nil, err
	}
	session, err := c.transport.NewUploadPackSession(endpoint, login)
	if err != nil {
		return nil, explain(StepConnect, err)
	}
	refs, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		return nil, explain(StepConnect, err)
	}
	tip, ok := refs.References[r.Ref]
	if !ok {
		return nil, &Error{Step: StepFindRef, Reason: NoRef}
	}
	received, partial, err := c.download(ctx, session, refs.Capabilities, tip)
	if err != nil {
		return nil, explain(StepFetch, err)
	}
	s := &Snapshot{Commit: tip.String(), pack: received}
	if err := s.list(ctx, c.limits, partial); err != nil {
		return nil, afterClose(explain(StepRead, err), s.Close())
	}
	return s, nil
}

// download receives the pack of a commit. partial says that the server was asked to leave out large files.
func (c *Client) download(
	ctx context.Context, session transport.UploadPackSession, can *capability.List, tip plumbing.Hash,
) (received *pack, partial bool, err error) {
	request := packp.NewUploadPackRequestFromCapabilities(can)
	request.Wants = []plumbing.Hash{tip}
	for _, wanted := range []capability.Capability{capability.Shallow, capability.Filter, capability.NoProgress} {
		if !can.Supports(wanted) {
			continue
		}
		if err := request.Capabilities.Set(wanted); err != nil {
			return nil, false, err
		}
	}
	if can.Supports(capability.Shallow) {
		request.Depth = packp.DepthCommits(1)
	}
	if partial = can.Supports(capability.Filter); partial {
		request.Filter = packp.FilterBlobLimit(uint64(c.limits.FileBytes)+1, packp.BlobLimitPrefixNone)
	}
	response, err := session.UploadPack(ctx, request)
	if err != nil {
		return nil, false, err
	}
	defer func() {
		// A pack that arrived whole is good whatever the connection does then.
		_ = response.Close()
	}()
	var from io.Reader = response
	switch {
	case request.Capabilities.Supports(capability.Sideband64k):
		from = sideband.NewDemuxer(sideband.Sideband64k, response)
	case request.Capabilities.Supports(capability.Sideband):
		from = sideband.NewDemuxer(sideband.Sideband, response)
	}
	received, err = receive(ctx, c.tempDir, from, c.limits)
	return received, partial, err
}

func (s *Snapshot) list(ctx context.Context, limits Limits, partial bool) error {
	hash, _ := parseHash(s.Commit)
	encoded, err := s.pack.read(hash)
	if err != nil {
		return err
	}
	var commit object.Commit
	if err := commit.Decode(encoded); err != nil {
		return fmt.Errorf("commit %s: %w", s.Commit, err)
	}
	s.tree = commit.TreeHash
	w := &walker{objects: s.pack, limits: limits, partial: partial}
	if err := w.walk(ctx, s.tree, "", 1); err != nil {
		return err
	}
	s.Files, s.Left = w.files, w.left
	return nil
}
