package frame

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// writeBuffer is the size of the buffer that each connection has for its answers.
	writeBuffer = 4 << 10
	// leastPiece and mostPiece limit the size of the pieces in which a stream is read. A piece is as large as the part
	// of the answer that the client has already received. So a client that does not read its answer takes only a small
	// piece of memory.
	leastPiece, mostPiece = 8 << 10, 256 << 10
	// leastTaken is the number of bytes that a client must read in Config.WriteStall. A client that reads less is
	// treated as stalled.
	leastTaken = 8 << 10
)

// pieces is a body that is read piece by piece. It has no bytes in memory between two reads.
type pieces interface {
	io.Reader
	// Next returns the next bytes, at most `most` of them, or io.EOF. Back undoes the reading of the last n bytes, so
	// that Next returns them again.
	Next(most int) ([]byte, error)
	Back(n int)
}

// Write sends bytes. It fails if the client stops reading. See send.
func (c *edgeConn) Write(p []byte) (sent int, err error) {
	err = c.send(func() (int, error) {
		n, err := c.TCPConn.Write(p[sent:])
		sent += n
		return n, err
	})
	return sent, err
}

// ReadFrom sends a body that is read piece by piece. It reads a piece only when the kernel's buffer has room, and gives
// back the bytes that the kernel did not accept. So the answer of a client that does not read takes no memory in this
// process. fasthttp's buffered writer calls ReadFrom.
func (c *edgeConn) ReadFrom(r io.Reader) (sent int64, err error) {
	body, ok := r.(pieces)
	if !ok {
		return io.Copy(struct{ io.Writer }{c}, r)
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	for {
		size := int(min(max(sent-int64(c.queued()), leastPiece), mostPiece))
		if err := limitWaiting(raw, size); err != nil {
			return sent, err
		}
		room := 0
		if err := c.send(func() (int, error) {
			room, err = awaitRoom(raw)
			return 0, err
		}); err != nil {
			return sent, err
		}
		piece, err := body.Next(min(room, size))
		if errors.Is(err, io.EOF) {
			return sent, nil
		}
		if err != nil {
			return sent, err
		}
		n, err := offer(raw, piece)
		if err != nil {
			return sent, err
		}
		body.Back(len(piece) - n)
		sent += int64(n)
	}
}

// limitWaiting makes the connection writable only while the kernel's buffer has less than one piece of unsent bytes. So
// the buffer always has room for one more piece. The value of the option is two pieces, because the kernel counts bytes
// twice in this check.
func limitWaiting(raw syscall.RawConn, piece int) (err error) {
	failed := raw.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, 2*piece)
	})
	return errors.Join(failed, err)
}

// offer writes as many bytes as the kernel accepts at once, and never waits.
func offer(raw syscall.RawConn, piece []byte) (n int, err error) {
	// Control is used because it ignores the write deadline. The deadline has passed if reading the piece took long.
	failed := raw.Control(func(fd uintptr) {
		for n, err = syscall.Write(int(fd), piece); errors.Is(err, syscall.EINTR); {
			n, err = syscall.Write(int(fd), piece)
		}
	})
	if errors.Is(err, syscall.EAGAIN) {
		err = nil
	}
	return max(n, 0), errors.Join(failed, err)
}

// send runs a step that sends bytes, or waits for the kernel. After a time-out, it repeats the step if the client has
// read enough bytes since the last time-out. Bytes that have left the kernel's queue are counted as read.
func (c *edgeConn) send(step func() (n int, err error)) error {
	for queued := -1; ; {
		if err := c.SetWriteDeadline(time.Now().Add(c.listener.connections.stall)); err != nil {
			return err
		}
		n, err := step()
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		left := c.queued()
		if queued >= 0 && queued+n-left < leastTaken {
			c.listener.connections.ended(endedStalled)
			return err
		}
		queued = left
	}
}

// queued returns the number of bytes in the kernel's send queue, which the client has not acknowledged yet.
func (c *edgeConn) queued() (bytes int) {
	if raw, err := c.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { bytes, _ = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) })
	}
	return bytes
}

// awaitRoom waits until the kernel accepts bytes, and returns an estimate of how many. A socket is writable when a
// third of its buffer is free. The kernel needs a part of this third for its own data, so the estimate is a sixth.
func awaitRoom(raw syscall.RawConn) (bytes int, err error) {
	err = raw.Write(func(fd uintptr) bool {
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
		n, err := unix.Poll(ready, 0)
		for errors.Is(err, syscall.EINTR) {
			n, err = unix.Poll(ready, 0)
		}
		if err == nil && n == 0 {
			return false
		}
		buffer, _ := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUF)
		bytes = min(max(buffer/6, leastPiece), mostPiece)
		return true
	})
	return bytes, err
}
