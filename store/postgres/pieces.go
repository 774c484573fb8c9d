package postgres

import (
	"context"
	"io"
	"time"
)

// pieceWait limits the wait for one piece. A client may take much longer for all pieces.
const pieceWait = 10 * time.Second

// Pieces are stored bytes that are read in pieces. Between two reads they use no memory and no connection. So a slow
// client blocks neither.
type Pieces struct {
	// ctx outlives the request: the bytes are read while they are sent.
	ctx      context.Context
	read     func(ctx context.Context, at int64, most int) ([]byte, error)
	at, left int64
}

// NewPieces returns the pieces of size bytes. read returns the bytes from a position on. Its most bounds their number.
func NewPieces(
	ctx context.Context, size int64, read func(ctx context.Context, at int64, most int) ([]byte, error),
) *Pieces {
	return &Pieces{ctx: ctx, read: read, left: size}
}

// Next returns the next bytes, or io.EOF at the end. most bounds their number. The caller owns them.
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

// Back returns the last n bytes of Next, so that they are read again.
func (p *Pieces) Back(n int) { p.at, p.left = p.at-int64(n), p.left+int64(n) }

// Read copies the next bytes.
func (p *Pieces) Read(into []byte) (int, error) {
	if len(into) == 0 {
		return 0, nil
	}
	piece, err := p.Next(len(into))
	return copy(into, piece), err
}
