package frame

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"io"
	"mime"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/octavo-docs/octavo/schema"
)

// readBody reads the body, checks its media type and decodes its Content-Encoding. The result is in a pooled buffer
// that belongs to the call. It is invalid after the operation's function has returned.
func (c *call) readBody(ctx context.Context, op *Operation) ([]byte, error) {
	body, err := c.receive(ctx, op)
	if err != nil || len(body) == 0 {
		return nil, err
	}
	if err := checkMediaType(c.http.Request.Header.ContentType(), op.Accepts); err != nil {
		return nil, err
	}
	encoding := c.http.Request.Header.ContentEncoding()
	if len(encoding) == 0 || bytes.EqualFold(encoding, []byte("identity")) {
		return body, nil
	}
	pool, ok := inflaters[strings.ToLower(strings.TrimSpace(string(encoding)))]
	if !ok {
		return nil, schema.UnsupportedMedia("Content-Encoding must be gzip, deflate, br, zstd or identity")
	}
	return pool.inflate(ctx, &c.inflated, body, op)
}

func tooLarge(op *Operation) error {
	return schema.TooLarge("the body is larger than " + byteSize(op.BodyLimit))
}

func checkMediaType(header []byte, accepts []string) error {
	if len(header) == 0 || accepts[0] == MediaAny[0] {
		return nil
	}
	for _, accepted := range accepts {
		// Nearly every client sends exactly this value, which needs no parsing.
		if string(header) == accepted {
			return nil
		}
	}
	media, params, err := mime.ParseMediaType(string(header))
	if err == nil {
		charset, given := params["charset"]
		for _, accepted := range accepts {
			if media == accepted && (!given || strings.EqualFold(charset, "utf-8")) {
				return nil
			}
		}
	}
	return schema.UnsupportedMedia("Content-Type must be " + strings.Join(accepts, " or ") + " in UTF-8")
}

// resetReader is a decompressor that can be reused.
type resetReader interface {
	io.Reader
	Reset(r io.Reader) error
}

// inflater has a pool of decompressors for one encoding, because creating a decompressor costs more than decompressing
// a small body.
type inflater struct {
	pool sync.Pool
	make func(r io.Reader) (resetReader, error)
}

// inflaters has a decompressor for each supported value of the header Content-Encoding.
var inflaters = map[string]*inflater{
	"gzip":    {make: func(r io.Reader) (resetReader, error) { return gzip.NewReader(r) }},
	"x-gzip":  {make: func(r io.Reader) (resetReader, error) { return gzip.NewReader(r) }},
	"deflate": {make: func(r io.Reader) (resetReader, error) { return newDeflateReader(r) }},
	"br":      {make: func(r io.Reader) (resetReader, error) { return brotli.NewReader(r), nil }},
	"zstd":    {make: newZstdReader},
}

// inflate decompresses a body. It stops one byte after the limit, so a small body that inflates to gigabytes takes no
// more memory than the limit.
func (p *inflater) inflate(ctx context.Context, into *body, sent []byte, op *Operation) ([]byte, error) {
	source := bytes.NewReader(sent)
	reader, ok := p.pool.Get().(resetReader)
	var err error
	if ok {
		err = reader.Reset(source)
	} else if reader, err = p.make(source); err != nil {
		reader = nil // Do not put the reader into the pool: it may be a typed nil, or partly initialized.
	}
	var inflated []byte
	if err == nil {
		inflated, err = into.fill(ctx, reader, op.BodyLimit, nil)
		if errors.Is(err, errBodyTooLarge) || errors.Is(err, zstd.ErrDecoderSizeExceeded) || errors.Is(err, zstd.ErrWindowSizeExceeded) {
			err = tooLarge(op)
		}
	}
	if reader != nil {
		p.pool.Put(reader)
	}
	if err == nil {
		return inflated, nil
	}
	if e, ok := errors.AsType[*schema.Error](err); ok {
		return nil, e
	}
	return nil, &schema.Error{
		Code: schema.CodeBadRequest, Message: "the body is not in the encoding that Content-Encoding names", Cause: err,
	}
}

// newZstdReader limits the window, because a few bytes of input can make the decoder allocate the whole window.
func newZstdReader(r io.Reader) (resetReader, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(8<<20))
}

// deflateReader reads "deflate" bodies. By the standard, these bodies are zlib streams (RFC 9110, 8.4.1.2), but some
// clients send raw deflate streams.
type deflateReader struct {
	current io.Reader
	zlib    io.ReadCloser
	raw     io.ReadCloser
}

func newDeflateReader(r io.Reader) (*deflateReader, error) {
	d := &deflateReader{}
	return d, d.Reset(r)
}

func (d *deflateReader) Read(p []byte) (int, error) { return d.current.Read(p) }

func (d *deflateReader) Reset(r io.Reader) error {
	var head [2]byte
	n, err := io.ReadFull(r, head[:])
	if err != nil {
		return err
	}
	r = io.MultiReader(bytes.NewReader(head[:n]), r)
	// In a zlib header, the method is 8, and the two bytes as a number are a multiple of 31.
	if head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return d.resetZlib(r)
	}
	if d.raw == nil {
		d.raw = flate.NewReader(r)
	} else if err := d.raw.(flate.Resetter).Reset(r, nil); err != nil {
		return err
	}
	d.current = d.raw
	return nil
}

func (d *deflateReader) resetZlib(r io.Reader) error {
	if d.zlib == nil {
		z, err := zlib.NewReader(r)
		if err != nil {
			return err
		}
		d.zlib = z
	} else if err := d.zlib.(zlib.Resetter).Reset(r, nil); err != nil {
		return err
	}
	d.current = d.zlib
	return nil
}
