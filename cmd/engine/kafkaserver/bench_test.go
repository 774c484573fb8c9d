package kafkaserver_test

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver"
)

// BenchmarkProduce measures acknowledged produce requests of 16 writers. A batch has 1 or 1,000 messages of 600 bytes.
// The topic has 1 or 4 partitions.
func BenchmarkProduce(b *testing.B) {
	for _, c := range []struct{ partitions, messages int }{{1, 1}, {4, 1}, {1, 1000}, {4, 1000}} {
		b.Run(fmt.Sprintf("partitions=%d/messages=%d", c.partitions, c.messages), func(b *testing.B) {
			address, _ := runConfig(b, kafkaserver.Config{Listen: "127.0.0.1:0", DataDir: b.TempDir()})
			makeTopic(b, address, c.partitions)
			batch := batchOf(c.messages, 600)
			b.SetBytes(int64(len(batch)))
			var next atomic.Int64
			b.ResetTimer()
			var writers sync.WaitGroup
			for w := range 16 {
				writers.Go(func() {
					conn := dial(b, address)
					defer func() { _ = conn.Close() }()
					for next.Add(1) <= int64(b.N) {
						if err := send(conn, int32(w%c.partitions), batch); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			writers.Wait()
		})
	}
}

func dial(b *testing.B, address string) net.Conn {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		b.Error(err)
	}
	return conn
}

func makeTopic(b *testing.B, address string, partitions int) {
	b.Helper()
	conn := dial(b, address)
	defer func() { _ = conn.Close() }()
	q := kmsg.NewPtrCreateTopicsRequest()
	q.Version = 2
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = "events", int32(partitions), 1
	q.Topics = append(q.Topics, t)
	if _, err := roundTrip(conn, q); err != nil {
		b.Fatal(err)
	}
}

func send(conn net.Conn, partition int32, batch []byte) error {
	q := kmsg.NewPtrProduceRequest()
	q.Version, q.Acks, q.TimeoutMillis = 7, -1, 10_000
	t := kmsg.NewProduceRequestTopic()
	t.Topic = "events"
	p := kmsg.NewProduceRequestTopicPartition()
	p.Partition, p.Records = partition, batch
	t.Partitions = append(t.Partitions, p)
	q.Topics = append(q.Topics, t)
	body, err := roundTrip(conn, q)
	if err != nil {
		return err
	}
	resp := kmsg.NewPtrProduceResponse()
	resp.Version = 7
	if err := resp.ReadFrom(body); err != nil {
		return err
	}
	if code := resp.Topics[0].Partitions[0].ErrorCode; code != 0 {
		return fmt.Errorf("error code %d", code)
	}
	return nil
}

func roundTrip(conn net.Conn, q kmsg.Request) ([]byte, error) {
	frame := kmsg.NewRequestFormatter().AppendRequest(nil, q, 1)
	if _, err := conn.Write(frame); err != nil {
		return nil, err
	}
	return readFrame(conn)
}

func readFrame(conn net.Conn) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return nil, err
	}
	body := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(conn, body); err != nil {
		return nil, err
	}
	return body[4:], nil
}

// batchOf returns a record batch. Each message has `size` bytes.
func batchOf(messages, size int) []byte {
	b := make([]byte, 61)
	value := make([]byte, size)
	for i := range messages {
		r := []byte{0, 0}
		r = binary.AppendVarint(r, int64(i))
		r = binary.AppendVarint(r, -1)
		r = binary.AppendVarint(r, int64(size))
		r = append(append(r, value...), 0)
		b = binary.AppendVarint(b, int64(len(r)))
		b = append(b, r...)
	}
	binary.BigEndian.PutUint32(b[8:], uint32(len(b)-12))
	b[16] = 2
	binary.BigEndian.PutUint32(b[23:], uint32(messages-1))
	for i := 43; i < 57; i++ {
		b[i] = 0xff
	}
	binary.BigEndian.PutUint32(b[57:], uint32(messages))
	binary.BigEndian.PutUint32(b[17:], crc32.Checksum(b[21:], crc32.MakeTable(crc32.Castagnoli)))
	return b
}
