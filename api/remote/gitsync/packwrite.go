package gitsync

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1" // packs have a SHA-1 checksum
	"encoding/binary"
	"errors"
	"io"

	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// packFile is a file that contains a pack.
type packFile interface {
	io.ReadWriteSeeker
	Truncate(size int64) error
}

const (
	packCountAt = 8 // offset at which a pack has the number of its objects
	packVersion = 2
)

// writePack writes objects as a pack without deltas. `fits` is false if the pack would have more than `allowed` bytes.
// It then stops early.
func writePack(ctx context.Context, file packFile, from objects, hashes []plumbing.Hash, allowed int64) (fits bool, err error) {
	out := bufio.NewWriter(file)
	header := binary.BigEndian.AppendUint32(append([]byte("PACK"), 0, 0, 0, packVersion), uint32(len(hashes)))
	if _, err := out.Write(header); err != nil {
		return false, err
	}
	for _, hash := range hashes {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		written, err := writeEntry(out, from, hash)
		if err != nil {
			return false, err
		}
		if allowed -= written; allowed < 0 {
			return false, nil
		}
	}
	if err := out.Flush(); err != nil {
		return false, err
	}
	sum, err := packSum(file, -1)
	if err == nil {
		_, err = file.Write(sum)
	}
	return err == nil, err
}

// writeEntry adds an object to a pack. It returns the number of bytes that it has written.
func writeEntry(to io.Writer, from objects, hash plumbing.Hash) (int64, error) {
	encoded, err := from.read(hash)
	if err != nil {
		return 0, err
	}
	reader, err := encoded.Reader()
	if err != nil {
		return 0, err
	}
	// The first byte has the type and the lowest four bits of the size. Each further byte has seven bits of the size.
	size := uint64(encoded.Size())
	first := byte(encoded.Type())<<4 | byte(size&15)
	var entry bytes.Buffer
	if size >>= 4; size > 0 {
		first |= 0x80
	}
	entry.WriteByte(first)
	if size > 0 {
		entry.Write(binary.AppendUvarint(nil, size))
	}
	deflate, err := zlib.NewWriterLevel(&entry, zlib.BestSpeed)
	if err != nil {
		return 0, err
	}
	if _, err = io.Copy(deflate, reader); err == nil {
		err = deflate.Close()
	}
	if closing := reader.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return 0, err
	}
	return entry.WriteTo(to)
}

// packSum returns the checksum of the first `size` bytes of a file. If `size` is -1, it returns the checksum of the
// whole file. Afterwards, the position of the file is at the end of these bytes.
func packSum(file io.ReadSeeker, size int64) ([]byte, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	var from io.Reader = file
	if size >= 0 {
		from = io.LimitReader(file, size)
	}
	sum := sha1.New() // packs have a SHA-1 checksum
	_, err := io.Copy(sum, from)
	return sum.Sum(nil), err
}

// end returns the offset of the pack's checksum.
func (p *pack) end() (int64, error) {
	size, err := p.file.Seek(0, io.SeekEnd)
	if err == nil && size < sha1.Size {
		err = packfile.ErrMalformedPackFile
	}
	return size - sha1.Size, err
}

// verify checks that the checksum in the pack is right.
func (p *pack) verify() error {
	end, err := p.end()
	if err != nil {
		return err
	}
	sum, err := packSum(p.file, end)
	if err != nil {
		return err
	}
	said := make([]byte, sha1.Size)
	if _, err := io.ReadFull(p.file, said); err != nil {
		return err
	}
	if !bytes.Equal(sum, said) {
		return packfile.ErrMalformedPackFile
	}
	return nil
}

// complete adds objects of the known pack to the pack: the missing bases of the pack's deltas.
// `git index-pack --fix-thin` does the same.
func (p *pack) complete(known *pack) error {
	var bases []plumbing.Hash
	for base := range p.bases {
		if _, there := known.find(base); there {
			bases = append(bases, base)
		}
	}
	if len(bases) == 0 {
		return nil
	}
	end, err := p.end()
	if err != nil {
		return err
	}
	if err := p.file.Truncate(end); err != nil {
		return err
	}
	if _, err := p.file.Seek(packCountAt, io.SeekStart); err != nil {
		return err
	}
	if _, err := p.file.Write(binary.BigEndian.AppendUint32(nil, p.count+uint32(len(bases)))); err != nil {
		return err
	}
	if _, err := p.file.Seek(0, io.SeekEnd); err != nil {
		return err
	}
	slices.SortFunc(bases, func(a, b plumbing.Hash) int { return bytes.Compare(a[:], b[:]) })
	out := bufio.NewWriter(p.file)
	for _, base := range bases {
		if _, err := writeEntry(out, known, base); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	sum, err := packSum(p.file, -1)
	if err == nil {
		_, err = p.file.Write(sum)
	}
	return err
}

// layers are packs that together contain all objects of a commit.
type layers []*pack

func (l layers) find(hash plumbing.Hash) (objectInfo, bool) {
	for _, p := range l {
		if info, ok := p.find(hash); ok {
			return info, true
		}
	}
	return objectInfo{}, false
}

func (l layers) read(hash plumbing.Hash) (plumbing.EncodedObject, error) {
	at := slices.IndexFunc(l, func(p *pack) bool { _, ok := p.find(hash); return ok })
	return l[max(at, 0)].read(hash)
}

func (l layers) close() (err error) {
	for _, p := range l {
		err = errors.Join(err, p.close())
	}
	return err
}
