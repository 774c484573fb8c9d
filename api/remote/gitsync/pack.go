package gitsync

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// cacheBytes bounds the bytes of objects that an open pack keeps in memory.
const cacheBytes = 16 << 20

// pack is a pack file. It is in a temporary folder, which `close` removes, or in the cache. Only one goroutine may use
// a pack at a time.
type pack struct {
	dir     string // temporary folder of the pack, or "" if the pack is in the cache
	file    *goGitFile
	objects *packfile.Packfile
	infos   map[plumbing.Hash]objectInfo
	count   uint32
	bases   map[plumbing.Hash]bool // hashes of the objects from which deltas are computed
}

// goGitFile implements the file interface of go-git. Lock does nothing, because only one goroutine uses the file.
type goGitFile struct{ *os.File }

func (goGitFile) Lock() error   { return nil }
func (goGitFile) Unlock() error { return nil }

func openPack(path string, flags int) (*goGitFile, error) {
	file, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, err
	}
	return &goGitFile{file}, nil
}

// receive writes a pack to a new folder below the folder `parent`. It then calls `measure`, which returns an error if
// the objects of the pack are too large. Only then does go-git load the objects into memory, because a pack of a few
// bytes could make go-git allocate a gigabyte. If `known` is not nil, the deltas of the new pack may refer to objects
// of the pack `known`.
func receive(ctx context.Context, parent string, from io.Reader, limits Limits, known *pack) (*pack, error) {
	dir, err := os.MkdirTemp(parent, "octavo-git-")
	if err != nil {
		return nil, &Error{Step: StepFetch, Reason: NoSpace, cause: err}
	}
	p := &pack{dir: dir, infos: map[plumbing.Hash]objectInfo{}}
	if err := p.fill(ctx, from, limits, known); err != nil {
		return nil, afterClose(err, p.close())
	}
	return p, nil
}

func (p *pack) fill(ctx context.Context, from io.Reader, limits Limits, known *pack) error {
	var err error
	if p.file, err = openPack(filepath.Join(p.dir, "pack"), os.O_RDWR|os.O_CREATE|os.O_EXCL); err != nil {
		return &Error{Step: StepFetch, Reason: NoSpace, cause: err}
	}
	written, err := io.Copy(diskWriter{p.file}, io.LimitReader(from, limits.PackBytes+1))
	if err != nil {
		return explain(StepFetch, err)
	}
	if written > limits.PackBytes {
		return &Error{Step: StepFetch, Reason: TooLarge, Detail: fmt.Sprintf("more than %d bytes", limits.PackBytes)}
	}
	if err := p.measure(ctx, limits); err != nil {
		return explain(StepRead, err)
	}
	if known != nil {
		if err := p.complete(known); err != nil {
			return explain(StepRead, err)
		}
	}
	if err := p.index(ctx); err != nil {
		return explain(StepRead, err)
	}
	return nil
}

// afterClose returns an error together with the error of a clean-up. If the clean-up succeeded, it returns the first
// error.
func afterClose(err, closing error) error {
	if closing == nil {
		return err
	}
	return errors.Join(err, closing)
}

// diskWriter marks errors of the disk, so that callers can distinguish them from errors of the server.
type diskWriter struct{ io.Writer }

func (w diskWriter) Write(data []byte) (int, error) {
	n, err := w.Writer.Write(data)
	if err != nil {
		err = &Error{Step: StepFetch, Reason: NoSpace, cause: err}
	}
	return n, err
}

// measure inflates each entry of the pack without storing the entry. It adds up the sizes of the objects, and the bytes
// that deltas will read. If a delta states a wrong size of its base, go-git refuses it later.
func (p *pack) measure(ctx context.Context, limits Limits) error {
	tooLarge := func(detail string, bound any) error {
		return &Error{Step: StepRead, Reason: TooLarge, Detail: fmt.Sprintf(detail, bound)}
	}
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	scanner := packfile.NewScanner(p.file)
	_, count, err := scanner.Header()
	if err != nil {
		return err
	}
	if count > limits.Objects {
		return tooLarge("more than %d objects", limits.Objects)
	}
	p.count, p.bases = count, map[plumbing.Hash]bool{}
	var total, bases int64
	for range count {
		if err := ctx.Err(); err != nil {
			return err
		}
		header, err := scanner.NextObjectHeader()
		if err != nil {
			return err
		}
		switch header.Type {
		case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject, plumbing.OFSDeltaObject, plumbing.REFDeltaObject:
		default:
			return packfile.ErrMalformedPackFile
		}
		if header.Length < 0 || header.Length > limits.ObjectBytes {
			return tooLarge("an object of more than %d bytes", limits.ObjectBytes)
		}
		var start prefix
		written, _, err := scanner.NextObject(&start)
		if err != nil {
			return err
		}
		if written != header.Length {
			return packfile.ErrMalformedPackFile
		}
		size := header.Length
		if header.Type.IsDelta() {
			var base int64
			if base, size, err = start.sizes(); err != nil {
				return err
			}
			if max(base, size) > limits.ObjectBytes {
				return tooLarge("an object of more than %d bytes", limits.ObjectBytes)
			}
			if bases += base; bases > limits.BaseBytes {
				return tooLarge("deltas of more than %d bytes", limits.BaseBytes)
			}
			total += header.Length
		}
		if header.Type == plumbing.REFDeltaObject {
			p.bases[header.Reference] = true
		}
		if total += size; total > limits.InflatedBytes {
			return tooLarge("more than %d bytes", limits.InflatedBytes)
		}
	}
	return nil
}

// prefix stores the beginning of a delta. The beginning has the sizes of the delta's base and of its result.
type prefix struct{ bytes []byte }

func (p *prefix) Write(data []byte) (int, error) {
	if room := 2*binary.MaxVarintLen64 - len(p.bytes); room > 0 {
		p.bytes = append(p.bytes, data[:min(room, len(data))]...)
	}
	return len(data), nil
}

func (p *prefix) sizes() (base, target int64, err error) {
	of, n := binary.Uvarint(p.bytes)
	if n <= 0 || of > 1<<62 {
		return 0, 0, packfile.ErrInvalidDelta
	}
	size, n := binary.Uvarint(p.bytes[n:])
	if n <= 0 || size > 1<<62 {
		return 0, 0, packfile.ErrInvalidDelta
	}
	return int64(of), int64(size), nil
}

// index finds the hash of each object in the pack.
func (p *pack) index(ctx context.Context) error {
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	writer := new(idxfile.Writer)
	parser, err := packfile.NewParser(packfile.NewScanner(p.file), writer, &census{ctx: ctx, infos: p.infos})
	if err != nil {
		return err
	}
	if _, err := parser.Parse(); err != nil {
		return err
	}
	index, err := writer.Index()
	if err != nil {
		return err
	}
	p.objects = packfile.NewPackfileWithCache(index, nil, p.file, cache.NewObjectLRU(cacheBytes), 0)
	return nil
}

// census records the objects of a pack. It stops when the time limit has passed, because chains of deltas can take
// long.
type census struct {
	ctx   context.Context
	infos map[plumbing.Hash]objectInfo
	last  objectInfo
}

func (*census) OnHeader(uint32) error { return nil }

func (c *census) OnInflatedObjectHeader(kind plumbing.ObjectType, size, _ int64) error {
	c.last = objectInfo{kind, size}
	return c.ctx.Err()
}

func (c *census) OnInflatedObjectContent(hash plumbing.Hash, _ int64, _ uint32, _ []byte) error {
	c.infos[hash] = c.last
	return nil
}

func (*census) OnFooter(plumbing.Hash) error { return nil }

func (p *pack) find(hash plumbing.Hash) (objectInfo, bool) {
	info, ok := p.infos[hash]
	return info, ok
}

func (p *pack) read(hash plumbing.Hash) (plumbing.EncodedObject, error) {
	encoded, err := p.objects.Get(hash)
	if err != nil {
		return nil, &Error{Step: StepRead, Reason: Damaged, cause: fmt.Errorf("object %s: %w", hash, err)}
	}
	return encoded, nil
}

func readBlob(from objects, hash plumbing.Hash) ([]byte, error) {
	encoded, err := from.read(hash)
	if err != nil {
		return nil, err
	}
	reader, err := encoded.Reader()
	if err != nil {
		return nil, &Error{Step: StepRead, Reason: Damaged, cause: err}
	}
	var content bytes.Buffer
	if _, err = content.ReadFrom(reader); err == nil {
		err = reader.Close()
	}
	if err != nil {
		return nil, &Error{Step: StepRead, Reason: Damaged, cause: err}
	}
	return content.Bytes(), nil
}

func (p *pack) close() error {
	var err error
	if p.file != nil {
		err = p.file.Close()
	}
	if p.dir == "" {
		return err
	}
	return errors.Join(err, os.RemoveAll(p.dir))
}
