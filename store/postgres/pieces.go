package postgres

import (
	"context"
	"io"
	"time"
)

// pieceWait is the longest time for which Next waits for a piece. A client may take much longer for all pieces.
const pieceWait = 10 * time.Second

// Pieces reads stored bytes piece by piece. Between two reads, Pieces uses no memory for bytes and no connection. So a
// slow client does not block a connection.
type Pieces struct {
	// ctx must outlive the handler of the request, because the bytes are read while the response is sent.
	ctx      context.Context
	read     func(ctx context.Context, at int64, most int) ([]byte, error)
	at, left int64
}

// NewPieces returns Pieces for `size` bytes. `read` returns the bytes from the position `at` on, at most `most` bytes.
func NewPieces(
	ctx context.Context, size int64, read func(ctx context.Context, at int64, most int) ([]byte, error),
) *Pieces {
	return &Pieces{ctx: ctx, read: read, left: size}
}

// Next returns the next bytes, at most `most` bytes, or io.EOF at the end. The caller owns the bytes.
func (p *Pieces) Next(most int) ([]byte, error) {
	if p.left <= 0 {
		return nil, io.EOF
	}
	ctx, cancel := context.WithTimeout(p.ctx, pieceWait)
	defer cancel()
	piece, err := p.read(ctx, p.at, int(min(p.left, int64(most))))
	if err == nil && len(piece) == 0 {
		err = io.ErrUnexpectedEOF
	}
	p.at, p.left = p.at+int64(len(piece)), p.left-int64(len(piece))
	return piece, err
}

// Back moves the position back by n bytes, so that Next reads them again.
func (p *Pieces) Back(n int) { p.at, p.left = p.at-int64(n), p.left+int64(n) }

// Read implements io.Reader.
func (p *Pieces) Read(into []byte) (int, error) {
	if len(into) == 0 {
		return 0, nil
	}
	piece, err := p.Next(len(into))
	return copy(into, piece), err
}
