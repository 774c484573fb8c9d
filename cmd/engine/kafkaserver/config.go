package kafkaserver

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk"
)

// Config of one broker.
type Config struct {
	// Listen is a loopback address; no other is accepted.
	Listen string
	// DataDir belongs to one broker at a time.
	DataDir string
	Logger  *slog.Logger
	// OnReady is called with the bound address once requests are answered.
	OnReady func(net.Addr)

	// User and Password, if set, are what clients log in with (SCRAM-SHA-256); who has not is closed.
	User, Password string

	// MaxBytes bounds the log on disk. What every group has committed makes room; when the rest reaches the bound, produces are refused.
	// 16 GiB.
	MaxBytes int64
	// RetainBytes is how much is kept of what every group has committed. 1 GiB, or a half of MaxBytes if that is less. When room is
	// short, no more than 64 MiB of it, or an eighth of MaxBytes, stay.
	RetainBytes int64
	// MinFreeBytes is what must stay free on the disk for produces to be taken. 512 MiB, or 5 % of the disk if that is less.
	MinFreeBytes int64

	// SegmentBytes is the size of a segment file. 64 MiB, less if MaxBytes is small.
	SegmentBytes int64
	// CleanEvery is how often segments that may go are looked for, beside when room is short. 10 s.
	CleanEvery time.Duration

	fs      disk.FS // the machine's
	ballast int64   // see journal.Config; far above what commits need until there is room again
}

const (
	defaultMaxBytes    = 16 << 30
	defaultRetainBytes = 1 << 30
	defaultMinFree     = 512 << 20
	// LeastMaxBytes is the least bound of a log.
	LeastMaxBytes = 64 << 20

	lookEvery = time.Second // at the free space
)

func (c *Config) complete() error {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = defaultMaxBytes
	}
	if c.RetainBytes == 0 {
		c.RetainBytes = min(defaultRetainBytes, c.MaxBytes/2)
	}
	if c.SegmentBytes == 0 {
		// A segment goes as a whole: many of them must fit.
		c.SegmentBytes = min(64<<20, max(1<<20, c.MaxBytes/64))
	}
	if c.fs == nil {
		c.fs = disk.OS{}
	}
	if c.ballast == 0 {
		c.ballast = 8 << 20
	}
	if c.CleanEvery == 0 {
		c.CleanEvery = 10 * time.Second
	}
	switch {
	case c.MaxBytes < 1 || c.RetainBytes < 0 || c.RetainBytes > c.MaxBytes || c.MinFreeBytes < 0 || c.SegmentBytes < 1:
		return fmt.Errorf("cannot keep %d bytes of committed records in a log of at most %d", c.RetainBytes, c.MaxBytes)
	case (c.User == "") != (c.Password == ""):
		return errors.New("cannot ask for a login with only one of user and password")
	}
	return nil
}

func loopback(listen string) (string, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", fmt.Errorf("cannot listen on %q: %w (give host:port, such as 127.0.0.1:9092)", listen, err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return "", fmt.Errorf("cannot listen on %q: the embedded broker takes loopback addresses only; "+
			"for other machines run Apache Kafka and set OCTAVO_KAFKA_BROKERS", listen)
	}
	return net.JoinHostPort(host, port), nil
}
