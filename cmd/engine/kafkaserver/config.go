package kafkaserver

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk"
)

// Config configures a broker.
type Config struct {
	// Listen must be a loopback address.
	Listen string
	// DataDir is locked, because only one broker at a time may use it.
	DataDir string
	Logger  *slog.Logger
	// OnReady is called with the listener's address once the broker answers
	// requests.
	OnReady func(net.Addr)

	// User and Password, if set, are required of clients (SCRAM-SHA-256). Connections that do not log in are closed.
	User, Password string

	// MaxBytes limits the size of the log. Records that every group has committed are removed to make space. When the
	// size of the other records is at the limit, produce requests are refused. Default 16 GiB.
	MaxBytes int64
	// RetainBytes is the size of the committed records that are retained. A record is committed when every group has
	// committed it. Default 1 GiB, or half of MaxBytes if that is less. When space is short, only 64 MiB of these
	// records stay, or an eighth of MaxBytes if an eighth is less.
	RetainBytes int64
	// MinFreeBytes is the space that stays free on the disk. With less free space, produce requests are refused.
	// Default 512 MiB, or 5 % of the disk if that is less.
	MinFreeBytes int64

	// SegmentBytes is the size of a segment file. Default 64 MiB, or less if
	// MaxBytes is small.
	SegmentBytes int64
	// Clock is the path of a file that contains a time. The age of a record is measured against this time. Another
	// process rewrites the file regularly. Without the file, no record is old enough for deletion. If Clock is "", ages
	// are measured against this machine's clock.
	Clock string
	// CleanEvery is the interval of the search for removable segments, while there is enough space. Default 10 s.
	CleanEvery time.Duration

	fs      disk.FS // default disk.OS
	ballast int64   // Ballast of journal.Config; far more than commits write while disk space is short
}

const (
	defaultMaxBytes    = 16 << 30
	defaultRetainBytes = 1 << 30
	// LeastMaxBytes is the smallest MaxBytes that `octavo serve` allows.
	LeastMaxBytes = 64 << 20

	lookEvery = time.Second // interval between two measurements of the free space
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
		// Only whole segments are removed, so a segment must be small compared with MaxBytes.
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
		return fmt.Errorf("cannot keep %d bytes of committed records in a log of at most %d bytes", c.RetainBytes, c.MaxBytes)
	case (c.User == "") != (c.Password == ""):
		return errors.New("a login needs both user and password")
	}
	return nil
}

func loopback(listen string) (string, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", fmt.Errorf("cannot listen on %q: %w (give host:port, such as 127.0.0.1:9092)", listen, err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return "", fmt.Errorf("cannot listen on %q: the embedded broker listens on loopback addresses only; "+
			"for other machines run Apache Kafka and set OCTAVO_KAFKA_BROKERS", listen)
	}
	return net.JoinHostPort(host, port), nil
}
