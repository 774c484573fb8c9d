package chserver

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/go-faster/city"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// plainReader reads an uncompressed block. Only the walker can find the end of the block. So the walker gets all
// buffered bytes, and then returns the bytes that follow the block.
type plainReader struct {
	in   *bufio.Reader
	lent int // number of in's buffered bytes that the walker has
}

// next appends all buffered bytes to `buf`, at least one byte. If the walker misses more bytes than `in` can buffer,
// `next` appends exactly the missing bytes. The walker calls `next` only when it has used up the previous bytes.
func (p *plainReader) next(buf []byte, missing int) ([]byte, error) {
	if err := p.giveBack(0); err != nil {
		return buf, err
	}
	if missing > p.in.Size() {
		return appendRead(buf, p.in, missing)
	}
	if _, err := p.in.Peek(1); err != nil {
		return buf, err
	}
	p.lent = p.in.Buffered()
	ready, err := p.in.Peek(p.lent)
	return append(buf, ready...), err
}

// giveBack consumes the bytes that `next` has appended, except the last `unused` bytes.
func (p *plainReader) giveBack(unused int) error {
	_, err := p.in.Discard(p.lent - unused)
	p.lent = 0
	return err
}

// A compressed frame begins with a checksum of all later bytes (16 bytes). Then come the method (1 byte), the packed
// size including these 9 bytes (4 bytes), the plain size (4 bytes), and the data.
const (
	frameChecksum = 16
	frameHeader   = 9
	frameNone     = 0x02
	frameLZ4      = 0x82
	frameZSTD     = 0x90
	maxFrame      = 128 << 20 // ClickHouse's limit is larger, but clients send far smaller frames
)

// frameReader unpacks the frames of one connection. ch-go's reader is not used, because it allocates the announced
// sizes before it has read the data.
type frameReader struct {
	r      io.Reader
	packed []byte
	zstd   *zstd.Decoder // created at the first ZSTD frame
}

// next appends the plain data of the next frame to `buf`.
func (f *frameReader) next(buf []byte) ([]byte, error) {
	var head [frameChecksum + frameHeader]byte
	if _, err := io.ReadFull(f.r, head[:]); err != nil {
		return buf, fmt.Errorf("cannot read the header of a compressed frame: %w", err)
	}
	packedSize := int64(binary.LittleEndian.Uint32(head[frameChecksum+1:])) - frameHeader
	plainSize := int64(binary.LittleEndian.Uint32(head[frameChecksum+5:]))
	if packedSize < 0 || packedSize > maxFrame || plainSize > maxFrame {
		return buf, refuse(codeBadData, "a compressed frame of %d bytes for %d is out of bounds", packedSize, plainSize)
	}
	var err error
	f.packed = append(f.packed[:0], head[frameChecksum:]...)
	if f.packed, err = appendRead(f.packed, f.r, int(packedSize)); err != nil {
		return buf, fmt.Errorf("cannot read a compressed frame: %w", err)
	}
	sum := city.CH128(f.packed)
	if sum.Low != binary.LittleEndian.Uint64(head[:8]) || sum.High != binary.LittleEndian.Uint64(head[8:]) {
		return buf, refuse(codeBadData, "the checksum of a compressed frame does not match")
	}
	return f.unpack(buf, head[frameChecksum], f.packed[frameHeader:], int(plainSize))
}

func (f *frameReader) unpack(buf []byte, method byte, packed []byte, plainSize int) ([]byte, error) {
	start := len(buf)
	switch method {
	case frameNone:
		buf = append(buf, packed...)
	case frameLZ4:
		if plainSize > 255*len(packed)+64 { // LZ4 cannot compress so much
			return buf, refuse(codeBadData, "an LZ4 frame of %d bytes cannot hold %d", len(packed), plainSize)
		}
		buf = append(buf, make([]byte, plainSize)...)
		n, err := lz4.UncompressBlock(packed, buf[start:])
		if err != nil {
			return buf[:start], refuse(codeBadData, "cannot unpack an LZ4 frame: %v", err)
		}
		buf = buf[:start+n]
	case frameZSTD:
		if f.zstd == nil {
			decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxFrame))
			if err != nil {
				return buf, fmt.Errorf("cannot create a ZSTD decoder: %w", err)
			}
			f.zstd = decoder
		}
		plain, err := f.zstd.DecodeAll(packed, buf)
		if err != nil {
			return buf[:start], refuse(codeBadData, "cannot unpack a ZSTD frame: %v", err)
		}
		buf = plain
	default:
		return buf, refuse(codeBadData, "unknown compression method 0x%02x", method)
	}
	if len(buf)-start != plainSize {
		return buf[:start], refuse(codeBadData, "a compressed frame holds %d bytes, its header says %d", len(buf)-start, plainSize)
	}
	return buf, nil
}

// framePlain is the largest size of an outgoing frame's plain data. The client decodes a whole frame at a time, so
// small frames keep its memory use low.
const framePlain = 1 << 20

// appendFrames packs `plain` into LZ4 frames. The client may use another method for its own data, because each frame
// states its method.
func appendFrames(buf []byte, w *compress.Writer, plain []byte) ([]byte, error) {
	for len(plain) > 0 {
		n := min(len(plain), framePlain)
		if err := w.Compress(plain[:n]); err != nil {
			return buf, fmt.Errorf("cannot compress a block: %w", err)
		}
		buf = append(buf, w.Data...)
		plain = plain[n:]
	}
	return buf, nil
}
