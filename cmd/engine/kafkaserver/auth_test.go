package kafkaserver_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl/scram"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver"
)

func TestNothingWithoutThePassword(t *testing.T) {
	t.Parallel()
	address, _ := runConfig(t, kafkaserver.Config{Listen: "127.0.0.1:0", DataDir: t.TempDir(), User: "octavo", Password: "right"})
	with := func(user, password string) *kafka.Client {
		mechanism, err := scram.Mechanism(scram.SHA256, user, password)
		if err != nil {
			t.Fatal(err)
		}
		c := clientOf(t, address)
		c.Transport = &kafka.Transport{SASL: mechanism}
		return c
	}
	known := with("octavo", "right")
	create(t, known, "events", 1)
	if err := produce(t, known, "events", 0, "x"); err != nil {
		t.Fatal(err)
	}
	dialer := &kafka.Dialer{Timeout: eventually.Patience}
	dialer.SASLMechanism, _ = scram.Mechanism(scram.SHA256, "octavo", "right")
	conn, err := dialer.DialContext(t.Context(), "tcp", address) // consumer groups connect with a Dialer
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Brokers(); err != nil {
		t.Error(err)
	}
	_ = conn.Close()
	for name, c := range map[string]*kafka.Client{"wrong password": with("octavo", "wrong"), "wrong user": with("other", "right")} {
		t.Run(name, func(t *testing.T) {
			if _, err := c.Metadata(t.Context(), &kafka.MetadataRequest{}); !errors.Is(err, kafka.SASLAuthenticationFailed) {
				t.Errorf("got %v", err)
			}
		})
	}
	if res, err := clientOf(t, address).Metadata(t.Context(), &kafka.MetadataRequest{}); err == nil {
		t.Errorf("without a login: %+v", res)
	}
	// Without a login, the broker answers only ApiVersions (18). SaslAuthenticate (36) is a part of the login.
	for key := range int16(100) {
		if answered(t, address, key) != (key == 18) && key != 36 {
			t.Errorf("api %d is answered", key)
		}
	}
}

// answered sends a request with an empty body, and reports whether the broker answers.
func answered(t *testing.T, address string, key int16) bool {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(eventually.Patience)); err != nil {
		t.Fatal(err)
	}
	frame := []byte{0, 0, 0, 10, byte(key >> 8), byte(key), 0, 0, 0, 0, 0, 1, 0, 0}
	if _, err := conn.Write(frame); err != nil {
		return false
	}
	var size [4]byte
	_, err = io.ReadFull(conn, size[:])
	return err == nil
}

func TestConnectionsWithoutLoginAreCheap(t *testing.T) {
	address, _ := runConfig(t, kafkaserver.Config{Listen: "127.0.0.1:0", DataDir: t.TempDir(), User: "octavo", Password: "right"})
	before := heap()
	var open []net.Conn
	for range 400 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		var frame [12]byte
		binary.BigEndian.PutUint32(frame[:], 4000) // the frame's announced length; most of its bytes are not sent
		frame[5] = 36
		_, _ = conn.Write(frame[:])
		open = append(open, conn)
	}
	if used := heap() - before; used > 16<<20 {
		t.Errorf("%d connections cost %d bytes", len(open), used)
	}
	mechanism, err := scram.Mechanism(scram.SHA256, "octavo", "right")
	if err != nil {
		t.Fatal(err)
	}
	c := clientOf(t, address)
	c.Transport = &kafka.Transport{SASL: mechanism}
	create(t, c, "events", 1)
	// The broker has closed the oldest connections to make room.
	_ = open[0].SetReadDeadline(time.Now().Add(eventually.Patience))
	if _, err := open[0].Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !isReset(err) {
		t.Errorf("the oldest connection: %v", err)
	}
}

func isReset(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && !op.Timeout()
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// TestAnAnnouncedLengthIsNotAllocated checks that the broker does not allocate a frame's announced length, and refuses
// a frame that is too long.
func TestAnAnnouncedLengthIsNotAllocated(t *testing.T) {
	address, _ := runConfig(t, kafkaserver.Config{Listen: "127.0.0.1:0", DataDir: t.TempDir()})
	before := heap()
	for range 20 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		var frame [12]byte // the first 12 bytes of a produce request of 12 MiB; the rest is never sent
		binary.BigEndian.PutUint32(frame[:], 12<<20)
		if _, err := conn.Write(frame[:]); err != nil {
			t.Fatal(err)
		}
	}
	if answered(t, address, 18); heap()-before > 16<<20 {
		t.Errorf("20 announced lengths of 12 MiB cost %d bytes", heap()-before)
	}
	for _, frame := range [][]byte{{0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 8, 0, 0, 0, 1}, {0, 0x20, 0, 0, 0, 3, 0, 8, 0, 0, 0, 1}, {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}} {
		t.Run(fmt.Sprintf("%x", frame), func(t *testing.T) {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			_, _ = conn.Write(frame)
			_ = conn.SetReadDeadline(time.Now().Add(eventually.Patience))
			if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !isReset(err) {
				t.Errorf("got %v", err)
			}
		})
	}
}
