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
	// writeBuffer is the buffer that each connection has for its answers.
	writeBuffer = 4 << 10
	// leastPiece and mostPiece bound the pieces in which a stream is read. A piece is as large as the part that the
	// client has already taken. So a client who does not read costs only a small piece.
	leastPiece, mostPiece = 8 << 10, 256 << 10
	// leastTaken is the least number of bytes that a reading client accepts in Config.WriteStall.
	leastTaken = 8 << 10
)

// pieces is a body that is read piece by piece. It has no bytes in memory between two reads.
type pieces interface {
	io.Reader
	// Next returns the next bytes, or io.EOF. most bounds the number of bytes. Back returns the last n bytes to the
	// reader.
	Next(most int) ([]byte, error)
	Back(n int)
}

// Write sends bytes, as long as the client keeps reading.
func (c *edgeConn) Write(p []byte) (sent int, err error) {
	err = c.send(func() (int, error) {
		n, err := c.TCPConn.Write(p[sent:])
		sent += n
		return n, err
	})
	return sent, err
}

// ReadFrom sends a body that is read piece by piece. It reads a piece only when the kernel has room, and returns the
// bytes that the kernel does not take. So a client who does not read takes no memory here. fasthttp's buffered writer
// calls it.
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

// limitWaiting makes the connection writable only while the kernel has less than a piece of unsent bytes. The kernel
// then always has room for another whole piece. The limit is two pieces, because the kernel's check counts bytes twice.
func limitWaiting(raw syscall.RawConn, piece int) (err error) {
	failed := raw.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, 2*piece)
	})
	return errors.Join(failed, err)
}

// offer sends the bytes that the kernel accepts without blocking.
func offer(raw syscall.RawConn, piece []byte) (n int, err error) {
	// Control ignores the deadline, which has passed if the piece was late.
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

// send runs a step that sends bytes, or waits for the kernel. After a time-out it repeats the step if the client has
// read some bytes since. Bytes that left the kernel's queue count as read.
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

// queued returns the number of bytes in the kernel's queue that the client has not acknowledged.
func (c *edgeConn) queued() (bytes int) {
	if raw, err := c.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { bytes, _ = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) })
	}
	return bytes
}

// awaitRoom waits until the kernel takes bytes, and returns about how many. A socket is writable when a third of its
// buffer is free. Bookkeeping takes a part of this third.
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
