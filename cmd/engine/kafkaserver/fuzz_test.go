package kafkaserver

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/disk/crashdisk"
)

// FuzzRequests sends arbitrary requests. The broker answers or closes the connection, and serves the next connection.
func FuzzRequests(f *testing.F) {
	for i := range apis {
		a := &apis[i]
		for _, version := range []int16{a.least, a.most} {
			body := []byte{0, 1, 0xff, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 'x'}
			if a.key != keyProduce {
				q := kmsg.RequestForKey(a.key)
				q.SetVersion(version)
				body = q.AppendTo(nil)
			}
			f.Add(a.key, version, body)
		}
	}
	disk := crashdisk.New()
	if err := disk.Mkdir("/data"); err != nil {
		f.Fatal(err)
	}
	cfg := Config{DataDir: "/data", fs: disk}
	if err := cfg.complete(); err != nil {
		f.Fatal(err)
	}
	b, err := open(&cfg)
	if err != nil {
		f.Fatal(err)
	}
	b.start()
	f.Cleanup(b.close)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.Fatal(err)
	}
	s, err := newServer(b, listener)
	if err != nil {
		f.Fatal(err)
	}
	s.start()
	f.Cleanup(s.stop)
	if _, refusal := b.create("x", 2, nil, false); refusal != nil {
		f.Fatal(refusal.message)
	}
	f.Fuzz(func(t *testing.T, key, version int16, body []byte) {
		// Only served versions are parsed here. In a flexible version, kmsg would need seconds for a large number of
		// tags.
		if served(key, version) && (waits(key, version, body) || makesMany(key, version, body)) {
			return
		}
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if err := conn.SetDeadline(time.Now().Add(eventually.Patience)); err != nil {
			t.Fatal(err)
		}
		frame := binary.BigEndian.AppendUint32(nil, uint32(10+len(body)))
		frame = binary.BigEndian.AppendUint16(frame, uint16(key))
		frame = binary.BigEndian.AppendUint16(frame, uint16(version))
		frame = append(frame, 0, 0, 0, 7, 0xff, 0xff) // no client id
		_, _ = conn.Write(append(frame, body...))
		_ = conn.(*net.TCPConn).CloseWrite()
		answer, err := io.ReadAll(conn)
		if ne, ok := err.(net.Error); ok && ne.Timeout() { //nolint:errorlint // the connection's own error
			t.Fatal("the request was neither answered nor the connection closed")
		}
		if len(answer) > 0 && (len(answer) < 8 || int(binary.BigEndian.Uint32(answer)) != len(answer)-4 || answer[7] != 7) {
			t.Fatalf("an answer of %d bytes: %x", len(answer), answer[:min(len(answer), 16)])
		}
	})
}

func served(key, version int16) bool {
	for i := range apis {
		if a := &apis[i]; a.key == key {
			return version >= a.least && version <= a.most
		}
	}
	return false
}

// waits reports whether the broker may delay its answer to a request by design.
func waits(key, version int16, body []byte) bool {
	switch key {
	case 1:
		q := kmsg.NewPtrFetchRequest()
		q.Version = version
		return q.ReadFrom(body) == nil && q.MaxWaitMillis > 100
	case 11, 14: // JoinGroup and SyncGroup wait for other members
		return true
	}
	return false
}

func FuzzProduce(f *testing.F) {
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 'x', 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2})
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _, list, err := readProduce(b)
		if err == nil && len(list) > len(b)/8 {
			t.Errorf("%d partitions in %d bytes", len(list), len(b))
		}
	})
}

// makesMany reports whether a request creates many partitions. The in-memory disk would be too slow for thousands of
// partitions.
func makesMany(key, version int16, body []byte) bool {
	switch key {
	case 19:
		q := kmsg.NewPtrCreateTopicsRequest()
		q.Version = version
		if q.ReadFrom(body) != nil {
			return false
		}
		for _, t := range q.Topics {
			if t.NumPartitions > 8 {
				return true
			}
		}
	case 37:
		q := kmsg.NewPtrCreatePartitionsRequest()
		q.Version = version
		if q.ReadFrom(body) != nil {
			return false
		}
		for _, t := range q.Topics {
			if t.Count > 8 {
				return true
			}
		}
	}
	return false
}

// TestNoVersionIsFlexible checks that the broker serves no flexible version, because decoding such a version is
// expensive (see apis).
func TestNoVersionIsFlexible(t *testing.T) {
	t.Parallel()
	for _, a := range apis {
		q := kmsg.RequestForKey(a.key)
		if q.SetVersion(a.most); q.IsFlexible() {
			t.Errorf("%T version %d is flexible", q, a.most)
		}
	}
}
