package gitsync

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/storage/memory"
)

// rawObject is an entry of a pack. Its header may state a wrong size of its content.
type rawObject struct {
	kind     plumbing.ObjectType
	declared uint64
	base     []byte // hash of a delta's base; other objects have no base
	content  []byte
}

func rawPack(count uint32, objects ...rawObject) []byte {
	var out bytes.Buffer
	out.WriteString("PACK")
	_ = binary.Write(&out, binary.BigEndian, [2]uint32{2, count}) // Writing to a Buffer never fails, here and below.
	for _, o := range objects {
		size, first := o.declared>>4, byte(o.kind)<<4|byte(o.declared&15)
		for ; size > 0; size >>= 7 {
			out.WriteByte(first | 0x80)
			first = byte(size & 0x7f)
		}
		out.WriteByte(first)
		out.Write(o.base)
		w := zlib.NewWriter(&out)
		_, _ = w.Write(o.content)
		_ = w.Close()
	}
	sum := sha1.Sum(out.Bytes())
	return append(out.Bytes(), sum[:]...)
}

func blobHash(content string) []byte {
	hash := plumbing.ComputeHash(plumbing.BlobObject, []byte(content))
	return hash[:]
}

// delta returns a delta of the base "base". The delta states that its result has `target` bytes. The copy commands
// follow.
func delta(target uint64, commands ...byte) []byte {
	return append(binary.AppendUvarint(binary.AppendUvarint(nil, 4), target), commands...)
}

// manyDeltas returns a pack with deltas that each copy 4 bytes of a large base.
func manyDeltas(deltas int) []byte {
	base := bytes.Repeat([]byte("base"), 1<<20)
	copies := append(binary.AppendUvarint(binary.AppendUvarint(nil, uint64(len(base))), 4), 0x90, 4)
	objects := []rawObject{{plumbing.BlobObject, uint64(len(base)), nil, base}}
	for range deltas {
		copied := rawObject{plumbing.REFDeltaObject, uint64(len(copies)), blobHash(string(base)), copies}
		objects = append(objects, copied)
	}
	return rawPack(uint32(len(objects)), objects...)
}

// TestHostilePacks checks that sizes in a pack are used only after they are checked. No part of a pack with wrong sizes
// is stored.
func TestHostilePacks(t *testing.T) {
	t.Parallel()
	base := rawObject{plumbing.BlobObject, 4, nil, []byte("base")}
	copyBase := []byte{0x90, 4} // this command copies 4 bytes from the start of the base
	for _, test := range []struct {
		name   string
		pack   []byte
		step   Step
		reason *Reason
	}{
		{"right", rawPack(2, base, rawObject{plumbing.REFDeltaObject, 4, blobHash("base"), delta(4, copyBase...)}), "", nil},
		{"no object", rawPack(0), "", nil},
		{"nothing", nil, StepRead, Damaged},
		{"no pack", []byte("<html>"), StepRead, Damaged},
		{"fewer objects than said", rawPack(2, base), StepRead, Damaged},
		{"more objects than can be", rawPack(1 << 31), StepRead, TooLarge},
		{"a size of 1 GiB", rawPack(1, rawObject{plumbing.BlobObject, 1 << 30, nil, []byte("x")}), StepRead, TooLarge},
		{"a size beyond int64", rawPack(1, rawObject{plumbing.BlobObject, 1 << 63, nil, []byte("x")}), StepRead, Damaged},
		{"a larger object than said", rawPack(1, rawObject{plumbing.BlobObject, 1, nil, make([]byte, 1<<20)}), StepRead, Damaged},
		{"a smaller object than said", rawPack(1, rawObject{plumbing.BlobObject, 100, nil, []byte("x")}), StepRead, Damaged},
		{"a delta of 1 GiB", rawPack(2, base, rawObject{plumbing.REFDeltaObject, 8, blobHash("base"), delta(1<<30, copyBase...)}), StepRead, TooLarge},
		{"a delta beyond int64", rawPack(2, base, rawObject{plumbing.REFDeltaObject, 13, blobHash("base"), delta(1<<63, copyBase...)}), StepRead, Damaged},
		{"a delta of another size", rawPack(2, base, rawObject{plumbing.REFDeltaObject, 4, blobHash("base"), delta(100, copyBase...)}), StepRead, Damaged},
		{"an empty delta", rawPack(2, base, rawObject{plumbing.REFDeltaObject, 0, blobHash("base"), nil}), StepRead, Damaged},
		{"a delta without its base", rawPack(1, rawObject{plumbing.REFDeltaObject, 4, blobHash("other"), delta(4, copyBase...)}), StepRead, Damaged},
		{"a delta before the pack", rawPack(1, rawObject{plumbing.OFSDeltaObject, 4, []byte{0x7f}, delta(4, copyBase...)}), StepRead, Damaged},
		{
			"a delta of another base size",
			rawPack(2, base, rawObject{plumbing.REFDeltaObject, 4, blobHash("base"), []byte{3, 4, 0x90, 4}}),
			StepRead, Damaged,
		},
		{
			"a delta of a base of 1 GiB",
			rawPack(2, base, rawObject{
				plumbing.REFDeltaObject, 8, blobHash("base"), append(binary.AppendUvarint(nil, 1<<30), 4, 0x90, 4),
			}),
			StepRead, TooLarge,
		},
		{"as many deltas of a large base as may be", manyDeltas(15), "", nil},
		{"too many deltas of a large base", manyDeltas(17), StepRead, TooLarge},
		{"an unknown kind", rawPack(1, rawObject{5, 1, nil, []byte("x")}), StepRead, Damaged},
		{"another checksum", append(rawPack(1, base)[:20+13], make([]byte, 20)...), StepRead, Damaged},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			p, err := receive(t.Context(), dir, bytes.NewReader(test.pack), testLimits, nil)
			if test.reason != nil {
				wantError(t, err, test.step, test.reason)
			} else if err != nil {
				t.Error(err)
			}
			if p != nil {
				err = p.close()
			} else {
				err = nil
			}
			if left, readErr := os.ReadDir(dir); err != nil || readErr != nil || len(left) > 0 {
				t.Errorf("left %v, %v, %v", left, err, readErr)
			}
		})
	}
	if _, err := receive(t.Context(), "/nonexistent", bytes.NewReader(rawPack(0)), testLimits, nil); !errors.Is(err, NoSpace) {
		t.Errorf("without a folder: %v", err)
	}
}

// FuzzReceive checks that the bytes of a server are read within the limits, or are refused with an Error.
func FuzzReceive(f *testing.F) {
	store := memory.NewStorage()
	var hashes []plumbing.Hash
	for _, text := range []string{"one page\n", strings.Repeat("a long page\n", 20), strings.Repeat("a long page\n", 20) + "more\n"} {
		e := &editor{}
		hash, err := e.add(plumbing.BlobObject, []byte(text))
		if err == nil {
			_, err = store.SetEncodedObject(e.made[0])
		}
		if err != nil {
			f.Fatal(err)
		}
		hashes = append(hashes, hash)
	}
	for _, window := range []uint{0, 10} {
		var packed bytes.Buffer
		if _, err := packfile.NewEncoder(&packed, store, window == 0).Encode(hashes, window); err != nil {
			f.Fatal(err)
		}
		f.Add(packed.Bytes())
	}
	f.Add(rawPack(2, rawObject{plumbing.BlobObject, 4, nil, []byte("base")}, rawObject{plumbing.REFDeltaObject, 4, blobHash("base"), delta(4, 0x90, 4)}))
	limits := testLimits
	limits.Objects, limits.ObjectBytes, limits.InflatedBytes, limits.PackBytes = 100, 10_000, 20_000, 100_000
	limits.BaseBytes = 40_000
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := receive(context.Background(), dir, bytes.NewReader(data), limits, nil)
		if err != nil {
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		var total int64
		for hash, info := range p.infos {
			if info.kind != plumbing.BlobObject {
				continue
			}
			content, err := readBlob(p, hash)
			if err != nil || int64(len(content)) != info.size || plumbing.ComputeHash(info.kind, content) != hash {
				t.Fatalf("%s: %d bytes, announced %d, %v", hash, len(content), info.size, err)
			}
			total += info.size
		}
		if err := p.close(); err != nil || total > limits.InflatedBytes {
			t.Fatalf("%d bytes, %v", total, err)
		}
	})
}
