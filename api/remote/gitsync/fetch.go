package gitsync

import (
	"context"
	"errors"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"

	"github.com/octavo-docs/octavo/api/remote/outbound"
)

// Snapshot is a commit of a branch with its files. Only one goroutine may use it at a time. The caller of Fetch must
// close it.
type Snapshot struct {
	Commit string // hash of the commit
	Files  []File // files of the commit, in the order of the tree
	Left   []Left

	tree  plumbing.Hash
	packs layers
}

// Close removes the received pack.
func (s *Snapshot) Close() error { return s.packs.close() }

// Read returns the content of a file. The caller owns the bytes.
func (s *Snapshot) Read(f File) ([]byte, error) {
	hash, ok := parseHash(f.Blob)
	if !ok {
		return nil, &Error{Step: StepRead, Reason: Damaged, Detail: "the file has no hash"}
	}
	return readBlob(s.packs, hash)
}

// Fetch fetches the newest commit of a branch with its files. It does not fetch the history if the server supports
// that. It does not fetch objects that are in the cache.
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
	switch {
	case r.Commit != "":
		if tip, ok = parseHash(r.Commit); !ok {
			return nil, &Error{Step: StepFindRef, Reason: NoCommit}
		}
	case !ok:
		return nil, &Error{Step: StepFindRef, Reason: NoRef}
	}
	f := &fetching{client: c, session: session, can: refs.Capabilities, tip: tip, partial: refs.Capabilities.Supports(capability.Filter)}
	path := c.cachePath(endpoint.String(), r.Cache, f.partial)
	known, kept := c.cached(ctx, path)
	s, err := f.snapshot(ctx, known, kept)
	if _, unreached := errors.AsType[*outbound.Error](err); err != nil && known != nil && !unreached && ctx.Err() == nil {
		// The cached pack may have caused the error. So all objects are fetched from the server.
		kept = plumbing.ZeroHash
		s, err = f.snapshot(ctx, nil, kept)
	}
	if r.Commit != "" {
		if errors.Is(err, Damaged) { // if a server refuses the commit, the answer ends early
			err = &Error{Step: StepFindRef, Reason: NoCommit, cause: err}
		}
		return s, err
	}
	if err != nil {
		return nil, err
	}
	c.keep(ctx, path, s.packs, tip, kept, f.partial)
	return s, nil
}

// fetching is the state of one fetch of a commit.
type fetching struct {
	client  *Client
	session transport.UploadPackSession
	can     *capability.List
	tip     plumbing.Hash
	partial bool // whether the request tells the server to leave out large files
}

// snapshot receives the objects that the known pack does not have. The known pack has the commit `kept`. The method
// `snapshot` takes ownership of this pack.
func (f *fetching) snapshot(ctx context.Context, known *pack, kept plumbing.Hash) (*Snapshot, error) {
	s := &Snapshot{Commit: f.tip.String()}
	if known != nil {
		s.packs = layers{known}
	}
	if known == nil || kept != f.tip {
		received, err := f.download(ctx, known, kept)
		if err != nil {
			return nil, afterClose(explain(StepFetch, err), s.Close())
		}
		s.packs = append(layers{received}, s.packs...)
	}
	if err := s.list(ctx, f.client.limits, f.partial); err != nil {
		return nil, afterClose(explain(StepRead, err), s.Close())
	}
	return s, nil
}

// download receives the pack of the commit. The pack does not have the objects of the known pack.
func (f *fetching) download(ctx context.Context, known *pack, kept plumbing.Hash) (*pack, error) {
	request := packp.NewUploadPackRequestFromCapabilities(f.can)
	request.Wants = []plumbing.Hash{f.tip}
	wanted := []capability.Capability{capability.Shallow, capability.Filter, capability.NoProgress}
	for _, c := range wanted {
		if !f.can.Supports(c) {
			continue
		}
		if err := request.Capabilities.Set(c); err != nil {
			return nil, err
		}
	}
	if f.can.Supports(capability.Shallow) {
		request.Depth = packp.DepthCommits(1)
	} else {
		known = nil // the commit is not offered, because the server would assume that we have its history
	}
	if f.partial {
		request.Filter = packp.FilterBlobLimit(uint64(f.client.limits.FileBytes)+1, packp.BlobLimitPrefixNone)
	}
	if known != nil {
		request.Haves, request.Shallows = []plumbing.Hash{kept}, []plumbing.Hash{kept}
		// If the commit is not an ancestor, Git leaves out known files only in a thin pack. go-git does not show
		// whether the server can make thin packs, because go-git's store cannot read them. Servers ignore capabilities
		// that they do not know, so this one is always requested.
		if err := request.Capabilities.Set(capability.ThinPack); err != nil {
			return nil, err
		}
	}
	response, err := f.session.UploadPack(ctx, request)
	if err != nil {
		return nil, err
	}
	defer func() {
		// A complete pack is valid, even if the connection fails after it.
		_ = response.Close()
	}()
	var from io.Reader = response
	switch {
	case request.Capabilities.Supports(capability.Sideband64k):
		from = sideband.NewDemuxer(sideband.Sideband64k, response)
	case request.Capabilities.Supports(capability.Sideband):
		from = sideband.NewDemuxer(sideband.Sideband, response)
	}
	return receive(ctx, f.client.tempDir, from, f.client.limits, known)
}

func (s *Snapshot) list(ctx context.Context, limits Limits, partial bool) error {
	hash, _ := parseHash(s.Commit)
	var err error
	if s.tree, err = treeOf(s.packs, hash); err != nil {
		return err
	}
	w := &walker{objects: s.packs, limits: limits, partial: partial}
	if err := w.walk(ctx, s.tree, "", 1); err != nil {
		return err
	}
	s.Files, s.Left = w.files, w.left
	return nil
}
